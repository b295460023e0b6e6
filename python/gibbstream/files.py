"""Files, pickles and copies of models: all are the bytes of a model file."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from gibbstream._core import Model
from gibbstream.learning import Learner

if TYPE_CHECKING:
    from typing_extensions import Self


class FiledLearner(Learner):
    """The part of an estimator that writes and reads models."""

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the model to a ``.gbs`` file, which the program reads too.

        The file is replaced whole or not at all. A file that holds something else than a model is not overwritten.

        Parameters
        ----------
        path : path
            Where to write it.
        force : bool
            Overwrite whatever is there.
        """
        check_is_fitted(self)
        self._model.save(path, force)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **parameters: Any) -> Self:
        """The model in a ``.gbs`` file, from here or from the program.

        Parameters
        ----------
        path : path
            The file.
        **parameters : dict
            Parameters of the estimator that are not kept in the file, such as ``n_jobs``, or that are to be different.

        Returns
        -------
        estimator
            One that has learnt what the file holds, with the parameters that it was learnt with.
        """
        return cls._with(Model.load(path, 1), parameters)

    @classmethod
    def _with(cls, model: Model, parameters: Mapping[str, Any]) -> Self:
        if model.family != cls._family:
            raise ValueError(
                f"model: it is of kind {model.family}, not {cls._family}; load it with the class of that kind"
            )
        known = model.asked_for()
        made = cls(**(known | dict(parameters)))
        made._model, made.seed_, made.n_features_in_ = model, known["random_state"], model.width
        return made

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        model = state.pop("_model", None)
        if model is not None:
            state["_model"] = (model.to_bytes(), model.records())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.get("_model")
        super().__setstate__({name: value for name, value in state.items() if name != "_model"})
        if saved is not None:
            content, records = saved
            self._model = Model.from_bytes(content, self._threads())
            self._model.restore_records(records)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

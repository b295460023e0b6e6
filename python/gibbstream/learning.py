"""Learning from matrices, corpora and streams, whatever the model."""

from __future__ import annotations

import inspect
import json
import os
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from gibbstream._core import Corpus, Files, Model, encode, knobs_of, set_labels, usual_passes
from gibbstream.matrix import row_count, source
from gibbstream.runner import LocalRunner
from gibbstream.runner import fit as fit_with
from gibbstream.sources import paths_of
from gibbstream.text import TextCorpus, is_text, readable
from gibbstream.watch import Callback, MinibatchRecord, Watch, settled

# Below so many minibatches the random start still shows.
_FEW_UPDATES = 10

if TYPE_CHECKING:
    from typing_extensions import Self

    from gibbstream._core import Source
    from gibbstream.runner import Runner


def described(name: str, kind: str, text: str, default: str | None, *, required: bool) -> str:
    """The entry of a parameter in the documentation of an estimator."""
    sentences = [part if part.endswith(".") else f"{part}." for part in text.split("\n")]
    if default is not None and not required:
        sentences.append(f"Default: {default} for ``g-oem``.")
    optional = "" if required else ", optional"
    lines = textwrap.wrap(" ".join(sentences), 106, break_on_hyphens=False)
    return f"{name} : {kind}{optional}\n" + "".join(f"    {line}\n" for line in lines)


class Learner(BaseEstimator):
    """The part of an estimator that learns.

    A model adds its parameters (as a constructor). Those that decide what is learnt are described by the table of the
    compiled part, which documents them where ``{knobs}`` stands.
    """

    # Names of parameters that go to the compiled part as they are.
    _knobs: ClassVar[tuple[str, ...]]
    # Their entries in the documentation of the estimator.
    _knob_texts: ClassVar[str]
    # The kind of model, as the program's --model names it.
    _family: ClassVar[str]
    # The field of a record that settles as the model learns, and what to call it.
    _settling: ClassVar[tuple[str, str]]
    # Whether documents may be raw text.
    _takes_text: ClassVar[bool] = False

    method: str
    batch: int | str
    passes: int | None
    random_state: Any
    n_jobs: int | None
    verbose: int
    text: Mapping[str, Any] | None
    callback: Callback | None

    _model: Model
    n_features_in_: int

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "_family" in vars(cls):
            table = {knob[0]: knob for knob in knobs_of(cls._family)}
            parameters = inspect.signature(cls.__init__).parameters
            cls._knobs = tuple(name for name in parameters if name in table and name != "random_state")
            texts = (described(*table[name], required=parameters[name].default is not None) for name in cls._knobs)
            cls._knob_texts = "".join(texts)
            # From Python 3.13 on the compiler removes the indentation of docstrings; before that it stays.
            cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace("{knobs}\n", cls._knob_texts)

    def fit(self, X: Any, y: Any = None, *, runner: Runner | None = None) -> Self:
        """Fit the model to documents, from scratch.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix, array, iterator of these, path or pattern
            One entry or row per document. Texts are strings or lists of tokens, in a list or in a column of pandas,
            polars or pyarrow; matrices hold counts. From an iterator, minibatches are cut across the chunks that it
            gives, and one pass is made. A path or a pattern such as ``"corpus/*.jsonl.zst"`` names files in any format
            of the program.
        y : None
            Ignored.
        runner : Runner, optional
            Where E-steps are computed, such as ``gibbstream.ray.Runner(workers=8)``. Default: in this process.
            For the same documents in the same order, the model is the same. Engines also accept their own data types.

        Returns
        -------
        self

        Ctrl-C stops after the current minibatch. The model keeps what it has learnt, and ``KeyboardInterrupt`` is
        raised.
        """
        del y
        if runner is not None or paths_of(X) is not None:
            fit_with(self, X, runner or LocalRunner(threads=self._threads()))
            return self
        self._forget()
        try:
            passes = self._passes(stream=isinstance(X, Iterator))
            if isinstance(X, Iterator):
                self._fit_stream(X)
            else:
                rows, count = self._begin(X, "fit")
                self._learn(rows, count, passes)
                self._look_again(rows)
            self._warn_of_few_minibatches()
        except Exception:
            # A model that has learnt from a part is a surprise, unless it was asked for.
            self._forget()
            raise
        return self

    def _warn_of_few_minibatches(self) -> None:
        updates = self._model.updates
        if self._takes_text and updates < _FEW_UPDATES and usual_passes(self._family, self.method) == 1:
            were = "minibatch was" if updates == 1 else "minibatches were"
            warnings.warn(
                f"only {updates} {were} learnt from; a smaller batch, more passes or more documents give better topics",
                ConvergenceWarning,
                stacklevel=3,
            )

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from further documents; the total number need not be known.

        The documents are cut into minibatches of ``batch``; the last one may be shorter and is learnt from all the
        same, with less weight in proportion. A new model gets the settings for streams, unless ``mode`` says otherwise.
        So chunks of a multiple of ``batch`` documents give the model that one call of ``fit`` with all documents and
        ``mode="stream"`` gives.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix, array, or iterator of these
            One entry or row per document. Words are matched by spelling; those that the model does not know are left
            out.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        del y
        if isinstance(X, Iterator):
            for chunk in X:
                self.partial_fit(chunk)
            return self
        rows, count = self._begin(X, "partial_fit", stream=True)
        self._learn(rows, count, 1)
        return self

    def _passes(self, *, stream: bool) -> int:
        if self.passes is None and stream:
            return 1
        passes = usual_passes(self._family, self.method) if self.passes is None else self.passes
        if passes < 1:
            raise ValueError("passes: 0 passes would learn nothing; use at least 1")
        if passes > 1 and stream:
            raise ValueError("passes: an iterator can be read once only; give a matrix, or leave passes out")
        return passes

    def _begin(self, X: Any, action: str, *, stream: bool = False) -> tuple[Source, int]:
        """The rows to learn from and their number, with a model that is ready for them.

        A new model is one for files or for streams, unless ``mode`` says so; one that is there stays what it is.
        """
        fresh = not self._has_model()
        rows, names, corpus = self._read(X, reset=fresh)
        count = row_count(rows)
        if fresh:
            documents = count if action == "fit" else None
            width = rows.width if isinstance(rows, Corpus) else rows[-1]
            self._create_for(int(width), documents, names=names, corpus=corpus, stream=stream)
        else:
            self._model.configure(self._parameters(), self._threads(), None)
        if isinstance(rows, Corpus):
            rows = self._model.number(rows)
        self._model.begin(action)
        return rows, count

    def _create_for(
        self,
        width: int,
        documents: int | None,
        *,
        names: Sequence[str] | None = None,
        corpus: Corpus | None = None,
        files: Files | None = None,
        stream: bool = False,
    ) -> None:
        self.seed_ = self._draw_seed()
        self.n_features_in_ = width
        seeds = getattr(self, "seeds", None)
        written = None if seeds is None else json.dumps(seeds, default=list)
        self._model = Model(
            self._parameters(), width, self._threads(), documents, names, corpus, files, written, stream
        )

    def _learn(self, rows: Source, count: int, passes: int) -> None:
        """All minibatches of some passes; the last one of a pass may be short."""
        with Watch(self, count * passes) as watch:
            for number in range(passes):
                self._model.begin_pass(number)
                if self._learn_rows(rows, watch, close=True):
                    return

    def _look_again(self, documents: Source | Files) -> None:
        """Finds which words of the topics go together, and gives topics with seeds their labels."""
        if not self._takes_text or self._model.updates == 0:
            return
        if isinstance(documents, Files):
            try:
                self._model.show_words_of_files(documents)
            except (OSError, ValueError) as error:
                # What was learnt must not be lost for it.
                warnings.warn(
                    "the model is complete, but words of topics are shown by probability alone, because the documents "
                    f"could not be read again: {error}",
                    RuntimeWarning,
                    stacklevel=3,
                )
        else:
            self._model.show_words(documents)
        seeds = getattr(self, "seeds", None)
        if isinstance(seeds, Mapping):
            set_labels(self._model, json.dumps({topic: {"label": str(label)} for topic, label in enumerate(seeds)}))

    def _fit_stream(self, chunks: Iterator[Any]) -> None:
        """Minibatches are full whatever the chunks; what is left over at the end is learnt from too."""
        rows: Source | None = None
        with Watch(self, None) as watch:
            for chunk in chunks:
                if rows is None:
                    rows, _ = self._begin(chunk, "fit", stream=True)
                    self._model.begin_pass(0)
                else:
                    rows = self._further(chunk)
                if self._learn_rows(rows, watch, close=False):
                    return
            if rows is None:
                raise ValueError("X: the iterator gave nothing; give at least one chunk of documents")
            self._model.learn(rows, row_count(rows), None, True)
            watch.stops()

    def _learn_rows(self, rows: Source, watch: Watch, *, close: bool) -> bool:
        """Learns from all rows; true if the callback wants to stop."""
        start, count = 0, row_count(rows)
        while start < count:
            start = self._model.learn(rows, start, watch.minibatches, close)
            if watch.stops():
                return True
        return False

    def _read(self, X: Any, *, reset: bool) -> tuple[Source, Sequence[str] | None, Corpus | None]:
        """What the compiled part reads, names of columns if there are any, and the corpus if it is one."""
        if isinstance(X, TextCorpus):
            if len(X) == 0:
                raise ValueError(
                    f"Found array with 0 sample(s) while a minimum of 1 is required by {type(self).__name__}."
                )
            if reset:
                self.n_features_in_ = X.shape[1]
                if hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
            return X._corpus, None, X._corpus
        if isinstance(X, str):
            raise ValueError("X: this is one text; give a list of texts")
        if isinstance(X, list | tuple) and len(X) == 0:
            raise ValueError("X: there are no documents; give at least one")
        if is_text(X) and self._takes_text:
            if reset:
                return self._read(TextCorpus(X, **(self.text or {})), reset=True)
            corpus = self._encoded(X)
            return corpus, None, corpus
        X = self._validated(X, reset=reset)
        names = getattr(self, "feature_names_in_", None)
        return source(X), None if names is None else [str(name) for name in names], None

    def _encoded(self, texts: Any) -> Corpus:
        """Texts with the tokenizer and the words of the model that is there."""
        words = self._model.words()
        if words[:2] == ["0", "1"] and words[-1] == str(len(words) - 1):
            raise ValueError(
                "X: these are texts, and the model was fitted on counts whose columns have no names; "
                "fit it on texts, or name the columns with set_vocabulary"
            )
        return encode(self._model, readable(texts))

    def _further(self, X: Any) -> Source:
        """The rows of documents for a model that is there, with its numbers of words."""
        rows, _, corpus = self._read(X, reset=False)
        return rows if corpus is None else self._model.number(corpus)

    def _validated(self, X: Any, *, reset: bool = False) -> Any:
        """A CSR matrix or a dense array of counts, refused as scikit-learn refuses."""
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", accept_large_sparse=True, ensure_non_negative=True, order="C"
        )

    def _parameters(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self._knobs} | {
            "model": self._family,
            "random_state": self.seed_,
        }

    def _draw_seed(self) -> int:
        state = self.random_state
        if isinstance(state, int | np.integer):
            if state < 0 or int(state) >= 2**64:
                raise ValueError(f"random_state: {state} is not a seed; use a number from 0 to 2^64 - 1")
            return int(state)
        if state is None:
            return int.from_bytes(os.urandom(4), "little")
        return int(check_random_state(state).randint(2**31 - 1))

    def _threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _has_model(self) -> bool:
        return "_model" in vars(self)

    def _forget(self) -> None:
        if self._has_model():
            del self._model

    def _note(self, record: MinibatchRecord) -> str:
        """What the progress bar says of a model that learns."""
        field, label = self._settling
        return f"{label} {settled(record, field):.3g}"

"""Models that learn from numbered batches, which an engine may deliver more than once.

A batch counts once, and as a whole or not at all: its number is in the same checkpoint as what was learnt from it.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from gibbstream._core import CheckpointFolder, Model, detach_checkpoints, save_checkpoint


class Learnt(NamedTuple):
    """What a model has learnt from a stream of batches."""

    model: Model
    # The number of the last batch, if batches have numbers.
    batch: int | None
    # The hash of the model that the stream began with; none: it began with nothing.
    began_with: str | None


class BatchFolder:
    """A folder with the checkpoints of a stream of batches."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._claimed: CheckpointFolder | None = None

    def newest(self, settings: dict[str, Any]) -> Learnt | None:
        """What the newest checkpoint holds; refuses one that was made with other settings."""
        self._claimed = CheckpointFolder(self._path)
        found, damaged = self._claimed.newest(1)
        for problem in damaged:
            warnings.warn(f"{problem}; skipped", stacklevel=4)
        if found is None:
            return None
        model, request, _ = found
        stream = json.loads(request).get("stream")
        if stream is None:
            raise ValueError(f"checkpoint: {self._path} holds checkpoints of a fit; use another folder for a stream")
        different = [name for name, value in model.asked_for().items() if settings.get(name) not in {None, value}]
        if different:
            raise ValueError(
                f"checkpoint: the stream in {self._path} was started differently ({', '.join(different)}); "
                "use the same settings as before, or another folder"
            )
        return Learnt(model, stream["batch"], stream["began_with"])

    def save(self, learnt: Learnt) -> None:
        """Writes model and number together."""
        request = json.dumps({"stream": {"batch": learnt.batch, "began_with": learnt.began_with}})
        claimed, self._claimed = self._claimed or CheckpointFolder(self._path), None
        claimed.attach(learnt.model, "1b", request)
        try:
            save_checkpoint(learnt.model, finished=False, request=request)
        finally:
            detach_checkpoints(learnt.model)

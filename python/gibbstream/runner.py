"""Learning with E-steps that run elsewhere: the loop over updates, which all engines share.

The driver cuts the source into minibatches. For each it publishes the parameters, lets workers compute the statistics
of blocks, merges these as they come, and absorbs them. Statistics merge exactly and random numbers belong to documents,
so the model has the bits of one machine, whoever computed what, how often, and in which order it came back.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gibbstream._core import CheckpointFolder, Driver, Worker, checkpoint_is_due, detach_checkpoints, save_checkpoint
from gibbstream.sources import Source, source_of
from gibbstream.watch import Watch

if TYPE_CHECKING:
    from gibbstream._core import Minibatch
    from gibbstream.learning import Learner


@lru_cache(maxsize=4)
def worker(task: str, threads: int) -> Worker:
    """The worker of this process for a task.

    It refuses if its arithmetic is not that of the driver.
    """
    return Worker(task, threads)


class Runner(ABC):
    """Where the E-steps of a run are computed.

    Parameters
    ----------
    workers : int
        Blocks that a minibatch is cut into, to be computed at the same time. Never changes a result.
    staleness : int
        With 1, the E-step of a minibatch begins before the one before it is absorbed, with parameters that are one
        update old: this hides the time that an update takes to go round. It changes the result, always in the same way.
    checkpoint : path, optional
        Folder for checkpoints, as the program writes them.
    checkpoint_every : str
        Time (``"60s"``) or minibatches (``"1000b"``) between them.
    resume : bool
        Go on from the newest checkpoint in that folder; without one, start afresh.
    """

    # Whether minibatches may be learnt from in this process, without a detour through bytes.
    _in_process = False

    def __init__(
        self,
        workers: int = 1,
        *,
        staleness: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: str = "60s",
        resume: bool = False,
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers: {workers} cannot work; use at least 1")
        if staleness not in {0, 1}:
            raise ValueError(f"staleness: {staleness} is not a number of updates that is allowed; use 0 or 1")
        if resume and checkpoint is None:
            raise ValueError("resume: there is no folder for checkpoints; name it with checkpoint=")
        self.workers = workers
        self.staleness = staleness
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.checkpoint_every = checkpoint_every
        self.resume = resume

    def source(self, X: Any, estimator: Learner) -> Source:
        """What to learn from; engines know kinds of their own."""
        return source_of(X, estimator)

    def open(self, task: str) -> None:  # noqa: B027 an engine that is always there has nothing to do
        """Gets ready for a run."""

    @abstractmethod
    def submit(self, task: str, view: bytes, blocks: list[bytes]) -> Any:
        """Begins the E-step of a minibatch; what it returns goes to :meth:`answers`."""

    @abstractmethod
    def answers(self, work: Any) -> Iterator[tuple[int | tuple[int, ...], Any]]:
        """The number of each block and its statistics, in any order; some may come twice.

        Statistics that were merged on the way come with the numbers of all their blocks.
        """

    def close(self) -> None:  # noqa: B027
        """Lets go of everything that the run has used, finished or not."""


class LocalRunner(Runner):
    """The same loop in this process: what engines must agree with.

    Parameters
    ----------
    staleness : int
        As for engines: 1 gives the model that they give with 1.
    checkpoint : path, optional
        Folder for checkpoints, as the program writes them.
    checkpoint_every : str
        Time (``"60s"``) or minibatches (``"1000b"``) between them.
    resume : bool
        Go on from the newest checkpoint in that folder; without one, start afresh.
    threads : int
        Threads; never changes a result.
    """

    _in_process = True

    def __init__(self, *, threads: int = 1, **options: Any) -> None:
        super().__init__(1, **options)
        self.threads = threads

    def submit(self, task: str, view: bytes, blocks: list[bytes]) -> Any:
        """Nothing is computed before it is asked for."""
        return task, view, blocks

    def answers(self, work: Any) -> Iterator[tuple[int, Any]]:
        """One block after the other."""
        task, view, blocks = work
        for number, block in enumerate(blocks):
            yield number, worker(task, self.threads).answer(view, block)


class _InFlight(NamedTuple):
    """A minibatch whose E-step is under way."""

    minibatch: Minibatch
    view: bytes
    blocks: int
    work: Any


def fit(estimator: Learner, X: Any, runner: Runner) -> None:
    """Learns from all of X, from the beginning or from a checkpoint."""
    estimator._forget()
    try:
        with contextlib.closing(runner.source(X, estimator)) as source:
            passes = estimator._passes(stream=not source.again)
            source.create(estimator)
            _Run(estimator, runner).fit(source, passes)
            source.look_again(estimator)
    except Exception:
        # A model that has learnt from a part is a surprise, unless it was asked for.
        estimator._forget()
        raise


def learn(estimator: Learner, source: Source, runner: Runner) -> None:
    """Learns from what a source has now, as ``partial_fit`` does."""
    run = _Run(estimator, runner)
    with run.engine(), Watch(estimator, source.count) as watch:
        run.one_pass(source, watch)


class _Run:
    """The loop over updates."""

    def __init__(self, estimator: Learner, runner: Runner) -> None:
        self._estimator = estimator
        self._runner = runner
        self._in_flight: deque[_InFlight] = deque()
        self._resumed_view: bytes | None = None
        self._driver = Driver(estimator._model, runner.staleness)
        self._task = self._driver.task()

    def fit(self, source: Source, passes: int) -> None:
        request = {
            "settings": json.loads(self._task)["settings"],
            "passes": passes,
            "staleness": self._runner.staleness,
        }
        if self._resume(request):
            return
        total = None if source.count is None else source.count * passes
        try:
            with self.engine(), Watch(self._estimator, total) as watch:
                for number in range(self._driver.pass_, passes):
                    if self.one_pass(source, watch, last=number + 1 == passes):
                        break
                    if number + 1 < passes:
                        self._driver.next_pass()
            self._finish()
        except KeyboardInterrupt:
            # What was absorbed is whole: the same call goes on from here.
            if self._estimator._model.updates > 0:
                self._save(finished=False)
            raise
        finally:
            detach_checkpoints(self._estimator._model)

    @contextlib.contextmanager
    def engine(self) -> Iterator[None]:
        """The engine, for as long as it is needed."""
        try:
            self._runner.open(self._task)
            yield
        finally:
            self._in_flight.clear()
            self._runner.close()

    def one_pass(self, source: Source, watch: Watch, *, last: bool = True) -> bool:
        """All minibatches of one pass; true if the callback wants to stop."""
        for packed in source.packs():
            self._driver.feed(packed)
            if self._learn_what_is_cut(watch, close=False):
                return True
        if self._driver.missing:
            raise ValueError(
                f"X: it ends {self._driver.missing} documents before the place that the checkpoint has reached; "
                "give the same source as before"
            )
        if self._learn_what_is_cut(watch, close=True):
            return True
        return last and self._absorb_until(0, watch)

    def _learn_what_is_cut(self, watch: Watch, *, close: bool) -> bool:
        while (minibatch := self._driver.cut(close)) is not None:
            if self._runner._in_process and self._runner.staleness == 0:
                self._driver.learn(minibatch)
                if self._tell(watch):
                    return True
                continue
            self._submit(minibatch)
            if self._absorb_until(self._runner.staleness, watch):
                return True
        return False

    def _submit(self, minibatch: Minibatch) -> None:
        view, self._resumed_view = self._resumed_view or self._driver.view(minibatch), None
        blocks = minibatch.blocks(self._runner.workers)
        work = self._runner.submit(self._task, view, blocks)
        self._in_flight.append(_InFlight(minibatch, view, len(blocks), work))

    def _absorb_until(self, left: int, watch: Watch) -> bool:
        """Absorbs the oldest minibatches until so many are under way; true if the callback wants to stop."""
        while len(self._in_flight) > left:
            oldest = self._in_flight[0]
            gathering, missing = self._driver.gather(), set(range(oldest.blocks))
            for numbers, statistics in self._runner.answers(oldest.work):
                blocks = {numbers} if isinstance(numbers, int) else set(numbers)
                # Engines may run a task twice; it counts once.
                if blocks <= missing:
                    gathering.add(statistics)
                    missing -= blocks
                if not missing:
                    break
            if missing:
                raise RuntimeError(f"the engine ended without statistics of blocks {sorted(missing)}; call again")
            self._driver.absorb(oldest.minibatch, gathering, oldest.view if self._runner.staleness else None)
            self._in_flight.popleft()
            if self._tell(watch):
                return True
        return False

    def _tell(self, watch: Watch) -> bool:
        if checkpoint_is_due(self._estimator._model):
            self._save(finished=False)
        return watch.stops()

    def _finish(self) -> None:
        if self._estimator._model.updates == 0:
            raise ValueError("X: there are no documents to learn from; give at least one")
        self._save(finished=True)

    def _save(self, *, finished: bool) -> None:
        folder = self._runner.checkpoint
        if folder is None:
            return
        update = self._estimator._model.updates
        if self._runner.staleness and self._in_flight and not finished:
            # The next statistics belong to parameters that are gone by then.
            _replace(_stale_view(folder, update), self._in_flight[0].view)
        save_checkpoint(self._estimator._model, finished=finished)
        kept = sorted(folder.glob("checkpoint-*.gbs"))
        oldest = kept[0].stem.removeprefix("checkpoint-") if kept else ""
        for old in folder.glob("stale-*.view"):
            if old.stem.removeprefix("stale-") < oldest:
                old.unlink(missing_ok=True)

    def _resume(self, request: dict[str, Any]) -> bool:
        """Goes to the newest checkpoint, if there are any; true if nothing is left to do."""
        runner, estimator = self._runner, self._estimator
        if runner.checkpoint is None:
            return False
        folder = CheckpointFolder(runner.checkpoint)
        found, damaged = folder.newest(estimator._threads())
        for problem in damaged:
            warnings.warn(f"{problem}; skipped", stacklevel=4)
        if found is not None:
            model, before, finished = found
            if not runner.resume:
                raise ValueError(
                    f"checkpoint: {runner.checkpoint} holds checkpoints already; "
                    "continue from them with resume=True, or use another folder"
                )
            _check_request(json.loads(before), request, estimator, runner.checkpoint)
            estimator._model = model
            if finished:
                return True
            self._driver = Driver(model, runner.staleness)
            self._task = self._driver.task()
            view = _stale_view(runner.checkpoint, model.updates)
            if runner.staleness and view.exists():
                self._resumed_view = view.read_bytes()
        folder.attach(estimator._model, runner.checkpoint_every, json.dumps(request))
        return False


def _check_request(before: dict[str, Any], now: dict[str, Any], estimator: Learner, folder: Path) -> None:
    if estimator.random_state is None:
        # The seed was drawn when the run began.
        estimator.seed_ = before["settings"]["seed"]
        now["settings"]["seed"] = estimator.seed_
    # Runs that do not say were begun for files.
    before["settings"].setdefault("mode", "file")
    different = [name for name in now["settings"] if before["settings"].get(name) != now["settings"][name]]
    different += [name for name in ("passes", "staleness") if before.get(name) != now[name]]
    if different:
        raise ValueError(
            f"resume: the run in {folder} was started differently ({', '.join(different)}); "
            "use the same settings as before, or another folder"
        )


def _stale_view(folder: Path, update: int) -> Path:
    return folder / f"stale-{update:012}.view"


def _replace(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    written = path.with_suffix(".part")
    with written.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    written.replace(path)

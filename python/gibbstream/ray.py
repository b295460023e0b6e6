"""E-steps on a Ray cluster, and Ray Data in and out.

Tasks are stateless and may be repeated: they get the parameters of the update from the object store and a block of
documents, and give back statistics. Ray runs them again when a worker or a node is lost; the driver counts each once.
With many workers other tasks merge statistics before the driver sees them: any grouping gives the same sum.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

try:
    import ray
    import ray.data
except ImportError as missing:
    raise ImportError("gibbstream.ray needs Ray; install it with: pip install 'gibbstream[ray]'") from missing

from gibbstream import runner
from gibbstream.columns import Columns, ColumnSource
from gibbstream.runner import worker
from gibbstream.sources import Source, is_of_rows

if TYPE_CHECKING:
    from gibbstream.learning import Learner

# How long the driver waits before it looks whether somebody pressed Ctrl-C.
_PATIENCE = 1.0
# Rows of a dataset that the driver reads together.
_TOGETHER = 4096
# So many workers the driver serves alone.
_FEW_WORKERS = 8


class Runner(runner.Runner):
    """E-steps as Ray tasks, by default one per node, with all its cores.

    Parameters
    ----------
    workers : int, optional
        Tasks for every minibatch: as many as there are nodes. Never changes a result.
    cpus_per_worker : int, optional
        Cores and threads of each task: those of the smallest node, or fewer if there are more workers than nodes.
        Never changes a result.
    reducers : int, optional
        Tasks that merge the statistics of workers on the nodes, so that the driver gets so many messages an update; 0:
        the driver merges everything. Left out: 0 for up to 8 workers, and the square root of their number for more.
        Never changes a result.
    column : str, optional
        Of a ``ray.data.Dataset``, the column that holds counts, tokens or text; all columns of numbers if it is left
        out.
    text_options : dict, optional
        How text is cut into words and which are kept, as :class:`gibbstream.TextCorpus` takes it.
    **options : dict
        ``staleness``, ``checkpoint``, ``checkpoint_every`` and ``resume``, see :class:`gibbstream.runner.Runner`.

    Ray is started on this machine if no cluster was connected to before.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        cpus_per_worker: int | None = None,
        reducers: int | None = None,
        column: str | None = None,
        text_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(1 if workers is None else workers, **options)
        self._asked_workers = workers
        if cpus_per_worker is not None and cpus_per_worker < 1:
            raise ValueError(f"cpus_per_worker: {cpus_per_worker} cannot compute; use at least 1")
        if reducers is not None and reducers < 0:
            raise ValueError(f"reducers: {reducers} is not a number of tasks; use 0 to merge in the driver")
        self.cpus_per_worker = cpus_per_worker
        self.reducers = reducers
        self.columns = Columns(column, text_options or {})
        self._groups = 0
        self._started: list[Any] = []
        self._last = 0

    def source(self, X: Any, estimator: Learner) -> Source:
        """A dataset, or what every runner takes."""
        if isinstance(X, ray.data.Dataset):
            connect()
            return DatasetSource(X, self.columns, as_numbers=is_of_rows(estimator))
        return super().source(X, estimator)

    def open(self, task: str) -> None:
        """Connects, and finds out how many nodes there are."""
        connect()
        cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        cores = [count for count in cores if count > 0] or [1]
        if self._asked_workers is None:
            self.workers = len(cores)
        self._cpus = self.cpus_per_worker or max(1, min(*cores, sum(cores) // self.workers))
        usual = 0 if self.workers <= _FEW_WORKERS else math.isqrt(self.workers)
        self._groups = usual if self.reducers is None else self.reducers
        self._task = ray.put(task)

    def submit(self, task: str, view: bytes, blocks: list[bytes]) -> Any:
        """Puts the parameters into the object store and starts a task for every block."""
        del task
        parameters = ray.put(_as_array(view))
        started = [self._start(parameters, _as_array(block)) for block in blocks]
        answers: dict[Any, tuple[int, ...]] = {task: (number,) for number, task in enumerate(started)}
        if 0 < self._groups < len(blocks):
            answers = dict(self._merged(started, group) for group in range(self._groups))
        # What is under way: this minibatch, and with staleness the one before it.
        self._started = [*self._started[-self._last :], *started, *answers]
        self._last = len(started) + len(answers)
        return answers

    def _merged(self, started: list[Any], group: int) -> tuple[Any, tuple[int, ...]]:
        """A task that merges the blocks of a group on a node, without waiting for free cores."""
        numbers = tuple(range(group, len(started), self._groups))
        options = {"num_cpus": 0, "max_retries": -1, "scheduling_strategy": "SPREAD"}
        return _merge.options(**options).remote(self._task, *(started[number] for number in numbers)), numbers

    def _start(self, view: Any, block: NDArray[np.uint8]) -> Any:
        options = {"num_cpus": self._cpus, "max_retries": -1, "scheduling_strategy": "SPREAD"}
        return _answer.options(**options).remote(self._task, self._cpus, view, block)

    def answers(self, work: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
        """The statistics of the blocks as they come."""
        left = list(work)
        while left:
            done, left = ray.wait(left, num_returns=1, timeout=_PATIENCE)
            for reference in done:
                yield work[reference], _got(reference)

    def close(self) -> None:
        """Ends tasks that nobody waits for any more."""
        for reference in self._started:
            ray.cancel(reference, force=False)
        self._started, self._last = [], 0


def connect() -> None:
    """Connects to the cluster that Ray finds, or starts Ray on this machine."""
    if not ray.is_initialized():
        ray.init(logging_level=logging.WARNING, include_dashboard=False)


def _as_array(content: bytes) -> NDArray[np.uint8]:
    """Arrays go through the object store without a copy."""
    return np.frombuffer(content, dtype=np.uint8)


def _answered(task: str, threads: int, view: NDArray[np.uint8], block: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return _as_array(worker(task, threads).answer(view, block))


def _summed(task: str, *statistics: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return _as_array(worker(task, 1).merge(list(statistics)))


_answer = ray.remote(_answered)
_merge = ray.remote(_summed)


def _got(reference: Any) -> NDArray[np.uint8]:
    try:
        return ray.get(reference)  # type: ignore[no-any-return]
    except ray.exceptions.RayTaskError as failed:
        # The worker's own words, without the frames of the engine.
        raise RuntimeError(str(failed.cause)) from failed


class DatasetSource(ColumnSource):
    """A dataset: its blocks are checked and packed where they are."""

    def __init__(self, dataset: Any, columns: Columns, *, as_numbers: bool) -> None:
        super().__init__(columns, as_numbers=as_numbers)
        self._dataset = dataset
        dataset.context.execution_options.preserve_order = True

    def schema(self) -> Any:
        """The Arrow schema."""
        return self._dataset.schema().base_schema

    def tables(self) -> Iterator[Any]:
        """Arrow tables in order."""
        yield from self._dataset.iter_batches(batch_format="pyarrow", batch_size=_TOGETHER)

    def head(self, count: int) -> Any:
        """The first rows."""
        return next(iter(self._dataset.limit(count).iter_batches(batch_format="pyarrow", batch_size=count)))

    def rows(self) -> int:
        """How many there are."""
        return int(self._dataset.count())

    def packs(self) -> Iterator[bytes]:
        """The nodes pack their blocks; the driver gets the packs in order, up to the first bad row."""
        packed = self._dataset.map_batches(self.packer(), batch_format="pyarrow", batch_size=None)
        seen, partition, before = 0, -1, 0
        for table in packed.iter_batches(batch_format="pyarrow", batch_size=None):
            for row in table.to_pylist():
                if row["begins"]:
                    partition, before = partition + 1, seen
                seen += row["rows"]
                if row["problem"] is not None:
                    # Blocks without rows are not counted.
                    place = f"partition {partition}, row {seen - before} (row {seen} of the dataset; counted from 0)"
                    raise ValueError(f"X: {place}: {row['problem']}")
                yield row["packed"]


class _Scorer:
    """A model that is loaded once in a process and used for every batch of a dataset."""

    def __init__(self, estimator: Any, columns: Columns, output: str, likelihood: bool) -> None:
        self._estimator, self._columns, self._output, self._likelihood = estimator, columns, output, likelihood

    def __call__(self, table: Any) -> Any:
        return self._columns.scored(self._estimator, table, self._output, likelihood=self._likelihood)


def _stage(estimator: Any, dataset: Any, column: str | None, output: str, likelihood: bool, **options: Any) -> Any:
    connect()
    arguments = (ray.put(estimator), Columns(column, {}), output, likelihood)
    return dataset.map_batches(
        _Loaded, fn_constructor_args=arguments, batch_format="pyarrow", **({"concurrency": 1} | options)
    )


class _Loaded(_Scorer):
    def __init__(self, estimator: Any, *arguments: Any) -> None:
        super().__init__(ray.get(estimator), *arguments)


def transform(estimator: Any, dataset: Any, *, column: str | None = None, output: str = "theta", **options: Any) -> Any:
    """Topic mixtures of a dataset as a stage of Ray Data: the same table with one more column.

    Ray Data does not keep the order of rows unless ``preserve_order`` of its execution options is set.

    Parameters
    ----------
    estimator : LDA, HDP or a mixture
        One that has learnt.
    dataset : ray.data.Dataset
        Documents or rows.
    column : str, optional
        The column that holds counts, tokens or text.
    output : str
        The name of the column that is added.
    **options : dict
        Options of ``map_batches``, such as ``concurrency``.
    """
    return _stage(estimator, dataset, column, output, False, **options)


def score(
    estimator: Any, dataset: Any, *, column: str | None = None, output: str = "log_likelihood", **options: Any
) -> Any:
    """Estimates of log p of every document, in nats, as a stage of Ray Data.

    Parameters
    ----------
    estimator : LDA, HDP or a mixture
        One that has learnt.
    dataset : ray.data.Dataset
        Documents or rows.
    column : str, optional
        The column that holds counts, tokens or text.
    output : str
        The name of the column that is added.
    **options : dict
        Options of ``map_batches``, such as ``concurrency``.
    """
    return _stage(estimator, dataset, column, output, True, **options)

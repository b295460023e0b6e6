"""Topic models on Apache Spark: a runner for every model, and LDA with the manners of ``pyspark.ml``.

Parameters are published as a file that workers map, because a broadcast from Python pickles them for every update. Rows
of a data frame have no order of their own, so documents are ordered by a column, or else by a hash of their content.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import json
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    import pyarrow as pa
    from pyspark import StorageLevel, TaskContext
    from pyspark.ml import Estimator, Model
    from pyspark.ml.evaluation import Evaluator
    from pyspark.ml.functions import array_to_vector
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.util import (
        DefaultParamsReadable,
        DefaultParamsReader,
        DefaultParamsWritable,
        DefaultParamsWriter,
        MLReadable,
        MLReader,
        MLWritable,
        MLWriter,
    )
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as sf
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType
    from pyspark.sql.utils import is_remote
except ImportError as missing:
    raise ImportError("gibbstream.spark needs PySpark; install it with: pip install 'gibbstream[spark]'") from missing

import gibbstream
from gibbstream import runner
from gibbstream._core import Model as CoreModel
from gibbstream.batches import BatchFolder, Learnt
from gibbstream.columns import ORDER, BadRowError, Columns, ColumnSource, Packer
from gibbstream.runner import worker
from gibbstream.sources import Source, is_of_rows

if TYPE_CHECKING:
    from gibbstream.learning import Learner

# Bytes of a model in one row of the table that it is saved in.
_PIECE = 16 << 20

_KEYED = "partition int, row long, key binary, packed binary, problem string"


class Runner(runner.Runner):
    """E-steps as Spark tasks.

    Parameters
    ----------
    workers : int, optional
        Tasks for every minibatch: as many as Spark runs at a time. Never changes a result.
    threads : int
        Threads of each task; set ``spark.task.cpus`` to the same number. Never changes a result.
    column : str, optional
        Of a data frame, the column that holds counts, tokens or text; all columns of numbers if it is left out.
    order : str, optional
        The column that documents are ordered by. Without it they are ordered by a hash of their content.
    directory : path, optional
        A folder that the driver can write and all workers can read, such as ``/dbfs/tmp`` or a network drive. Needed
        unless everything runs on this machine.
    text_options : dict, optional
        How text is cut into words and which are kept, as :class:`gibbstream.TextCorpus` takes it.
    **options : dict
        ``staleness``, ``checkpoint``, ``checkpoint_every`` and ``resume``, see :class:`gibbstream.runner.Runner`.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        threads: int = 1,
        column: str | None = None,
        order: str | None = None,
        directory: str | None = None,
        text_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(1 if workers is None else workers, **options)
        self._asked_workers = workers
        self.threads = threads
        self.order = order
        self.columns = Columns(column, text_options or {})
        self._directory = directory
        self._published: Published | None = None
        self._jobs: ThreadPoolExecutor | None = None

    def source(self, X: Any, estimator: Learner) -> Source:
        """A data frame, or what every runner takes."""
        if isinstance(X, DataFrame):
            refuse_connect()
            return DataFrameSource(X, self.columns, self.order, as_numbers=is_of_rows(estimator))
        return super().source(X, estimator)

    def open(self, task: str) -> None:
        """Makes a folder for parameters."""
        del task
        refuse_connect()
        context = SparkSession.builder.getOrCreate().sparkContext
        if self._asked_workers is None:
            self.workers = max(1, context.defaultParallelism)
        self._published = Published(context, self._directory)
        self._group = f"gibbstream-{uuid.uuid4()}"
        # One thread for each E-step that may be under way.
        self._jobs = ThreadPoolExecutor(1 + self.staleness, thread_name_prefix="gibbstream")

    def submit(self, task: str, view: bytes, blocks: list[bytes]) -> Any:
        """Publishes the parameters and starts a job with a task for every block."""
        assert self._published is not None
        assert self._jobs is not None
        path = self._published.write("view", view)
        context, group, answering = self._published.context, self._group, self._answering(task, str(path))

        def job() -> list[tuple[int, bytes]]:
            context.setJobGroup(group, "E-step of a minibatch", interruptOnCancel=False)
            numbered = context.parallelize(list(enumerate(blocks)), len(blocks))
            return list(numbered.mapPartitions(answering).collect())

        return self._jobs.submit(job), path

    def _answering(self, task: str, path: str) -> Callable[[Any], Iterator[tuple[int, bytes]]]:
        threads = self.threads

        def answer(blocks: Any) -> Iterator[tuple[int, bytes]]:
            # Mapped, not read: all workers of a machine share the pages.
            view = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
            for number, block in blocks:
                yield number, worker(task, threads).answer(view, block)

        return answer

    def answers(self, work: Any) -> Iterator[tuple[int, Any]]:
        """The statistics of the blocks, when the job is over."""
        future: Future[list[tuple[int, bytes]]]
        future, path = work
        try:
            yield from future.result()
        except Exception as failed:
            raise RuntimeError(_reason(failed)) from failed
        finally:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Ends jobs that nobody waits for any more, and removes what was published."""
        if self._jobs is not None and self._published is not None:
            self._published.context.cancelJobGroup(self._group)
            self._jobs.shutdown(wait=True, cancel_futures=True)
            self._published.close()
        self._jobs = self._published = None


def _reason(failed: Exception) -> str:
    """The worker's own words, without the frames of the engine."""
    lines = [line.strip() for line in str(failed).splitlines()]
    own = [line for line in lines if line.startswith(("ValueError: ", "RuntimeError: "))]
    return own[-1].split(": ", 1)[1] if own else str(failed)


def refuse_connect() -> None:
    """Jobs of our own need a session that runs here."""
    if is_remote():
        raise ValueError(
            "spark: this session is one of Spark Connect, which does not run jobs of Python functions on blocks; "
            "use a classic session (on Databricks, a cluster for a single user)"
        )


class Published:
    """A folder of files that all workers can read."""

    def __init__(self, context: Any, directory: str | None) -> None:
        self.context = context
        if directory is None and not context.master.startswith("local"):
            raise ValueError(
                "directory: workers on other machines must read the parameters; name a folder that the driver can "
                "write and all workers can read, such as /dbfs/tmp"
            )
        self._folder = Path(tempfile.mkdtemp(prefix="gibbstream-", dir=directory))
        # Workers may run as somebody else.
        self._folder.chmod(0o755)

    def write(self, name: str, content: bytes) -> Path:
        """A new file with a name of its own."""
        path = self._folder / f"{name}-{uuid.uuid4().hex}"
        path.write_bytes(content)
        return path

    def close(self) -> None:
        """Removes everything."""
        shutil.rmtree(self._folder, ignore_errors=True)


class DataFrameSource(ColumnSource):
    """Documents of a data frame, checked, packed and hashed where they are, and put into order by Spark."""

    def __init__(self, frame: DataFrame, columns: Columns, order: str | None, *, as_numbers: bool) -> None:
        super().__init__(columns, as_numbers=as_numbers)
        self._order = order
        chosen = [columns.column] if columns.column else [name for name in frame.columns if name != order]
        if missing := [name for name in [*chosen, order] if name is not None and name not in frame.columns]:
            raise ValueError(f"column: there is no {missing[0]}; there are {', '.join(frame.columns)}")
        self._chosen = frame.select(*chosen)
        self._frame = frame.select(*chosen, *([sf.col(order).alias(ORDER)] if order else []))
        self._kept: DataFrame | None = None

    def schema(self) -> Any:
        """The Arrow schema."""
        return self._chosen.limit(0).toArrow().schema

    def tables(self) -> Iterator[Any]:
        """Arrow tables, here in the driver."""
        schema, rows = self.schema(), []
        for row in self._chosen.toLocalIterator(prefetchPartitions=True):
            rows.append(row.asDict())
            if len(rows) == 4096:
                yield _table(rows, schema)
                rows = []
        if rows:
            yield _table(rows, schema)

    def head(self, count: int) -> Any:
        """The first rows; without an order column, those with the smallest hashes, whatever the partitions."""
        by = [ORDER] if self._order is not None else []
        by += [sf.xxhash64(*map(sf.col, self._chosen.columns)), *self._chosen.columns]
        return self._frame.orderBy(*by).limit(count).select(*self._chosen.columns).toArrow()

    def rows(self) -> int:
        """How many there are."""
        return int(self._chosen.count())

    def packs(self) -> Iterator[bytes]:
        """Documents in order. All rows are checked before the first is handed out."""
        ordered = self._order is not None
        if self._kept is None:
            order = f", {ORDER} {self._frame.schema[ORDER].dataType.simpleString()}" if ordered else ""
            self._kept = self._frame.mapInArrow(_keying(self.packer()), _KEYED + order).persist(StorageLevel.DISK_ONLY)
        keyed = self._kept
        bad = keyed.filter(sf.col("problem").isNotNull()).orderBy("partition", "row").first()
        if bad is not None:
            raise ValueError(f"X: partition {bad['partition']}, row {bad['row']} (counted from 0): {bad['problem']}")
        packed = keyed.orderBy(*([ORDER, "key"] if ordered else ["key"])).select("packed")
        for row in packed.toLocalIterator(prefetchPartitions=True):
            yield bytes(row["packed"])

    def close(self) -> None:
        """Lets go of what was packed."""
        if self._kept is not None:
            self._kept.unpersist()
            self._kept = None


def _table(rows: list[dict[str, Any]], schema: Any) -> Any:
    plain = [{name: _plain(value) for name, value in row.items()} for row in rows]
    return pa.Table.from_pylist(plain, schema=schema)


def _plain(value: Any) -> Any:
    """Vectors of ``pyspark.ml`` as Spark keeps them."""
    if hasattr(value, "indices"):
        size, indices, values = int(value.size), value.indices.tolist(), value.values.tolist()
        return {"type": 0, "size": size, "indices": indices, "values": values}
    if hasattr(value, "toArray"):
        return {"type": 1, "size": None, "indices": None, "values": value.toArray().tolist()}
    return value


def _keying(packer: Packer) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def keyed(batches: Iterator[Any]) -> Iterator[Any]:
        partition, first = TaskContext.get().partitionId(), 0
        for batch in batches:
            yield from packer.keyed(pa.Table.from_batches([batch]), partition, first).combine_chunks().to_batches()
            first += batch.num_rows

    return keyed


_TEXT, _NUMBER = TypeConverters.toString, TypeConverters.toInt

# Of estimator and model: defaults, types, and what they mean.
_PARAMETERS: dict[str, tuple[Any, Callable[[Any], Any], str]] = {
    "featuresCol": ("features", _TEXT, "column of vectors of counts, arrays of tokens, or text"),
    "topicDistributionCol": ("topicDistribution", _TEXT, "column for topic mixtures"),
    "logLikelihoodCol": ("", _TEXT, "column for estimates of log p of each document, in nats; empty: none"),
    "orderCol": ("", _TEXT, "column that documents are ordered by; empty: a hash of their content"),
    "k": (10, _NUMBER, "number of topics"),
    "seed": (0, _NUMBER, "seed of all random streams"),
    "method": ("g-oem", _TEXT, "as the program names it"),
    # Numbers may be given as numbers.
    "batch": ("100", str, "documents in a minibatch, such as 100 or 100..5000"),
    "passes": (0, _NUMBER, "passes over the documents; 0: as many as gibbstream.LDA makes if it is not told"),
    "staleness": (0, _NUMBER, "0, or 1 to hide the time of an update"),
    "workers": (0, _NUMBER, "tasks for a minibatch; 0: as many as Spark runs"),
    "threads": (1, _NUMBER, "threads of a task"),
    "directory": ("", _TEXT, "folder that the driver can write and all workers can read; empty: one on this machine"),
    "checkpointDir": ("", _TEXT, "folder for checkpoints; empty: none"),
    "checkpointEvery": ("60s", _TEXT, "time (60s) or minibatches (1000b) between checkpoints"),
    "resume": (False, TypeConverters.toBoolean, "go on from the newest checkpoint"),
    "options": ("{}", _TEXT, "other parameters of gibbstream.LDA, as JSON"),
    "textOptions": ("{}", _TEXT, "how text is cut into words, as JSON, see gibbstream.TextCorpus"),
}


class _LDAParams(Params):
    """Parameters that estimator and model share: those of the table, each with a getter and a setter."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._setDefault(**{name: default for name, (default, _, _) in _PARAMETERS.items()})

    def _value(self, name: str) -> Any:
        return self.getOrDefault(self.getParam(name))

    def _estimator(self) -> gibbstream.LDA:
        batch = self._value("batch")
        return gibbstream.LDA(
            self._value("k"),
            method=self._value("method"),
            batch=int(batch) if batch.isdigit() else batch,
            passes=self._value("passes") or None,
            random_state=self._value("seed"),
            n_jobs=1,
            **json.loads(self._value("options")),
        )

    def _columns(self) -> Columns:
        return Columns(self._value("featuresCol"), json.loads(self._value("textOptions")))

    def _runner(self, **checkpoints: Any) -> Runner:
        columns = self._columns()
        return Runner(
            self._value("workers") or None,
            threads=self._value("threads"),
            column=columns.column,
            order=self._value("orderCol") or None,
            directory=self._value("directory") or None,
            text_options=columns.text_options,
            staleness=self._value("staleness"),
            **checkpoints,
        )


def _add_parameter(name: str, convert: Callable[[Any], Any], meaning: str) -> None:
    """A parameter as every class of ``pyspark.ml`` has it, such as ``k``, ``getK`` and ``setK``."""

    def get(self: _LDAParams) -> Any:
        return self._value(name)

    def set_(self: _LDAParams, value: Any) -> Any:
        return self._set(**{name: value})

    get.__doc__, set_.__doc__ = f"{meaning}.", f"Sets {name}: {meaning}."
    capital = name[0].upper() + name[1:]
    setattr(_LDAParams, name, Param(Params._dummy(), name, meaning, convert))
    setattr(_LDAParams, f"get{capital}", get)
    setattr(_LDAParams, f"set{capital}", set_)


for _name, (_, _convert, _meaning) in _PARAMETERS.items():
    _add_parameter(_name, _convert, _meaning)


class LDA(_LDAParams, Estimator, DefaultParamsReadable, DefaultParamsWritable):
    """Latent Dirichlet allocation as a ``pyspark.ml`` estimator.

    ``explainParams()`` lists the parameters. The model has the bits of ``gibbstream.LDA`` on one machine for the same
    documents in the same order, for any number of executors and partitions.
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        self._set(**parameters)

    def setParams(self, **parameters: Any) -> LDA:  # noqa: N802 as pyspark.ml spells it
        """Sets parameters by name."""
        return self._set(**parameters)  # type: ignore[no-any-return]

    def _fit(self, dataset: DataFrame) -> LDAModel:
        estimator, folder = self._estimator(), self._value("checkpointDir")
        checkpoints = {"checkpoint": folder, "resume": self._value("resume")} if folder else {}
        estimator.fit(dataset, runner=self._runner(checkpoint_every=self._value("checkpointEvery"), **checkpoints))
        return self._model(estimator)

    def stream(self) -> LDAModel:
        """A model for ``foreachBatch``: it has learnt nothing, or what the newest checkpoint holds.

        ``stream.writeStream.foreachBatch(LDA(...).stream().learn)``. Checkpoints, in the folder ``stream`` of
        ``checkpointDir``, hold the number of the last batch, so a batch that is delivered again counts once.
        """
        model = self._model(None)
        model._catch_up()
        return model

    def _model(self, estimator: gibbstream.LDA | None) -> LDAModel:
        return self._copyValues(LDAModel(estimator))  # type: ignore[no-any-return]


class LDAModel(_LDAParams, Model, MLReadable, MLWritable):
    """What :class:`LDA` has learnt. ``estimator`` is the same as a :class:`gibbstream.LDA`."""

    def __init__(self, estimator: gibbstream.LDA | None = None) -> None:
        super().__init__()
        self.estimator = estimator
        self.last_batch: int | None = None
        # Of a stream that continues what was fitted.
        self._began_with = None if estimator is None else estimator.model_hash_
        self._folder: BatchFolder | None = None

    @property
    def model_hash(self) -> str:
        """Models with equal hashes are identical."""
        return self._learnt().model_hash_

    def describeTopics(self, maxTermsPerTopic: int = 10) -> DataFrame:  # noqa: N802
        """The words of each topic, best first: ``topic``, ``termIndices``, ``termWeights`` and ``terms``."""
        best = self._learnt()._best_words(maxTermsPerTopic, 1.0)
        rows = [
            (
                topic,
                [number for number, _, _ in words],
                [weight for _, _, weight in words],
                [word for _, word, _ in words],
            )
            for topic, words in enumerate(best)
        ]
        columns = "topic int, termIndices array<int>, termWeights array<double>, terms array<string>"
        return SparkSession.builder.getOrCreate().createDataFrame(rows, columns)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        refuse_connect()
        published = Published(dataset.sparkSession.sparkContext, self._value("directory") or None)
        # The plan may run long after this call, so the file stays until the process ends.
        atexit.register(published.close)
        path = str(published.write("model", self._learnt()._model.to_bytes()))
        mixtures, likelihoods = self._value("topicDistributionCol"), self._value("logLikelihoodCol")
        fields = [StructField(mixtures, ArrayType(DoubleType()))]
        fields += [StructField(likelihoods, DoubleType())] if likelihoods else []
        scoring = _scoring(path, self._columns(), mixtures, likelihoods, self._learnt().get_params())
        scored = dataset.mapInArrow(scoring, StructType([*dataset.schema.fields, *fields]))
        return scored.withColumn(mixtures, array_to_vector(sf.col(mixtures)))

    def learn(self, batch: DataFrame, batch_id: int | None = None) -> None:
        """Learns from further documents, as ``partial_fit`` does; made for ``foreachBatch``.

        With ``checkpointDir``, a model that was fitted goes on with what it had learnt from the stream before, if the
        stream was begun with the same model.

        Parameters
        ----------
        batch : DataFrame
            The documents. If one of them cannot be learnt from, nothing is.
        batch_id : int, optional
            The number of the batch. One that is not newer than the last is skipped: it was delivered twice.
        """
        self._catch_up()
        if batch_id is not None and self.last_batch is not None and batch_id <= self.last_batch:
            warnings.warn(f"batch {batch_id} was learnt from before, up to {self.last_batch}; skipped", stacklevel=2)
            return
        # A copy learns, and takes the place of this model when it is done: nothing is half-learnt, whatever happens.
        estimator = self._estimator() if self.estimator is None else copy.copy(self.estimator)
        run = self._runner()
        with contextlib.closing(_StreamSource(batch, run.columns, run.order, as_numbers=False)) as source:
            if source.rows() > 0:
                source.create(estimator)
                runner.learn(estimator, source, run)
        if estimator._has_model():
            self.estimator = estimator
        self.last_batch = self.last_batch if batch_id is None else batch_id
        if self._folder is not None and self.estimator is not None:
            self._folder.save(Learnt(self.estimator._model, self.last_batch, self._began_with))

    def _catch_up(self) -> None:
        """Goes to the newest checkpoint of the stream, before its first batch."""
        if self._folder is not None or not self._value("checkpointDir"):
            return
        folder = BatchFolder(Path(self._value("checkpointDir"), "stream"))
        found = folder.newest(self._estimator().get_params())
        if found is not None:
            if self._began_with not in {None, found.began_with}:
                raise ValueError(
                    f"checkpointDir: the stream in {self._value('checkpointDir')} was begun with another model; go on "
                    "with it by LDA(...).stream(), or use another folder"
                )
            self.estimator = gibbstream.LDA._with(found.model, {})
            self.last_batch, self._began_with = found.batch, found.began_with
        self._folder = folder

    def _learnt(self) -> gibbstream.LDA:
        if self.estimator is None or not self.estimator._has_model():
            raise ValueError("model: nothing has been learnt yet; call fit or learn first")
        return self.estimator

    def copy(self, extra: Any = None) -> LDAModel:
        """A copy; it shares what was learnt until one of them learns more."""
        copied = super().copy(extra)
        copied._folder = None
        return copied  # type: ignore[no-any-return]

    def write(self) -> MLWriter:
        """Writes parameters and model."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> MLReader[LDAModel]:
        """Reads what was written."""
        return _ModelReader()


class _StreamSource(DataFrameSource):
    """A batch for a model that may have learnt before: its words stay as they are."""

    again = False

    def create(self, estimator: Learner) -> None:
        if estimator._has_model():
            self.continue_with(estimator)
        else:
            super().create(estimator)
        estimator._model.begin("partial_fit")


@lru_cache(maxsize=2)
def _loaded(path: str, parameters: str) -> gibbstream.LDA:
    """The model of this process: it is loaded once, not once a batch."""
    return gibbstream.LDA._with(CoreModel.load(path, 1), json.loads(parameters))


def _scoring(path: str, columns: Columns, mixtures: str, likelihoods: str, parameters: dict[str, Any]) -> Any:
    kept = json.dumps({name: parameters[name] for name in ("transform_sweeps", "particles")})

    def scored(batches: Iterator[Any]) -> Iterator[Any]:
        first = 0
        for batch in batches:
            table = pa.Table.from_batches([batch])
            if table.num_rows == 0:
                continue
            try:
                table = columns.scored(_loaded(path, kept), table, mixtures, likelihood=False)
                if likelihoods:
                    table = columns.scored(_loaded(path, kept), table, likelihoods, likelihood=True)
            except BadRowError as bad:
                partition = TaskContext.get().partitionId()
                raise ValueError(f"X: partition {partition}, row {first + bad.row}: {bad}") from bad
            first += table.num_rows
            yield from table.combine_chunks().to_batches()

    return scored


class _ModelWriter(MLWriter):
    def __init__(self, model: LDAModel) -> None:
        super().__init__()
        self._written = model

    def saveImpl(self, path: str) -> None:  # noqa: N802
        content = self._written._learnt()._model.to_bytes()
        stream = {"last_batch": self._written.last_batch, "began_with": self._written._began_with}
        DefaultParamsWriter.saveMetadata(self._written, path, self.sparkSession, extraMetadata=stream)
        pieces = [
            (number, content[start : start + _PIECE]) for number, start in enumerate(range(0, len(content), _PIECE))
        ]
        frame = self.sparkSession.createDataFrame(pieces, "number int, content binary")
        frame.coalesce(1).write.parquet(f"{path}/data")


class _ModelReader(MLReader[LDAModel]):
    def load(self, path: str) -> LDAModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        pieces = self.sparkSession.read.parquet(f"{path}/data").orderBy("number").collect()
        content = b"".join(bytes(piece["content"]) for piece in pieces)
        model = LDAModel(gibbstream.LDA._with(CoreModel.from_bytes(content, 1), {}))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        model.last_batch, model._began_with = metadata["last_batch"], metadata["began_with"]
        return model


class LogLikelihoodEvaluator(Evaluator, DefaultParamsReadable, DefaultParamsWritable):
    """Mean of ``logLikelihoodCol``, in nats per document, for ``CrossValidator``; higher is better."""

    logLikelihoodCol = Param(
        Params._dummy(), "logLikelihoodCol", "column of log p of each document", TypeConverters.toString
    )

    def __init__(self, *, logLikelihoodCol: str = "logLikelihood") -> None:
        super().__init__()
        self._setDefault(logLikelihoodCol="logLikelihood")
        self._set(logLikelihoodCol=logLikelihoodCol)

    def _evaluate(self, dataset: DataFrame) -> float:
        mean = dataset.agg(sf.avg(self.getOrDefault(self.logLikelihoodCol))).first()
        if mean is None or mean[0] is None:
            raise ValueError("logLikelihoodCol: there are no documents to score; give at least one")
        return float(mean[0])

    def isLargerBetter(self) -> bool:  # noqa: N802
        """It is."""
        return True

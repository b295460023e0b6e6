"""Spark with separate executors on this machine: one hash for any number of workers, whatever is killed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import CountVectorizer
from pyspark.ml.linalg import SparseVector, Vectors, VectorUDT
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StructField, StructType
from scipy import sparse

import gibbstream.spark
from clusters.conftest import MODELS, documents, in_the_whole_matrix, is_alive, kill, matrix, numbers
from gibbstream import HDP, LDA, GaussianMixture, LocalRunner, TextCorpus
from gibbstream.columns import content_key
from gibbstream.matrix import source
from gibbstream.sources import packed_rows

pytestmark = pytest.mark.filterwarnings("default")
KILLS = ("nothing", "worker", "executor", "driver")
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def started():
    """Two executors with a core and a gigabyte each, in processes of their own."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("gibbstream")
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "768m",
        "spark.sql.shuffle.partitions": "3",
        "spark.default.parallelism": "2",
        "spark.python.worker.reuse": "true",
        # Tiny jobs: compiling them well takes longer than running them.
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.executor.extraJavaOptions": QUICK_START,
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        # An executor that was killed must not end the test.
        "spark.deploy.maxExecutorRetries": "-1",
        "spark.task.maxFailures": "8",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module")
def session():
    made = started()
    yield made
    made.stop()


class Killing(gibbstream.spark.Runner):
    """Kills the Python worker or the executor that computes a block of an update."""

    def __init__(self, victim, folder, *arguments, at=5, **options):
        super().__init__(*arguments, **options)
        self.victim, self.at, self.attempts, self.updates, self.killed = victim, at, folder / "attempts", 0, None

    def _answering(self, task, path):
        self.updates += 1
        if self.victim == "nothing" or self.updates != self.at:
            return super()._answering(task, path)
        attempts, plain = str(self.attempts), super()._answering(task, path)

        def slow_once(blocks):
            import os
            import time

            blocks = list(blocks)
            if blocks and blocks[0][0] == 0:
                with open(attempts, "a+") as file:
                    file.write(f"{os.getpid()} {os.getppid()}\n")
                    file.seek(0)
                    first = len(file.readlines()) == 1
                if first:
                    time.sleep(600)
            return plain(iter(blocks))

        self._killer = ThreadPoolExecutor(1).submit(self._kill)
        return slow_once

    def _kill(self):
        while not (self.attempts.exists() and self.attempts.read_text().endswith("\n")):
            time.sleep(0.02)
        worker, daemon = (int(pid) for pid in self.attempts.read_text().split())
        # The worker's parent is a daemon of Python, and that one's parent is the executor.
        victim = worker if self.victim == "worker" else executor_of(daemon)
        kill(victim)
        self.killed = victim


def executor_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        parent = int(file.read().rpartition(")")[2].split()[1])
    with open(f"/proc/{parent}/cmdline", "rb") as file:
        assert b"CoarseGrainedExecutorBackend" in file.read()
    return parent


DRIVER = """
    import os, signal, sys
    sys.path[:0] = [sys.argv[1]]
    from clusters.conftest import MODELS
    from clusters.test_spark import started
    import gibbstream.spark

    def die(_, record):
        if record["update"] == 8:
            print("killed", os.getpid(), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    started()
    make, X = MODELS[sys.argv[3]]
    runner = gibbstream.spark.Runner(int(sys.argv[4]), checkpoint=sys.argv[2], checkpoint_every="3b")
    make(callback=die).fit(X(), runner=runner)
"""


def fit_after_driver_died(folder, model, workers):
    tests = os.path.dirname(os.path.dirname(__file__))
    command = [sys.executable, "-c", textwrap.dedent(DRIVER), tests, folder, model, str(workers)]
    died = subprocess.run(command, check=False, capture_output=True, text=True)
    assert died.returncode == -signal.SIGKILL, died.stderr[-3000:]
    assert "killed" in died.stdout
    make, X = MODELS[model]
    options = {"checkpoint": folder, "checkpoint_every": "3b", "resume": True}
    resumed = make().fit(X(), runner=gibbstream.spark.Runner(workers, **options))
    assert len(resumed.history_) < resumed.n_updates_, "it did not begin anew"
    return resumed


@pytest.mark.parametrize(("workers", "victim", "model"), matrix(KILLS))
def test_one_hash_for_any_workers_and_whatever_is_killed(workers, victim, model, session, here, tmp_path):
    make, X = MODELS[model]
    if victim == "driver":
        assert fit_after_driver_died(tmp_path, model, workers).model_hash_ == here[model]
        return
    runner = Killing(victim, tmp_path, workers=workers)
    assert make().fit(X(), runner=runner).model_hash_ == here[model]
    if victim != "nothing":
        attempts = [line.split()[0] for line in runner.attempts.read_text().splitlines()]
        assert len(set(attempts)) >= 2, "it was run again, by another process"
        assert runner.killed is not None
        assert not is_alive(runner.killed)


def test_parameters_that_are_one_update_old(session):
    make, X = MODELS["LDA"]
    alone = make().fit(X(), runner=LocalRunner(staleness=1)).model_hash_
    assert make().fit(X(), runner=gibbstream.spark.Runner(2, staleness=1)).model_hash_ == alone


def frame(session, X, partitions=3):
    X = sparse.csr_matrix(X)
    rows = [
        (number, SparseVector(X.shape[1], X[number].indices.tolist(), X[number].data.astype(float).tolist()))
        for number in range(X.shape[0])
    ]
    return session.createDataFrame(rows, ["id", "counts"]).repartition(partitions)


def lda(**parameters):
    return gibbstream.spark.LDA(**({"k": 4, "seed": 1, "batch": "100", "featuresCol": "counts"} | parameters))


def by_content(X):
    """The rows in the order that data frames without an order column are learnt in."""
    packs = [next(packed_rows(source(X[row]), as_numbers=False)) for row in range(X.shape[0])]
    return X[sorted(range(X.shape[0]), key=lambda row: content_key(packs[row]))]


def test_frames_are_learnt_in_the_order_of_a_column_or_of_their_content(session):
    X, alone = documents()[:250], LDA(4, batch=100, random_state=1)
    assert lda(orderCol="id").fit(frame(session, X)).model_hash == alone.fit(X).model_hash_
    expected = alone.fit(by_content(X)).model_hash_
    for partitions in (1, 4):
        assert lda().fit(frame(session, X, partitions)).model_hash == expected


def test_the_manners_of_pyspark_ml(session, tmp_path):
    X = documents()[:200]
    data = frame(session, X).cache()
    model = lda(orderCol="id", logLikelihoodCol="logLikelihood").fit(data)
    scored = model.transform(data).orderBy("id").collect()
    mixtures = np.stack([row["topicDistribution"].toArray() for row in scored])
    assert np.array_equal(mixtures, model.estimator.transform(X))
    likelihoods = np.array([row["logLikelihood"] for row in scored])
    assert np.array_equal(likelihoods, model.estimator.log_likelihood(X))
    model.write().overwrite().save(str(tmp_path / "model"))
    loaded = gibbstream.spark.LDAModel.load(str(tmp_path / "model"))
    assert loaded.model_hash == model.model_hash == model.copy().model_hash
    assert loaded.getOrDefault("featuresCol") == "counts"
    assert loaded.transform(data).orderBy("id").first()["topicDistribution"] == scored[0]["topicDistribution"]
    estimator = lda(orderCol="id")
    estimator.write().overwrite().save(str(tmp_path / "estimator"))
    again = gibbstream.spark.LDA.load(str(tmp_path / "estimator"))
    assert again.fit(data).model_hash == model.model_hash
    assert "number of topics" in estimator.explainParams()
    by_setters = gibbstream.spark.LDA().setK(4).setSeed(1).setBatch(100).setFeaturesCol("counts").setOrderCol("id")
    assert by_setters.getK() == 4
    assert by_setters.fit(data).model_hash == model.model_hash
    assert estimator.fit(data, {estimator.seed: 2}).model_hash != model.model_hash
    described = model.describeTopics(3).orderBy("topic").collect()
    assert [row["terms"] for row in described] == model.estimator.top_words(3, relevance=1.0)
    assert all(sorted(row["termWeights"], reverse=True) == row["termWeights"] for row in described)


def texts():
    return ["stars and planets", "planets, a star, a galaxy", "butter and flour", "flour in the oven"] * 60


def test_text_tokens_and_pipelines(session, tmp_path):
    written = session.createDataFrame(list(enumerate(texts())), ["id", "text"]).repartition(3)
    alone = LDA(2, batch=40, random_state=0).fit(TextCorpus(texts())).model_hash_
    small = {"k": 2, "seed": 0, "batch": "40", "orderCol": "id"}
    assert gibbstream.spark.LDA(featuresCol="text", **small).fit(written).model_hash == alone
    tokens = written.selectExpr("id", "split(text, ' ') as tokens")
    corpus = TextCorpus([text.split(" ") for text in texts()])
    by_tokens = gibbstream.spark.LDA(featuresCol="tokens", **small).fit(tokens)
    assert by_tokens.model_hash == LDA(2, batch=40, random_state=0).fit(corpus).model_hash_
    stages = [CountVectorizer(inputCol="tokens", outputCol="features"), gibbstream.spark.LDA(**small)]
    fitted = Pipeline(stages=stages).fit(tokens)
    fitted.write().overwrite().save(str(tmp_path / "pipeline"))
    row = PipelineModel.load(str(tmp_path / "pipeline")).transform(tokens).first()
    assert row["topicDistribution"].toArray().sum() == pytest.approx(1)


@in_the_whole_matrix
def test_cross_validation_prefers_enough_topics(session):
    data = frame(session, documents()[:200]).cache()
    estimator = lda(orderCol="id", logLikelihoodCol="logLikelihood", batch="20")
    grid = ParamGridBuilder().addGrid(estimator.k, [1, 4]).build()
    evaluator = gibbstream.spark.LogLikelihoodEvaluator(logLikelihoodCol="logLikelihood")
    best = CrossValidator(estimator=estimator, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2).fit(data)
    assert best.avgMetrics[1] > best.avgMetrics[0]
    assert best.bestModel.estimator.n_components == 4


def test_other_models_learn_from_frames(session, here):
    hdp = HDP(batch=60, random_state=1).fit(
        frame(session, documents()), runner=gibbstream.spark.Runner(2, column="counts", order="id")
    )
    assert hdp.model_hash_ == here["HDP"]


def test_mixtures_learn_from_columns_of_numbers(session, here):
    rows = [(number, *map(float, row)) for number, row in enumerate(numbers())]
    data = session.createDataFrame(rows, ["id", "a", "b", "c"]).repartition(3)
    mixture = GaussianMixture(2, batch=60, random_state=1).fit(data, runner=gibbstream.spark.Runner(2, order="id"))
    assert mixture.model_hash_ == here["GaussianMixture"]


def test_bad_rows_are_named_and_nothing_is_half_learnt(session):
    vector = lambda *counts: Vectors.dense(counts)  # noqa: E731
    good = [(number, vector(1.0, 0.0, 2.0)) for number in range(20)]

    schema = StructType([StructField("id", LongType()), StructField("counts", VectorUDT())])

    def made(rows):
        return session.createDataFrame(session.sparkContext.parallelize(rows, 1), schema)

    for rows, message in [
        ([*good, (20, vector(1.0, -1.0, 0.0))], "partition 0, row 20 .*column 1: -1 is not a number of occurrences"),
        ([*good, (20, None)], "partition 0, row 20 .*column counts is null"),
        ([*good, (20, vector(1.0, 1.0))], "partition 0, row 20 .*a vector of 2 counts, where others have 3"),
        ([], "no documents"),
    ]:
        with pytest.raises(ValueError, match=message):
            lda(k=2, orderCol="id").fit(made(rows))
        model = lda(k=2, orderCol="id").stream()
        model.learn(made(good), 0)
        before = model.model_hash
        if rows:
            with pytest.raises(ValueError, match=message):
                model.learn(made(rows), 1)
        else:
            model.learn(made(rows), 1)
        assert model.model_hash == before, "nothing half-learnt"
    empty_partitions = made(good).repartition(40)
    assert (
        lda(k=2, orderCol="id").fit(empty_partitions).model_hash == lda(k=2, orderCol="id").fit(made(good)).model_hash
    )
    with pytest.raises(ValueError, match="boost"):
        lda(k=2, method="g-oem++").fit(made(good))


SCHEMA = "id long, text string"
WORDS = ["flour", "star", "stars", "planets", "galaxy", "butter", "oven"]


def stream_options(folder):
    words = json.dumps({"vocabulary": WORDS})
    options = {"featuresCol": "text", "k": 2, "seed": 0, "batch": "40", "orderCol": "id", "textOptions": words}
    return options | {"checkpointDir": str(folder / "checkpoints")}


@pytest.fixture
def arriving(tmp_path):
    """Files that arrive one after the other, and the hash of each state of the model that one machine has."""
    folder = tmp_path / "in"
    folder.mkdir()
    corpus, alone, hashes = TextCorpus(texts(), vocabulary=WORDS), LDA(2, batch=40, random_state=0), []
    for part in range(4):
        lines = [json.dumps({"id": row, "text": texts()[row]}) for row in range(60 * part, 60 * part + 60)]
        path = folder / f"{part}.jsonl"
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + part, 1_700_000_000 + part))
        hashes.append(alone.partial_fit(corpus[60 * part : 60 * part + 60]).model_hash_)
    hashes.append(alone.partial_fit(corpus[180:]).model_hash_)
    return folder, hashes


def run_stream(session, folder, learn):
    """Files of a folder as a stream, one file a batch; Spark keeps its own record of what it has delivered."""
    reader = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder))
    writer = reader.writeStream.option("checkpointLocation", str(folder.parent / "delivered"))
    query = writer.foreachBatch(learn).trigger(availableNow=True).start()
    assert query.awaitTermination(200), "the stream has not ended"


def test_a_stream_counts_every_batch_once_whatever_is_killed(session, arriving, tmp_path, monkeypatch):
    folder, hashes = arriving
    model = lda(**stream_options(tmp_path)).stream()
    runners, plain = [], gibbstream.spark.Runner

    def killing(*arguments, **options):
        runners.append(Killing("executor", tmp_path, *arguments, at=2, **options))
        return runners[-1]

    def learn(batch, batch_id):
        # The executor that computes a block of the second update of batch 2 is killed.
        monkeypatch.setattr(gibbstream.spark, "Runner", killing if batch_id == 2 else plain)
        model.learn(batch, batch_id)
        assert model.model_hash == hashes[batch_id]

    run_stream(session, folder, learn)
    [runner] = runners
    assert runner.killed is not None
    assert not is_alive(runner.killed)
    assert (model.last_batch, model.model_hash) == (3, hashes[3])
    again = session.read.schema(SCHEMA).json(str(folder / "3.jsonl"))
    with pytest.warns(UserWarning, match="batch 3 was learnt from before"):
        model.learn(again, 3)
    assert model.model_hash == hashes[3], "it was delivered twice"
    # Another process finds model and batch number in the checkpoint.
    other = lda(**stream_options(tmp_path)).stream()
    assert (other.last_batch, other.model_hash) == (3, hashes[3])
    other.learn(again, 3)
    assert other.model_hash == hashes[3]
    other.learn(again, 4)
    assert other.model_hash == hashes[4]
    with pytest.raises(ValueError, match=r"started differently \(n_components\)"):
        lda(**(stream_options(tmp_path) | {"k": 3})).stream()


STREAM = """
    import os, pathlib, signal, sys
    sys.path[:0] = [sys.argv[1]]
    from clusters.test_spark import lda, run_stream, started, stream_options

    folder = pathlib.Path(sys.argv[2])
    model = lda(**stream_options(folder)).stream()

    def learn(batch, batch_id):
        model.learn(batch, batch_id)
        if batch_id == 1:
            # The model has it; Spark does not know yet that it was delivered.
            print("killed", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    run_stream(started(), folder / "in", learn)
"""


@in_the_whole_matrix
def test_a_batch_that_spark_delivers_again_after_the_driver_died_counts_once(session, arriving, tmp_path):
    folder, hashes = arriving
    tests = os.path.dirname(os.path.dirname(__file__))
    command = [sys.executable, "-c", textwrap.dedent(STREAM), tests, str(tmp_path)]
    died = subprocess.run(command, check=False, capture_output=True, text=True)
    assert died.returncode == -signal.SIGKILL, died.stderr[-3000:]
    assert "killed" in died.stdout
    model, delivered = lda(**stream_options(tmp_path)).stream(), []
    assert (model.last_batch, model.model_hash) == (1, hashes[1])

    def learn(batch, batch_id):
        delivered.append(batch_id)
        model.learn(batch, batch_id)
        assert model.model_hash == hashes[batch_id]

    run_stream(session, folder, learn)
    assert delivered == [1, 2, 3], "Spark has delivered batch 1 again"
    assert model.model_hash == hashes[3]


def test_what_was_learnt_from_a_frame_goes_on_with_a_stream(session, arriving, tmp_path):
    folder, _ = arriving
    fitted = session.read.schema(SCHEMA).json(str(folder / "0.jsonl"))
    corpus, options = TextCorpus(texts(), vocabulary=WORDS), stream_options(tmp_path) | {"resume": True}
    alone = LDA(2, batch=40, random_state=0).fit(corpus[:60])
    model = lda(**options).fit(fitted)
    copied = model.copy({model.checkpointDir: ""})
    assert model.model_hash == alone.model_hash_
    run_stream(session, folder, model.learn)
    for part in range(4):
        alone.partial_fit(corpus[60 * part : 60 * part + 60])
    assert model.model_hash == alone.model_hash_
    assert copied.model_hash != model.model_hash, "a copy does not learn with it"
    # The same lines again, as after the driver died: nothing is fitted anew, and no batch counts twice.
    again = lda(**options).fit(fitted)
    assert again.model_hash == copied.model_hash
    again.learn(fitted, 3)
    assert (again.last_batch, again.model_hash) == (3, model.model_hash)
    again.learn(fitted)
    assert again.last_batch == 3, "documents without a number count, and change no number"
    assert again.model_hash == alone.partial_fit(corpus[:60]).model_hash_
    other = lda(**(options | {"checkpointDir": ""})).fit(fitted.filter("id < 20"))
    other.setCheckpointDir(options["checkpointDir"])
    before = other.model_hash
    with pytest.raises(ValueError, match="begun with another model"):
        other.learn(fitted, 4)
    assert other.model_hash == before


def test_the_lines_of_the_guide(session):
    X = documents()[:200]
    df, stream = frame(session, X), session.readStream.format("rate").load()
    model = gibbstream.spark.LDA(k=128, seed=1, featuresCol="counts").fit(df)
    assert model.model_hash == LDA(128, random_state=1).fit(by_content(X)).model_hash_
    scored = model.transform(df)
    assert scored.first()["topicDistribution"].toArray().shape == (128,)
    assert stream.writeStream.foreachBatch(model.learn) is not None


def test_the_language_does_not_depend_on_partitions(session):
    english = ["the star is near the planet and the moon", "put the butter and the flour in the oven"] * 260
    german = ["der Stern ist nahe bei dem Planeten und dem Mond", "die Butter und das Mehl kommen in den Ofen"] * 40
    written = [*english, *german]
    alone = LDA(2, batch=100, random_state=0).fit(TextCorpus(written))
    assert {"the", "der"} & set(alone.vocabulary_) == {"der"}, "it was taken for English"
    rows = session.createDataFrame([*enumerate(written)][::-1], ["id", "text"])
    small = {"k": 2, "seed": 0, "batch": "100", "featuresCol": "text"}
    for partitions in (1, 5):
        model = gibbstream.spark.LDA(orderCol="id", **small).fit(rows.coalesce(1).repartition(partitions))
        assert model.model_hash == alone.model_hash_
    # What follows is cut as the first documents were.
    model.learn(rows.filter("id >= 520"), 0)
    assert model.model_hash == alone.partial_fit(german).model_hash_


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_ends_the_run_and_keeps_what_was_learnt(session, here, tmp_path):
    def press(_, record):
        if record["update"] == 4:
            os.kill(os.getpid(), signal.SIGINT)

    make, X = MODELS["LDA"]
    stopped, runner = make(callback=press), gibbstream.spark.Runner(2, checkpoint=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X(), runner=runner)
    assert 4 <= stopped.n_updates_ < 15
    runner.resume = True
    assert make().fit(X(), runner=runner).model_hash_ == here["LDA"]


def test_a_worker_with_other_arithmetic_stops_the_run(session):
    make, X = MODELS["LDA"]

    class Other(gibbstream.spark.Runner):
        def submit(self, task, view, blocks):
            return super().submit(task.replace('"self_test":"', '"self_test":"0'), view, blocks)

    estimator = make()
    with pytest.raises(RuntimeError, match="arithmetic differs from the driver's"):
        estimator.fit(X(), runner=Other(1))
    assert not hasattr(estimator, "components_")


def test_what_cannot_be_shared_out_is_refused_with_the_reason(session):
    X = documents()
    for estimator, options, message in [
        (LDA(4, method="g-oem++"), {}, "boosted inference refreshes the parameters after every pass"),
        (LDA(4, method="batch-gibbs"), {}, "draws one token of the corpus after another"),
        (HDP(), {"staleness": 1}, "topics come and go"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, runner=gibbstream.spark.Runner(2, **options))
        assert not hasattr(estimator, "components_")
    with pytest.raises(ValueError, match="column: there is no words; there are id, counts"):
        lda(featuresCol="words").fit(frame(session, X[:5]))
    elsewhere = types.SimpleNamespace(master="spark://head:7077")
    with pytest.raises(ValueError, match="directory: workers on other machines must read the parameters"):
        gibbstream.spark.Published(elsewhere, None)


def test_parameters_are_a_file_that_goes_when_the_run_is_over(session, tmp_path):
    seen = []
    runner = gibbstream.spark.Runner(2, directory=str(tmp_path))
    make, X = MODELS["LDA"]
    make(callback=lambda *_: seen.append(len(list(tmp_path.glob("gibbstream-*/*"))))).fit(X(), runner=runner)
    assert max(seen) <= 1, "parameters of one update at a time"
    assert not list(tmp_path.iterdir())

"""What an update costs beside its E-step, on Ray and on Spark, with two workers of one core each.

    python bench/clusters/overhead.py --engine ray --topics 128

Every update is timed in parts: making the parameters, the round (sending them, the E-step, getting statistics back),
merging and absorbing. With `--engine none` everything is computed here and processor time is taken, which other work on
the machine does not change. The E-step itself is timed in this process on the same blocks, one after the other, and the longest
of them is what the round would take on an engine that costs nothing. An empty round does nothing at all.

Times suffer from other work on the machine; processor time, of all processes of driver, engine and workers, hardly does. What the
engine costs is the processor time of the rounds without that of the E-steps.
"""

import argparse
import itertools
import json
import os
import statistics
import sys
import time

from corpora import synthetic
from processes import processor_seconds

import gibbstream
from gibbstream import LDA
from gibbstream._core import Driver, Worker
from gibbstream.sources import packed_rows


def ray_engine(workers):
    # Workers would let everything else on the machine go first.
    os.environ["RAY_worker_niceness"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    import gibbstream.ray

    store = {"num_cpus": 1, "object_store_memory": 1 << 30}
    cluster = Cluster(initialize_head=True, head_node_args={**store, "include_dashboard": False})
    for _ in range(workers - 1):
        cluster.add_node(**store)
    ray.init(address=cluster.address, logging_level="error", log_to_driver=False)
    nothing = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(lambda: None)

    def stop():
        ray.shutdown()
        cluster.shutdown()

    return (
        gibbstream.ray.Runner(workers, cpus_per_worker=1),
        lambda: ray.get([nothing.remote() for _ in range(workers)]),
        stop,
    )


def spark_engine(workers):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    import gibbstream.spark

    builder = SparkSession.builder.master(f"local-cluster[{workers},1,1024]")
    options = {"spark.ui.enabled": "false", "spark.driver.memory": "2g", "spark.executor.memory": "1g"}
    # Blocks are small beside statistics of 1,024 topics.
    for name, value in (options | {"spark.driver.maxResultSize": "2g", "spark.rpc.message.maxSize": "1024"}).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    context = session.sparkContext
    empty = lambda: context.parallelize(range(workers), workers).mapPartitions(lambda rows: []).collect()  # noqa: E731
    return gibbstream.spark.Runner(workers), empty, session.stop


def no_engine(workers):
    del workers
    return gibbstream.LocalRunner(), lambda: None, lambda: None


clock = time.perf_counter


def timed(work):
    start = clock()
    result = work()
    return result, 1000 * (clock() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=["ray", "spark", "none"], required=True)
    parser.add_argument("--topics", type=int, default=128)
    parser.add_argument("--vocabulary", type=int, default=50_000)
    parser.add_argument("--batch", type=int, default=2000)
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.engine == "none":
        global clock
        clock = time.process_time
    engines = {"ray": ray_engine, "spark": spark_engine, "none": no_engine}
    runner, empty, stop = engines[arguments.engine](arguments.workers)
    try:
        print(json.dumps(measured(arguments, runner, empty)), flush=True)
    finally:
        runner.close()
        stop()


def measured(arguments, runner, empty):
    X = synthetic((arguments.updates + 3) * arguments.batch, arguments.vocabulary)
    estimator = LDA(arguments.topics, batch=arguments.batch, random_state=0)
    rows, _ = estimator._begin(X, "fit")
    driver = Driver(estimator._model, 0)
    for packed in packed_rows(rows, as_numbers=False):
        driver.feed(packed)
    task = driver.task()
    runner.open(task)
    here, parts, spent = Worker(task, 1), [], {"steps": 0.0, "rounds": 0.0, "driver": 0.0, "empty": 0.0}
    for number in range(arguments.updates + 3):
        minibatch = driver.cut(False)
        began = time.process_time()
        view, view_ms = timed(lambda minibatch=minibatch: driver.view(minibatch))
        view_cpu = time.process_time() - began
        blocks = minibatch.blocks(arguments.workers)
        cpu = [processor_seconds()]
        steps = [timed(lambda block=block, view=view: here.answer(view, block))[1] for block in blocks]
        cpu.append(processor_seconds())
        answers, round_ms = timed(lambda view=view, blocks=blocks: list(runner.answers(runner.submit(task, view, blocks))))
        cpu.append(processor_seconds())
        gathering = driver.gather()
        _, merge_ms = timed(lambda answers=answers, gathering=gathering: [gathering.add(part) for _, part in answers])
        _, absorb_ms = timed(lambda minibatch=minibatch, gathering=gathering: driver.absorb(minibatch, gathering))
        cpu.append(processor_seconds())
        _, empty_ms = timed(empty)
        cpu.append(processor_seconds())
        if number >= 3:  # the first ones start processes
            for name, (before, after) in zip(spent, itertools.pairwise(cpu), strict=True):
                spent[name] += (after - before) / arguments.updates
            spent["driver"] += view_cpu / arguments.updates
            sent, received = len(view) + sum(map(len, blocks)), sum(len(part) for _, part in answers)
            own = view_ms + max(steps) + merge_ms + absorb_ms
            total = view_ms + round_ms + merge_ms + absorb_ms
            parts.append((view_ms, max(steps), round_ms, merge_ms, absorb_ms, empty_ms, own / total, sent, received))
    names = ["view_ms", "e_step_ms", "round_ms", "merge_ms", "absorb_ms", "empty_round_ms", "share_in_our_code"]
    medians = dict(zip([*names, "bytes_out", "bytes_back"], map(statistics.median, zip(*parts, strict=True)), strict=True))
    overhead = sorted(part[2] - part[1] for part in parts)
    return {
        "engine": arguments.engine,
        "topics": arguments.topics,
        "vocabulary": arguments.vocabulary,
        "batch": arguments.batch,
        "workers": arguments.workers,
        **{name: round(value, 3) for name, value in medians.items()},
        **{f"cpu_seconds_{name}": round(value, 3) for name, value in spent.items()},
        "cpu_seconds_of_the_engine": round(spent["rounds"] - spent["steps"], 3),
        "cpu_share_in_our_code": round((spent["steps"] + spent["driver"]) / (spent["rounds"] + spent["driver"]), 3),
        "round_beyond_e_step_ms": round(statistics.median(overhead), 1),
        "p10": round(overhead[len(overhead) // 10], 1),
        "p90": round(overhead[-1 - len(overhead) // 10], 1),
        "load_average": os.getloadavg()[0],
    }


if __name__ == "__main__":
    main()

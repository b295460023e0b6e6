"""An engine for tests: everything that real ones do to a run, on purpose and counted."""

import random
from collections import Counter

from gibbstream._core import Worker
from gibbstream.runner import Runner


class FaultyRunner(Runner):
    """Answers late, out of order, twice, or after workers have died; every fault is counted in `faults`."""

    def __init__(self, workers=3, *, seed=0, kinds=("none", "died", "twice", "late"), **options):
        super().__init__(workers, **options)
        self.faults = Counter()
        self._kinds = kinds
        self._random = random.Random(seed)
        self._workers = {}

    def submit(self, task, view, blocks):
        # What travels is a copy.
        return task, bytes(bytearray(view)), [bytes(bytearray(block)) for block in blocks]

    def answers(self, work):
        task, view, blocks = work
        waiting = list(enumerate(blocks))
        self._random.shuffle(waiting)
        if [number for number, _ in waiting] != sorted(number for number, _ in waiting):
            self.faults["shuffled"] += 1
        late = []
        while waiting:
            number, block = waiting.pop(0)
            fault = self._random.choice(self._kinds)
            if fault == "node":
                # All workers are gone, with what they had computed and nobody has fetched.
                self._worker(task, number).answer(view, block)
                self._workers.clear()
                waiting += [(number, block), *((lost, blocks[lost]) for lost, _ in late)]
                late = []
                self.faults["node"] += 1
                continue
            if fault == "died":
                # It had computed something, but nobody will ever see it.
                self._worker(task, number).answer(view, block)
                self._workers.clear()
                waiting.append((number, block))
                self.faults["died"] += 1
                continue
            statistics = self._worker(task, number).answer(view, block)
            if fault == "late":
                late.append((number, statistics))
                self.faults["late"] += 1
                continue
            yield number, statistics
            if fault == "twice" and waiting:
                # A speculative copy, computed by somebody else.
                yield number, Worker(task, 2).answer(view, block)
                self.faults["twice"] += 1
        yield from late

    def _worker(self, task, number):
        key = number % self.workers
        if key not in self._workers:
            self._workers[key] = Worker(task, 1)
        return self._workers[key]

"""Processor time of everything that a measurement has started: driver, engine and workers."""

import os
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def processor_seconds():
    """Of this process, those below it, and what they had left behind."""
    stats = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                stats[int(folder.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / TICK)
            except (OSError, ValueError):
                continue

    def is_below(pid):
        while pid in stats and pid != os.getpid():
            pid = stats[pid][0]
        return pid == os.getpid()

    return sum(seconds for pid, (_, seconds) in stats.items() if is_below(pid))

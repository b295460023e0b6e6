"""A progress bar on standard error."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_WIDTH = 30
_PERIOD_SECONDS = 0.1


class ProgressBar:
    """One line that is written over as the work goes on; where standard error is no terminal, one line at the end."""

    def __init__(self, label: str, total: int | None, stream: TextIO | None = None) -> None:
        self._label = label
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._started = self._shown = time.monotonic()
        self._line = ""

    def advance(self, documents: int, tokens: int, note: str) -> None:
        """Shows how far the work is."""
        now = time.monotonic()
        seconds = max(now - self._started, 1e-9)
        speed = f"{documents / seconds:,.0f} docs/s, {tokens / seconds:,.0f} tokens/s"
        if self._total:
            share = min(documents / self._total, 1.0)
            full = int(share * _WIDTH)
            left = seconds * (1 - share) / share if share > 0 else 0.0
            bar = f"{share:4.0%} |{'█' * full}{' ' * (_WIDTH - full)}| {documents:,}/{self._total:,}"
            self._line = f"{self._label}: {bar} [{_clock(seconds)}<{_clock(left)}, {speed}, {note}]"
        else:
            self._line = f"{self._label}: {documents:,} documents [{_clock(seconds)}, {speed}, {note}]"
        if self._stream.isatty() and now - self._shown >= _PERIOD_SECONDS:
            self._shown = now
            self._write(f"\r\033[K{self._line}")

    def close(self) -> None:
        """Leaves the last state on the screen."""
        if self._line:
            self._write((f"\r\033[K{self._line}" if self._stream.isatty() else self._line) + "\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes:02}:{seconds:02}"

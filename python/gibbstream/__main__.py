"""The ``gibbstream`` program: ``python -m gibbstream``, or ``gibbstream`` once the package is installed."""

import sys

from gibbstream._core import run_program


def main() -> int:
    """Run the program with the arguments of this process, and return its exit code."""
    return run_program(["gibbstream", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

"""Running the pages of the documentation: commands and code blocks, and what they print.

A `console` block holds commands after `$ ` and what each prints, on either stream. A `python` block may be followed
by a `text` block with what it prints. `...` stands for anything, and times may differ. With GIBBSTREAM_UPDATE_DOCS
set, what is printed is written into the pages instead of compared.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
from pathlib import Path

from conftest import ROOT

BLOCK = re.compile(r"^```(console|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands that a page may show to be run here; others, such as installing things, are only read.
RUN = {"cat", "echo", "gibbstream", "head", "python3"}
UPDATE = bool(os.environ.get("GIBBSTREAM_UPDATE_DOCS"))


def plain(text):
    """Text without times, which differ from run to run."""
    return re.sub(r"\d+(\.\d+)? s\b", "# s", text)


def check(expected, found, where):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    checker = doctest.OutputChecker()
    assert checker.check_output(plain(expected), plain(found), flags), (
        f"{where} prints\n{found}\nand the page says\n{expected}"
    )


def console(block, run, where):
    """Runs the commands of a block, checks what they print, and returns the block as it should be."""
    lines = []
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command += "\n" + more
        lines.append(f"$ {command}\n")
        if shlex.split(command.replace("\\\n", " "))[0] not in RUN:
            lines.append(expected)
            continue
        printed = run(command)
        if not expected.strip():
            continue
        if not UPDATE:
            check(expected, printed, f"{where}: {command}")
        lines.append(expected if "..." in expected else printed)
    return "".join(lines)


def run_page(path, folder, program):
    """Runs a page in a folder. Without a program, only its Python blocks."""
    page = Path(path).read_text()
    with contextlib.suppress(FileExistsError):
        (folder / "examples").symlink_to(ROOT / "examples")
    names = {"__name__": "page"}
    environment = os.environ | {"NO_COLOR": "1", "GIBBSTREAM_NO_PROGRESS": "1", "MPLBACKEND": "Agg"}
    if program:
        environment["PATH"] = f"{Path(program).parent}:{environment['PATH']}"
    printed, ran = None, 0

    def shell(command):
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{path}: {command}\n{done.stderr}"
        return done.stderr + done.stdout

    def step(found):
        nonlocal printed, ran
        kind, block = found.groups()
        if kind == "console":
            printed = None
            if program is None:
                return found.group()
            ran += 1
            return f"```console\n{console(block, shell, path)}```"
        if kind == "python":
            ran += 1
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block, str(path), "exec"), names)
            printed = out.getvalue()
            return found.group()
        if printed is None:
            return found.group()
        expected, found_text, printed = block, printed, None
        if not UPDATE:
            check(expected, found_text, path)
        return f"```text\n{expected if '...' in expected else found_text}```"

    page = BLOCK.sub(step, page)
    if UPDATE:
        Path(path).write_text(page)
    return ran

"""Everything that is shown to users runs."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gibbstream
from conftest import ROOT
from pages import run_page

MODULES = [
    f"gibbstream.{module.name}" for module in pkgutil.iter_modules(gibbstream.__path__) if module.name != "_core"
]
# Pages whose blocks are run, with the number of blocks that they have at least.
BLOCKS = {
    "README.md": 2,
    "docs/migrating.md": 3,
    "docs/python.md": 10,
    "docs/single-cell.md": 2,
    "docs/streams.md": 2,
    "docs/text.md": 3,
    "docs/tutorial.md": 3,
}
PAGES = sorted(BLOCKS)
# Engines that `make clusters` installs.
ENGINES = {"gibbstream.ray": "ray", "gibbstream.spark": "pyspark"}
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("module", ["gibbstream", *MODULES])
def test_docstrings(module):
    if module in ENGINES:
        pytest.importorskip(ENGINES[module], reason=f"{module} IS NOT CHECKED: its engine is not installed")
    assert doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def members(owner):
    """Those of the class and of our classes that it is made from."""
    ours = (kind for kind in owner.__mro__ if kind.__module__.startswith("gibbstream"))
    return (member for kind in ours for member in vars(kind).items())


def test_public_names_are_documented():
    undocumented = [
        f"{owner.__name__}.{name}"
        for owner in (gibbstream.LDA, gibbstream.HDP, gibbstream.TextCorpus, gibbstream.Comparison)
        for name, member in members(owner)
        if not name.startswith("_") and (callable(member) or isinstance(member, property)) and not member.__doc__
    ]
    assert undocumented == []
    assert all(getattr(gibbstream, name).__doc__ for name in gibbstream.__all__ if name != "__version__")


# Pages may leave a file to be closed when the program ends, as scripts do.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("page", PAGES)
def test_pages(page, tmp_path, monkeypatch):
    """All blocks of a page, one after the other, with what they print."""
    if page == "docs/single-cell.md":
        pytest.importorskip("anndata", reason=f"{page} IS NOT RUN: pip install anndata")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    program = os.environ.get("GIBBSTREAM_PROGRAM")
    if not program:
        warn = f"THE COMMANDS OF {page} ARE NOT RUN: name the program in GIBBSTREAM_PROGRAM"
        sys.stderr.write(f"SKIPPED: {warn}\n")
    assert run_page(ROOT / page, tmp_path, program and (ROOT / program).resolve()) >= BLOCKS[page]


def anchors(page):
    """What headings can be linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links():
    broken = []
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    assert len(pages) > 30
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            found = (page.parent / path).resolve() if path else page
            if not found.exists() or (anchor and found.suffix == ".md" and anchor not in anchors(found)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_a_wrong_page_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n```text\n2\n```\n")
    with pytest.raises(AssertionError, match="and the page says\n2"):
        run_page(page, tmp_path, None)
    page.write_text("```console\n$ head -1 missing.txt\n```\n")
    with pytest.raises(AssertionError, match="No such file"):
        run_page(page, tmp_path, Path("/bin/head"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_examples(script, tmp_path):
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_types_of_a_program_of_a_user(tmp_path):
    sample = Path(__file__).with_name("typed_sample.py")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, sample],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout

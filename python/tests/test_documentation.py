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

MODULES = [
    f"gibbstream.{module.name}" for module in pkgutil.iter_modules(gibbstream.__path__) if module.name != "_core"
]
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


def test_the_guide(tmp_path, monkeypatch):
    """All blocks of the guide, one after the other, as in a notebook."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), flags=re.DOTALL)
    assert len(blocks) > 5
    names = {"__name__": "guide"}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)


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

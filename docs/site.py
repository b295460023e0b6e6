"""Puts the pages of the site together in target/docs: those that are written, and those that the program writes.

Usage: python docs/site.py PROGRAM, where the package is installed.
"""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import yaml

import gibbstream

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "target" / "docs"
PAGES = BUILD / "pages"

# Pages of the repository's root, and what they are called on the site.
AT_THE_ROOT = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "RELEASING.md": "releasing.md",
}

NAVIGATION = {
    "Home": "index.md",
    "Tutorial": "tutorial.md",
    "How-to guides": [
        "tasks.md",
        "streams.md",
        "migrating.md",
        "single-cell.md",
        "readable-topics.md",
        "working-with-topics.md",
        "page.md",
        "service.md",
        "clusters.md",
    ],
    "Explanation": [
        "how-it-works.md",
        "scores.md",
        "methods.md",
        "hdp.md",
        "models.md",
        "custom-models.md",
        "science.md",
    ],
    "Reference": [
        "commands.md",
        "python.md",
        "python-reference.md",
        "rust.md",
        "json.md",
        "model-format.md",
        "glossary.md",
    ],
    "Help": ["faq.md", "troubleshooting.md"],
    "Project": [
        "benchmarks.md",
        "benchmarks-peers.md",
        "reproduce.md",
        "paper.md",
        "reliability.md",
        "architecture.md",
        "contributing.md",
        "releasing.md",
        "changelog.md",
    ],
}


def main(program):
    """Writes all pages and the configuration."""
    shutil.rmtree(BUILD, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.py", "requirements.txt")
    shutil.copytree(ROOT / "docs", PAGES, ignore=ignored)
    for source, target in AT_THE_ROOT.items():
        shutil.copy(ROOT / source, PAGES / target)
    for page in PAGES.rglob("*.md"):
        page.write_text(relinked(page))
    (PAGES / "commands.md").write_text(commands(program))
    (PAGES / "python-reference.md").write_text(python_reference())
    python_sources()
    (BUILD / "mkdocs.yml").write_text(yaml.safe_dump(configuration(), sort_keys=False))


def relinked(page):
    """The text of a page, its links pointing to where things are on the site."""
    # Where the page was in the repository, which its links are relative to.
    origins = {target: ROOT / source for source, target in AT_THE_ROOT.items()}
    name = str(page.relative_to(PAGES))
    origin = origins.get(name, ROOT / "docs" / name)
    up = "../" * (len(page.relative_to(PAGES).parts) - 1)

    def link(found):
        text, target = found.groups()
        path, hash_, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return found.group()
        there = (origin.parent / path).resolve()
        if not there.is_relative_to(ROOT):
            return found.group()
        relative = str(there.relative_to(ROOT))
        if relative in AT_THE_ROOT:
            return f"[{text}]({up}{AT_THE_ROOT[relative]}{hash_}{anchor})"
        if relative.startswith("docs/") and there.is_file():
            return f"[{text}]({up}{relative.removeprefix('docs/')}{hash_}{anchor})"
        # A file of the repository that is not a page.
        if text.startswith("`"):
            return text
        return f"`{relative}`" if text in relative else f"{text} (`{relative}`)"

    # Pictures keep their exclamation mark, which stands before the bracket.
    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, origin.read_text())


def commands(program):
    """Every command with every flag, as the program describes them."""
    top = helped(program)
    names = re.findall(r"^  ([a-z][a-z-]*) ", top.split("Commands:")[1].split("\n\n")[0], flags=re.MULTILINE)
    parts = [
        "# Commands\n\nGenerated from the program itself: `gibbstream COMMAND --help` prints the same.\n\n"
        "Every flag of `train` and every general option can also be set by an environment variable, such as "
        "`GIBBSTREAM_MAX_DF` for `--max-df`, or in a file that `--config` names. Flags on the command line win.\n",
        f"## gibbstream\n\n```text\n{top}```\n",
    ]
    for name in names:
        if name != "help":
            parts.append(f"## {name}\n\n```text\n{helped(program, name)}```\n")
    return "\n".join(parts)


def helped(program, *command):
    """The help of a command, 80 columns wide, without the lines that name environment variables."""
    environment = {"NO_COLOR": "1", "COLUMNS": "80"}
    done = subprocess.run([program, *command, "--help"], env=environment, capture_output=True, text=True, check=True)
    text = "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"
    return re.sub(r"\n\n +\[env: \w+=?\]\n", "\n", text)


def python_reference():
    """Every public name of the package."""
    init = (ROOT / "python" / "gibbstream" / "__init__.py").read_text()
    names = re.findall(r'^    "(\w+)",$', init.split("__all__ = [")[1].split("]")[0], flags=re.MULTILINE)
    shown = [name for name in names if not name.startswith("__")]
    # What an estimator inherits is shown with it.
    entries = "\n".join(f"::: gibbstream.{name}\n    options:\n      inherited_members: true\n" for name in shown)
    return (
        f"# Python reference\n\nGenerated from the docstrings. [The guide](python.md) shows them at work.\n\n{entries}"
    )


def python_sources():
    """The package as text, with what the compiled part says about parameters."""
    copy = BUILD / "python" / "gibbstream"
    shutil.copytree(ROOT / "python" / "gibbstream", copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for module in copy.rglob("*.py"):
        text = module.read_text()

        def knobs(found, text=text):
            owner = re.findall(r"^class (\w+)", text[: found.start()], flags=re.MULTILINE)[-1]
            return textwrap.indent(getattr(gibbstream, owner)._knob_texts, "    ")

        text = re.sub(r"^    \{knobs\}\n", knobs, text, flags=re.MULTILINE)
        # Roles of Sphinx; the site shows what they name as code.
        module.write_text(re.sub(r":(?:class|meth|func|attr):`~?([^`]+)`", r"``\1``", text))


def configuration():
    """What MkDocs is to do."""

    def entries(pages):
        return [page for page in pages if (PAGES / page).exists()]

    navigation = [{name: pages if isinstance(pages, str) else entries(pages)} for name, pages in NAVIGATION.items()]
    listed = {page for pages in NAVIGATION.values() for page in ([pages] if isinstance(pages, str) else pages)}
    others = sorted(str(page.relative_to(PAGES)) for page in PAGES.rglob("*.md"))
    return {
        "site_name": "gibbstream",
        "site_description": "Fast, accurate topic models for documents that arrive as a stream",
        "docs_dir": "pages",
        "nav": navigation,
        "not_in_nav": "\n".join(f"/{page}" for page in others if page not in listed),
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            # Nothing is fetched from other hosts.
            "font": False,
            "features": ["navigation.tabs", "navigation.top", "content.code.copy", "search.highlight", "toc.follow"],
            "palette": [
                {
                    "media": "(prefers-color-scheme: light)",
                    "scheme": "default",
                    "toggle": {"icon": "material/weather-night", "name": "Dark"},
                },
                {
                    "media": "(prefers-color-scheme: dark)",
                    "scheme": "slate",
                    "toggle": {"icon": "material/weather-sunny", "name": "Light"},
                },
            ],
        },
        "markdown_extensions": [
            "admonition",
            "tables",
            "attr_list",
            {"toc": {"permalink": True}},
            "pymdownx.superfences",
            "pymdownx.highlight",
            {"pymdownx.tabbed": {"alternate_style": True}},
        ],
        "plugins": [
            "search",
            {
                "mkdocstrings": {
                    "handlers": {
                        "python": {
                            "paths": ["python"],
                            "options": {
                                "docstring_style": "numpy",
                                "show_root_heading": True,
                                "show_source": False,
                                "heading_level": 2,
                                "filters": ["!^_"],
                            },
                        }
                    }
                }
            },
        ],
        "validation": {"links": {"anchors": "warn"}},
    }


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))

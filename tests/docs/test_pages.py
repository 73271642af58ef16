"""The documentation: its Python runs, page by page, and every page is in the navigation."""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import compilation
import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = ["README.md", "docs/index.md", "docs/tutorial.md", "docs/cmdstanpy.md", "docs/numpyro.md", "docs/many.md",
         "docs/long_runs.md", "docs/discrete.md", "docs/large.md", "docs/hundred_million.md", "docs/rows.md",
         "docs/prediction.md", "docs/troubleshooting.md", "docs/gpu.md", "docs/editors.md", "docs/workers.md",
         "docs/moving.md", "docs/samplers.md", "docs/adding.md", "docs/deepstan.md",
         "docs/rejections.md"]  # fmt: skip
LONG = {"docs/numpyro.md", "docs/many.md", "docs/large.md", "docs/hundred_million.md", "docs/samplers.md",
        "docs/troubleshooting.md"}  # fmt: skip
EACH = [pytest.param(p, marks=pytest.mark.slow) if p in LONG else p for p in PAGES]
# Fewer iterations, for the tests that run every time.
SHORT = [
    (r"(iter_warmup|iter_sampling|num_warmup|num_samples)=\d+", r"\1=100"),
    (r"4000 // 4", "100"), (r"\(1000, 8\)", "(100, 8)"),
    (r"jax.random.PRNGKey\(2\), 500", "jax.random.PRNGKey(2), 50"),
    (r"N, K = 10+_000_000", "N, K = 20_000"), (r"size=200_000", "size=20_000"), (r"iter=[\d_]+", "iter=300"),
]  # fmt: skip


def python_of(page: str) -> str:
    """The Python blocks of a page, as one program whose lines keep their numbers."""
    lines, inside = [], False
    for line in (ROOT / page).read_text().splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


def files_of(page: str) -> dict[str, str]:
    """The blocks of a page that are files, by name."""
    blocks = re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```$', (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return dict(blocks)


def shortened(code: str) -> str:
    for pattern, shorter in SHORT:
        code = re.sub(pattern, shorter, code)
    return code


def run(page: str, folder: pathlib.Path, short: bool) -> None:
    """Run a page's scripts and its code in a folder where models/ is, without a display."""
    shutil.copytree(ROOT / "models", folder / "models", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in files_of(page).items():
        (folder / name).write_text(shortened(text) if short else text)
    program = folder / f"page_{pathlib.Path(page).stem}.py"
    program.write_text(shortened(python_of(page)) if short else python_of(page))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg", "PYTHONWARNINGS": "ignore"}
    if short:
        environment = compilation.quickly(environment)
    for script in (*(n for n in files_of(page) if n.endswith(".py")), program.name):
        done = subprocess.run(
            [sys.executable, script], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.sampled(10)
@pytest.mark.parametrize("page", EACH)
def test_the_code_of_a_page_runs(page, tmp_path):
    assert python_of(page).strip(), f"{page} has no Python"
    run(page, tmp_path, short=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_as_it_stands(page, tmp_path):
    run(page, tmp_path, short=False)


def test_every_page_is_in_the_navigation():
    listed = re.findall(r"^ *- (?:.*: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}


def test_links_between_files_of_the_checkout_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "models" / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_architecture_names_files_that_exist():
    text = "".join((ROOT / "docs" / f"{page}.md").read_text() for page in ("architecture", "modules", "adding"))
    known = {p.name for package in ("stanimport", "stanlib", "tests") for p in (ROOT / package).rglob("*.py")}
    named = {pathlib.PurePosixPath(n).name for n in re.findall(r"`([\w/.<>]+\.py)`", text)}
    assert named - known == set()

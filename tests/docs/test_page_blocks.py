"""Every block of every page: code runs, what configures other tools is read as they do, nothing is left unlabelled."""
from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import compilation
import pytest
from test_pages import PAGES, ROOT, files_of

import stanimport


class Block(NamedTuple):
    """A block: its page, line, language, the title that it has as a file, and its text."""

    page: str
    line: int
    language: str
    title: str
    text: str


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page."""
    found, lines, start = [], (ROOT / page).read_text().splitlines(), None
    for i, line in enumerate(lines):
        if line.startswith("```"):
            if start is None:
                start = i
                continue
            language, _, rest = lines[start][3:].partition(" ")
            title = re.fullmatch(r'title="(\S+)"', rest)
            text = "\n".join(lines[start + 1 : i]) + "\n"
            found.append(Block(page, start + 1, language, title[1] if title else "", text))
            start = None
    assert start is None, f"{page}: a block is left open"
    return found


BLOCKS = [b for p in ["README.md", *(f"docs/{f.name}" for f in sorted((ROOT / "docs").glob("*.md")))]
          for b in blocks_of(p)]  # fmt: skip
# Blocks that are run, built or read elsewhere: by page and what they begin with.
ELSEWHERE = {
    ("README.md", "python3 -m venv"): "tests/packaging/test_wheel.py",
    ("README.md", ".venv/bin/python -m pytest"): "tests/packaging/test_wheel.py",
    ("docs/extensions.md", "# circles/records.py"): "tests/packaging/test_extensions.py",
    ("docs/packages.md", "pyinstaller"): "tests/packaging/test_pyinstaller.py",
    ("docs/packages.md", "stanimport stubs weather"): "tests/packaging/test_stubs.py",
}
OTHER_LANGUAGES = {"lua", "lisp", "r"}  # of editors, and of R, where nothing of ours runs


def of(*languages: str) -> list[Block]:
    return [b for b in BLOCKS if b.language in languages and not elsewhere(b)]


def elsewhere(b: Block) -> str:
    return next((t for (page, begin), t in ELSEWHERE.items() if page == b.page and b.text.startswith(begin)), "")


def name(b: Block) -> str:
    return f"{b.page}:{b.line}"


def test_every_block_is_of_a_kind_that_is_tried():
    tried = {"python", "py", "sh", "stan", "json", "toml", "yaml", "ini", "text", *OTHER_LANGUAGES}
    assert [name(b) for b in BLOCKS if b.language not in tried] == []
    assert all((ROOT / t).exists() for t in ELSEWHERE.values())
    own = {"docs/notebook.md", "docs/packages.md", "docs/extensions.md"}  # below
    assert [name(b) for b in of("python") if b.page not in PAGES and b.page not in own] == []
    assert [name(b) for b in of("text") if re.search(r"^(import|from|svi|fit) ", b.text, re.MULTILINE)] == []


@pytest.mark.parametrize("block", of("stan"), ids=name)
def test_stan(block, tmp_path):
    """Programs are without errors, fragments have Stan's syntax."""
    text = re.sub(r"^%%stan.*\n", "", block.text)
    if re.search(r"^(data|parameters|model|networks) \{", text, re.MULTILINE):
        missing = "data { int side; int hidden; } " if "hidden" in text else ""
        networks = re.match(r"networks \{.*?\n\}", text, re.DOTALL)
        head = networks[0] + "\n" if networks else ""
        stanimport.check("block.stan", source=head + missing + text[len(head) :])
    else:
        assert stanimport.format("block.stan", source=f"model {{\n{text}\n}}")


@pytest.mark.parametrize("block", of("json", "toml", "yaml", "ini"), ids=name)
def test_configurations(block):
    if block.language == "yaml":
        yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
        hooks = yaml.safe_load(block.text)["repos"][0]["hooks"]
        assert all(h["entry"].startswith("stanimport ") for h in hooks)
    elif block.language == "ini":
        made = configparser.ConfigParser()
        made.read_string(block.text)
        assert made.sections()
    else:
        assert {"json": json.loads, "toml": tomllib.loads}[block.language](block.text)


COMMANDS = [(b, line) for b in of("sh") for line in b.text.splitlines() if line.strip()]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("block", "line"), COMMANDS, ids=[f"{name(b)} {line[:30]}" for b, line in COMMANDS])
def test_commands(block, line, tmp_path):
    """Commands run, installations name extras that there are, and scripts are those that the page has run."""
    command = line.partition("#")[0].strip().replace(".venv/bin/", "")
    if command.startswith("pip install"):
        known = (ROOT / "setup.cfg").read_text().partition("[options.extras_require]")[2]
        assert all(re.search(rf"^{e} =", known, re.MULTILINE) for e in re.findall(r"\[(\w+)\]", command))
    elif command.startswith("python "):
        assert set(re.findall(r"python (\S+)", command)) <= set(files_of(block.page))
    elif command.startswith("export XLA_FLAGS="):
        flags = command.removeprefix("export XLA_FLAGS=")
        code = f"import os; os.environ['XLA_FLAGS'] = {flags!r}; import jax.numpy as n; assert n.ones(2).sum() == 2"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).returncode == 0
    else:
        _run(command, block.page, tmp_path)


def _run(command: str, page: str, folder: Path) -> None:
    """A command of ours, in a folder with the models, and the files that the page shows."""
    program, *arguments = command.split()
    assert program == "stanimport", command
    shutil.copytree(ROOT / "models", folder / "models", ignore=shutil.ignore_patterns("__pycache__"))
    for title, text in files_of(page).items():
        (folder / title).write_text(text)
    done = subprocess.run([sys.executable, "-m", "stanimport", *arguments], cwd=folder, capture_output=True, text=True,
                          env=compilation.quickly(os.environ))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_notebook():
    pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    for block in blocks_of("docs/notebook.md"):
        result = shell.run_cell(block.text)
        assert result.success, result
    InteractiveShell.clear_instance()


def test_functions_in_python():
    (block,) = [b for b in of("python") if b.page == "docs/extensions.md"]
    exec(compile(block.text, block.page, "exec"), {})


def test_a_package(tmp_path, monkeypatch):
    """What the page on packages imports is there, and the wrong argument that it shows is one."""
    package, use = [b for b in of("python") if b.page == "docs/packages.md"]
    assert package.text.startswith("# weather/__init__.py")
    folder = tmp_path / "weather"
    folder.mkdir()
    (folder / "__init__.py").write_text(package.text)
    (folder / "rain.stan").write_text("data { int days; } parameters { real<lower=0> rate; }")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(stanimport.StanDataError, match="days must hold numbers"):
        exec(compile(use.text, use.page, "exec"), {})


@pytest.mark.slow
@pytest.mark.parametrize("block", of("py"), ids=name)
def test_scripts_for_clusters(block, tmp_path):
    """On a cluster of one machine."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    program = "data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(m, 1); }"
    (tmp_path / "regression.stan").write_text(program)
    (tmp_path / "regression.json").write_text(json.dumps({"N": 300, "y": [0.5] * 300}))
    alone = f'jax.distributed.initialize("localhost:{port}", num_processes=1, process_id=0)'
    assert "jax.distributed.initialize()" in block.text
    (tmp_path / "fit.py").write_text(block.text.replace("jax.distributed.initialize()", alone))
    done = subprocess.run([sys.executable, "fit.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env=compilation.quickly(os.environ))  # fmt: skip
    assert done.returncode == 0 and (tmp_path / "draws.nc").exists(), done.stdout + done.stderr

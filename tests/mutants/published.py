"""Published programs with data of moderate size: posteriordb, files beside programs, or folders of the same layout."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import stanimport
from stanimport.inference import read_data
from stanlib.errors import StanError

SUFFIXES = (".json", ".data.json", ".data.R")
# Where solvers approximate, Stan's numbers and ours agree to their tolerance only.
SOLVERS = re.compile(r"\b(ode|dae|integrate|algebra|solve|laplace)\w*\(")


def programs(folder: Path, most: int) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The programs below a folder that have data of at most that many bytes, once each."""
    posteriors = folder / "posterior_database"
    yield from _posteriordb(posteriors, most) if posteriors.is_dir() else _beside(folder, most)


def _posteriordb(folder: Path, most: int) -> Iterator[tuple[Path, dict[str, Any]]]:
    seen = set()
    for path in sorted((folder / "posteriors").glob("*.json")):
        entry = json.loads(path.read_text())
        model, data = entry["model_name"], folder / "data" / "data" / f"{entry['data_name']}.json.zip"
        if model in seen or not data.is_file():
            continue
        with zipfile.ZipFile(data) as archive:
            text = archive.read(archive.namelist()[0])
        if len(text) <= most:
            seen.add(model)
            yield folder / "models" / "stan" / f"{model}.stan", json.loads(text)


def _beside(folder: Path, most: int) -> Iterator[tuple[Path, dict[str, Any]]]:
    for program in sorted(folder.rglob("*.stan")):
        path = next((p for p in map(program.with_suffix, SUFFIXES) if p.is_file()), None)
        if path is not None and path.stat().st_size <= most:
            yield program, read_data(path)


def text_of(program: Path) -> str | None:
    """The program in today's Stan without comments; None for one that Stan refuses, or that solves equations."""
    try:
        text = stanimport.format(program, canonicalize=True)
        text = re.sub(r"/\*.*?\*/", "", re.sub(r"//[^\n]*", "", text), flags=re.S)
        stanimport.check(program, source=text, strict=True)
    except (StanError, OSError):
        return None
    return text if SOLVERS.search(text) is None else None

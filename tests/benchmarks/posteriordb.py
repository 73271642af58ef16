"""Posteriors of posteriordb with reference draws: programs, data, and points of their posteriors."""
from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent.parent


def folder() -> Path | None:
    """The checkout of stan-dev/posteriordb: $POSTERIORDB, or corpora/posteriordb beside this project."""
    candidates = [os.environ.get("POSTERIORDB"), ROOT.parent / "corpora/posteriordb"]
    found = (Path(c) / "posterior_database" for c in candidates if c)
    return next((f for f in found if f.is_dir()), None)


def every(database: Path) -> list[str]:
    """All posteriors."""
    return sorted(f.stem for f in (database / "posteriors").glob("*.json"))


def names(database: Path) -> list[str]:
    """The posteriors whose reference draws are there."""
    return [name for name in every(database) if _draws(database, name).exists()]


def program(database: Path, name: str) -> Path:
    return database / f"models/stan/{_record(database, name)['model_name']}.stan"


def data(database: Path, name: str) -> dict[str, Any]:
    return _zipped(database / f"data/data/{_record(database, name)['data_name']}.json.zip")


def points(database: Path, name: str, count: int = 2) -> list[dict[str, Any]]:
    """Some of the reference draws, as dicts of parameters on the constrained scale."""
    chain = _zipped(_draws(database, name))[0]
    length = len(next(iter(chain.values())))
    chosen = range(length - 1, 0, -(length // count))
    return [_gathered({k: v[i] for k, v in chain.items()}) for i in chosen][:count]


def ranges(database: Path, name: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The least and the greatest of all reference draws of each variable, component by component."""
    chains = _zipped(_draws(database, name))
    every = {k: np.concatenate([chain[k] for chain in chains]) for k in chains[0]}
    least, greatest = (_gathered({k: of(v) for k, v in every.items()}) for of in (np.min, np.max))
    return {k: (least[k], greatest[k]) for k in least}


def written(database: Path, name: str, folder: Path) -> tuple[Path, Path]:
    """The files of a program and its data in a folder, which is not in the package that the checkout may be."""
    text = folder / "data.json"
    text.write_text(json.dumps(data(database, name)))
    path = folder / f"{name.replace('-', '_')}.stan"
    path.write_text(program(database, name).read_text())
    return path, text


def _draws(database: Path, name: str) -> Path:
    reference = _record(database, name).get("reference_posterior_name")
    return database / f"reference_posteriors/draws/draws/{reference}.json.zip"


def _record(database: Path, name: str) -> dict[str, Any]:
    return json.loads((database / f"posteriors/{name}.json").read_text())


def _zipped(path: Path) -> Any:
    with zipfile.ZipFile(path) as z:
        return json.loads(z.read(z.namelist()[0]))


def _gathered(components: dict[str, float]) -> dict[str, Any]:
    """Arrays from numbers with names such as 'theta[2,1]'."""
    found: dict[str, dict[tuple[int, ...], float]] = {}
    for name, value in components.items():
        base, index = re.fullmatch(r"(\w+)(?:\[([\d,]+)\])?", name).groups()
        found.setdefault(base, {})[tuple(int(i) - 1 for i in index.split(",")) if index else ()] = value
    out = {}
    for base, entries in found.items():
        array = np.zeros(np.max(list(entries), axis=0) + 1 if () not in entries else ())
        for index, value in entries.items():
            array[index] = value
        out[base] = array
    return out

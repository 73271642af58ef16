"""Programs that have gone wrong, shrunk, with what Stan computes: `python -m tests.random_programs.corpus FILE.stan`.

Each FILE.stan has its data beside it in FILE.json. The command writes corpus/FILE.stan and corpus/FILE.json, which
holds data, points of the unconstrained scale, and Stan's outcomes there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .program import RandomProgram
from .referee.outcome import Outcome
from .trial import points

FOLDER = Path(__file__).parent / "corpus"
NAMES = sorted(p.stem for p in FOLDER.glob("*.stan"))


def load(name: str) -> tuple[RandomProgram, list[np.ndarray], list[Outcome]]:
    """A program of the corpus, points, and Stan's outcomes."""
    text = (FOLDER / f"{name}.stan").read_text()
    kept: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    at = [np.array(p, float) for p in kept["points"]]
    outcomes = [Outcome(e["log_density"], np.array(e["gradient"]), e["values"]) for e in kept["expected"]]
    return RandomProgram(text, text, kept["data"]), at, outcomes


def keep(path: Path) -> None:
    """Enter a program, with what stanli, or else Stan's own compiler, makes of it at points where all is finite."""
    from .referee import compiled
    from .referee.stan import Stan, Unsupported
    from .referee.walk import Walker

    text, data = path.read_text(), json.loads(path.with_suffix(".json").read_text())
    at = points(Walker(text, data).size, path.stem)
    try:
        stan = Stan(text, data)
        found = [(p, stan.at(p)) for p in at]
    except Unsupported:
        found = list(zip(at, compiled.outcomes(text, data, at)))
    kept = [(p, o) for p, o in found if o.is_finite]
    assert kept, f"{path}: Stan's outcomes are not finite"
    outcomes = [{"log_density": o.log_density, "gradient": list(o.gradient), "values": o.values} for _, o in kept]
    entry = {"data": data, "points": [list(p) for p, _ in kept], "expected": outcomes}
    (FOLDER / path.name).write_text(text)
    (FOLDER / f"{path.stem}.json").write_text(json.dumps(entry) + "\n")


if __name__ == "__main__":
    for given in sys.argv[1:]:
        keep(Path(given))

"""For every pass a program, as it is before and after: `python tests/passes/pass_pairs.py` writes the texts anew."""
from __future__ import annotations

import pathlib

from stanimport import pipeline
from stanimport.source import Source

FOLDER = pathlib.Path(__file__).parent / "pairs"
NAMES = sorted(p.stem for p in FOLDER.glob("*.stan"))


def stages(name: str) -> tuple[str, str]:
    """A program before and after the pass that it is named after."""
    source, options = Source(f"{name}.stan", (FOLDER / f"{name}.stan").read_text()), pipeline.Options()
    before = pipeline.STAGES[pipeline.STAGES.index(name) - 1]
    found = (pipeline.dump(stage, source, "p", options) for stage in (before, name))
    first, second = found
    return first, second


def shown(name: str) -> str:
    before, after = stages(name)
    return f"=== before {name}\n{before.rstrip()}\n\n=== after {name}\n{after.rstrip()}\n"


if __name__ == "__main__":
    for each in NAMES:
        (FOLDER / f"{each}.txt").write_text(shown(each))

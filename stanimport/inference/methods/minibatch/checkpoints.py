"""Where an optimization stands, on disk: it goes on from there as if it had never stopped, bit for bit."""
from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

from ...io.files import atomically

FORMAT = "stanimport checkpoint 2"


def save(path: Path, described: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a checkpoint, whole or not at all.

    Args:
        described: what JSON can hold; what tells one run from another stands under "run".
    """

    def write(place: Path) -> None:
        text = np.frombuffer(json.dumps({"format": FORMAT, **described}).encode(), np.uint8)
        with place.open("wb") as file:
            np.savez(file, described=text, **{f"/{n}": a for n, a in arrays.items()})  # type: ignore[arg-type]

    atomically(path, write)


def load(path: Path, run: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What `save` wrote for the same run.

    Raises:
        StanDataError: for a file that holds no checkpoint, or that of another run; it names what differs.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            described = json.loads(bytes(file["described"]))
            arrays = {n[1:]: file[n] for n in file.files if n.startswith("/")}
        if described["format"] != FORMAT:
            raise ValueError(described["format"])
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise StanDataError(f"{path}: holds no checkpoint: {e}") from None
    differing = [n for n, v in json.loads(json.dumps(run)).items() if described["run"].get(n) != v]
    if "data" in differing:
        own, others = run["data"], described["run"].get("data", {})
        differing[differing.index("data")] = f"the data {', '.join(n for n in own if own[n] != others.get(n))}"
    if differing:
        raise StanDataError(f"{path}: is the checkpoint of another run, which differs in {', '.join(differing)}")
    return described, arrays

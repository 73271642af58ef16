"""Recording what Stan makes of the programs beside this file: python tests/constructs/record.py [NAME ...]

Needs httpstan, a C++ compiler and a minute per program. For every point it writes the log density (without the
constants of `~` and the Jacobian of constraints) and all parameters, transformed parameters and quantities.
"""
from __future__ import annotations

import asyncio
import json
import math
import random
import sys
from pathlib import Path

import httpstan.cache
import httpstan.models
import numpy as np

FOLDER = Path(__file__).parent / "programs"
POINTS = 4


def built(code: str):
    """The extension module of a program, compiled unless httpstan's cache has it."""
    name = httpstan.models.calculate_model_name(code)
    try:
        return httpstan.models.import_services_extension_module(name)
    except KeyError:
        asyncio.run(httpstan.models.build_services_extension_module(code, ["-O0", "-std=c++14"]))
        return httpstan.models.import_services_extension_module(name)


def flat(data: dict) -> dict:
    """Tuples as Stan's readers take them: `t.1` and `t.2` for {"1": ..., "2": ...}, also for arrays of such."""
    out = {}
    for name, value in data.items():
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict):
            items = {f"{name}.{k}": [v[k] for v in value] if first is not value else value[k] for k in first}
            out |= flat(items)
        else:
            out[name] = np.zeros(0, int) if value == [] else value
    return out


def points(module, data: dict, seed: int):
    """Random places of the unconstrained space where the density is finite, with what Stan computes there."""
    draw, labels = random.Random(seed), module.constrained_param_names(data)
    size = unconstrained_size(module, data, len(labels))
    found = 0
    while found < POINTS:
        at = [round(draw.gauss(0.2, 0.9), 3) for _ in range(size)]
        log_density = module.log_prob(data, at, False)
        if math.isfinite(log_density):
            found += 1
            values = module.write_array(data, at, True, True)
            yield {"log_density": log_density, "values": dict(zip(labels, values, strict=True))}


def unconstrained_size(module, data: dict, largest: int) -> int:
    """How many unconstrained parameters there are: Stan refuses any other number."""
    for size in range(largest, -1, -1):
        try:
            module.write_array(data, [0.1] * size, False, False)
        except RuntimeError:
            continue
        return size
    raise ValueError("the program runs at no number of parameters")


def record(name: str) -> None:
    path = FOLDER / f"{name}.stan"
    data = flat(json.loads(path.with_suffix(".data.json").read_text()))
    module = built(path.read_text())
    found = list(points(module, data, seed=len(name)))
    path.with_suffix(".expected.json").write_text(json.dumps(found, indent=1) + "\n")
    print(name, [p["log_density"] for p in found])


if __name__ == "__main__":
    for stem in sys.argv[1:] or sorted(p.stem for p in FOLDER.glob("*.stan")):
        record(stem)

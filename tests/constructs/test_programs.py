"""Programs that use every construct of the language, against real Stan: log densities, transformed parameters, results.

`programs/NAME.stan` is run on `NAME.data.json`; `NAME.expected.json` holds what Stan 2.35 computed at some points
(`record.py` writes it). Statements with `~` drop their constants there, so log densities are compared up to one.
"""
from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import stanimport

sys.path.insert(0, str(Path(__file__).parent.parent))
from densities import module_log_densities

FOLDER = Path(__file__).parent / "programs"
NAMES = sorted(p.name.removesuffix(".expected.json") for p in FOLDER.glob("*.expected.json"))


def program(name: str, backend: str):
    module = stanimport.load(FOLDER / f"{name}.stan", backend=backend)
    data = json.loads((FOLDER / f"{name}.data.json").read_text())
    expected = json.loads((FOLDER / f"{name}.expected.json").read_text())
    return module, data, module.transformed_data(**data), expected


def parameters(module, data: dict, values: dict) -> dict:
    """The values of sites from Stan's flat values ("m.1.2", "t:2.1", "z.real")."""
    out = {}
    for v in module.stan.parameters:
        out |= _sites(v.name, _value(v, data, _below(values, v.name)))
    return out


def _sites(name: str, value) -> dict:
    """A tuple has a site for each of its items, a complex number for its real and imaginary parts."""
    if isinstance(value, tuple):
        return {k: x for i, item in enumerate(value, 1) for k, x in _sites(f"{name}.{i}", item).items()}
    if np.iscomplexobj(value):
        return {f"{name}.real": np.real(value), f"{name}.imag": np.imag(value)}
    return {name: value}


def _below(values: dict, prefix: str) -> dict:
    inside = (k for k in values if k == prefix or k.startswith((f"{prefix}.", f"{prefix}:")))
    return {k[len(prefix) :]: values[k] for k in inside}


def _value(v, data: dict, flat: dict):
    if v.items:
        return _tuples(v, data, flat)
    if v.type.endswith("complex"):
        return complex(flat[".real"], flat[".imag"])
    shape = tuple(int(eval(s, {}, dict(data))) for s in v.shape)
    out = np.empty(shape)
    for key, x in flat.items():
        out[tuple(int(i) - 1 for i in key.split(".")[1:])] = x
    return out


def _tuples(v, data: dict, flat: dict):
    """A tuple, or an array of tuples as the tuple of arrays that it is kept as."""
    if not v.type.startswith("array"):
        return tuple(_value(item, data, _below(flat, f":{i}")) for i, item in enumerate(v.items, 1))
    out = []
    for i, _ in enumerate(v.items, 1):
        entries = {k: x for k, x in flat.items() if re.fullmatch(rf"\.\d+:{i}", k)}
        out.append(np.array([entries[k] for k in sorted(entries, key=lambda k: int(re.findall(r"\d+", k)[0]))]))
    return tuple(out)


def flattened(name: str, value) -> dict:
    """A value under the names that Stan gives its entries."""
    if isinstance(value, tuple):
        return _flattened_tuple(name, value)
    value = np.asarray(value)
    out = {}
    for at in np.ndindex(value.shape):
        label = name + "".join(f".{i + 1}" for i in at)
        if np.iscomplexobj(value):
            out |= {f"{label}.real": value[at].real, f"{label}.imag": value[at].imag}
        else:
            out[label] = value[at]
    return out


def _flattened_tuple(name: str, value: tuple) -> dict:
    out = {}
    for i, item in enumerate(value, 1):
        out |= flattened(f"{name}:{i}", item)
    return out


def without_tuple_marks(values: dict) -> dict:
    """Names with the indices in front of the items: "q:2.1" and "q.1:2" are the same entry of an array of tuples."""
    split = {k: (re.split("[.:]", k)[0], *re.findall(r"\.\w+", k), *re.findall(r":\w+", k)) for k in values}
    return {split[k]: v for k, v in values.items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", NAMES)
def test_the_log_density_is_stans_up_to_a_constant(name, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module, data, inputs, expected = program(name, backend)
    points = [parameters(module, data, p["values"]) for p in expected]
    got = np.array(module_log_densities(module, inputs, points, backend))
    want = np.array([p["log_density"] for p in expected])
    assert np.isfinite(got).all()
    assert got - got[0] == pytest.approx(want - want[0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_transformed_parameters_and_quantities_are_stans(name, x64):
    module, data, inputs, expected = program(name, "numpyro")
    names = module.stan.names("parameters")
    for point in expected:
        given = parameters(module, data, point["values"])
        results = module.generated_quantities(**inputs, **given)
        got = {}
        for key, value in results.items():
            got |= flattened(key, value)
        want = {k: v for k, v in without_tuple_marks(point["values"]).items() if k[0] not in names}
        assert without_tuple_marks(got) == pytest.approx(want, rel=1e-9, abs=1e-12, nan_ok=True)

"""The log density and its gradient, on every program in models/ and in posteriordb, are the same without the passes.

posteriordb is looked for beside the project or in $POSTERIORDB; without it, those tests are skipped.
"""
from __future__ import annotations

import json
import pathlib
import sys

import jax
import loop_programs as programs
import numpy as np
import pytest
from numpyro import handlers
from numpyro.infer import init_to_uniform
from numpyro.infer.util import log_density

from stanimport import pipeline

ROOT = pathlib.Path(__file__).parents[2]
DEEPSTAN = {"multimodal", "vae", "mlp"}
MODELS = sorted(p.stem for p in (ROOT / "models").glob("*.stan") if p.stem not in DEEPSTAN)
SWITCHES = pipeline.OPTIONAL
SOLVED = {"lotka_volterra", "soil_incubation", "one_comp_mm_elim_abs"}  # by steps that differ in the last digits


def values(module, inputs, seed=1):
    """Values of the parameters that depend on the seed alone."""

    def drawn():
        start = handlers.substitute(handlers.seed(module.model, seed), substitute_fn=init_to_uniform(radius=1))
        trace = handlers.trace(start).get_trace(**inputs)
        return {v.name: trace[v.name]["value"] for v in module.stan.parameters}

    return jax.jit(drawn)()


def value_and_gradient(module, inputs, at):
    return jax.jit(jax.value_and_grad(lambda p: log_density(module.model, (), inputs, p)[0]))(at)


def assert_same(name, program, data, *switches):
    module = programs.translated(program)
    inputs = module.transformed_data(**data)
    at = values(module, inputs)
    switched = programs.translated(program, without=SWITCHES)
    plain, expected = value_and_gradient(switched, switched.transformed_data(**data), at)
    tolerance = 1e-6 if name in SOLVED else 1e-10
    for without in switches:
        module = programs.translated(program, without=without)
        value, gradient = value_and_gradient(module, module.transformed_data(**data), at)
        np.testing.assert_allclose(value, plain, rtol=tolerance, err_msg=f"without {without}")
        for parameter, wanted in expected.items():
            scale = np.max(np.abs(wanted), initial=1.0)
            np.testing.assert_allclose(
                gradient[parameter], wanted, rtol=1e3 * tolerance, atol=1e3 * tolerance * scale, err_msg=parameter
            )


def model(name):
    folder = ROOT / "models"
    return (folder / f"{name}.stan").read_text(), json.loads((folder / f"{name}.json").read_text())


LONG = {"garch11", "arma11"}  # without passes
EACH = [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in MODELS]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", EACH)
def test_models_without_all_passes(name, x64):
    assert_same(name, *model(name), ())


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_models_without_each_pass(name, x64):
    assert_same(name, *model(name), *((s,) for s in SWITCHES))


def posteriors():
    """One posterior for each program of posteriordb, as (name, program, data); none without the corpus."""
    sys.path.append(str(ROOT / "tests" / "benchmarks"))
    import posteriordb

    database = posteriordb.folder()
    if database is None:
        return []
    found = {}
    for file in sorted((database / "posteriors").glob("*.json")):
        program = posteriordb.program(database, file.stem)
        found.setdefault(program.stem, (program, lambda name=file.stem: posteriordb.data(database, name)))
    return list(found.values())


POSTERIORS = posteriors()


@pytest.mark.slow
@pytest.mark.skipif(not POSTERIORS, reason="there is no checkout of posteriordb")
@pytest.mark.parametrize("program, data", POSTERIORS, ids=[p.stem for p, _ in POSTERIORS])
def test_posteriordb_without_all_passes(program, data, x64):
    assert_same(program.stem, program.read_text(), data(), ())

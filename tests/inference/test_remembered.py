"""Posteriors that another process sampled: found without tracing, and only where nothing differs."""
import json
import os
import subprocess
import sys
import types

import compilation
import numpy as np
import pytest

import stanimport
from stanimport.inference import programs
from stanimport.inference.density import remembered

PROGRAM = """
data { int N; vector[N] y; real<lower=0> scale; }
transformed data { real noise = normal_rng(0, 1e-3); }
parameters { real mu; real<lower=0> sigma; }
transformed parameters { vector[2] both = [mu, sigma]'; }
model { mu ~ normal(noise, scale); sigma ~ exponential(1); y ~ normal(mu, sigma); }
generated quantities { real z = normal_rng(mu, sigma); }
"""
DATA = {"N": 4, "y": [1.5, 2.0, 0.5, 1.0], "scale": 3.7}
OPTIONS = dict(seed=3, chains=2, iter_warmup=150, iter_sampling=300)

SECOND = """
import json, sys
import stanimport
fit = stanimport.sample(sys.argv[1], json.loads(sys.argv[2]), **json.loads(sys.argv[3]))
fit.diagnose()
from stanimport.inference.fits.summary import table
table(fit)
loaded = [m for m in ("jax", "numpyro", "scipy", "pandas", "arviz", "stanimport.pipeline",
                      "stanimport.inference.density.posterior")
          if m in sys.modules]
print(json.dumps([loaded, fit.draws().tolist()]))
"""

METHODS = """
import json, sys
import numpy as np
import stanimport
program, data = sys.argv[1], json.loads(sys.argv[2])
fits = {
    "optimize": stanimport.optimize(program, data, seed=3),
    "newton": stanimport.optimize(program, data, seed=3, algorithm="newton", jacobian=True),
    "laplace": stanimport.laplace_sample(program, data, seed=3, draws=20),
    "pathfinder": stanimport.pathfinder(program, data, seed=3, num_paths=2, draws=20, num_single_draws=40),
    "variational": stanimport.variational(program, data, seed=3, iter=200, draws=20, require_converged=False),
    "advi": stanimport.advi(program, data, seed=3, iter=200, draws=20, require_converged=False, khat=False),
}
made = stanimport.generate_quantities(program, data, previous_fit=fits["laplace"], seed=4)
numbers = {method: {n: a.tolist() for n, a in f.variables.items()} for method, f in fits.items()}
numbers |= {"generate": {n: a.tolist() for n, a in made.variables.items()}}
at = stanimport.log_prob(program, data, params={"mu": 0.3, "sigma": 1.2})
numbers["log_prob"] = [at.lp, at.gradient.tolist()]
loaded = [m for m in ("jax", "numpyro", "blackjax", "optax", "stanimport.pipeline",
                      "stanimport.inference.density.posterior") if m in sys.modules]
print(json.dumps([loaded, numbers]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STANIMPORT_JIT_CACHE", str(tmp_path / "jit"))
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    programs.forget()
    yield tmp_path
    programs.forget()


@pytest.fixture
def found(monkeypatch):
    """Whether each call of `sample` found its posterior."""
    seen = []

    def find(*arguments, original=remembered.find):
        out = original(*arguments)
        seen.append(out is not None)
        return out

    monkeypatch.setattr(remembered, "find", find)
    return seen


def test_another_process_needs_no_jax_and_draws_the_same(folder):
    program = folder / "noisy.stan"
    program.write_text(PROGRAM)
    command = [sys.executable, "-W", "ignore", "-c", SECOND, str(program), json.dumps(DATA), json.dumps(OPTIONS)]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True,
                                      env=compilation.quickly(os.environ)).stdout)
            for _ in range(2)]  # fmt: skip
    assert {"jax", "numpyro"} < {*runs[0][0]} and runs[1] == [[], runs[0][1]]


@pytest.mark.slow
def test_other_methods_need_no_jax_in_another_process_either(folder):
    program = folder / "noisy.stan"
    program.write_text(PROGRAM)
    command = [sys.executable, "-W", "ignore", "-c", METHODS, str(program), json.dumps(DATA)]
    first, second, third = (
        json.loads(subprocess.run([*command[:-1], json.dumps(data)], check=True, capture_output=True, text=True,
                                  env=compilation.quickly(os.environ)).stdout)
        for data in (DATA, DATA, DATA | {"scale": 3.8})
    )  # fmt: skip
    assert {"jax", "numpyro", "blackjax"} < {*first[0]} and second == [[], first[1]]
    assert "jax" in third[0] and third[1]["optimize"] != first[1]["optimize"]
    y, mu, sigma = np.array(DATA["y"]), 0.3, 1.2
    for _, numbers in (first, second):  # but for the noise of a thousandth
        assert abs(numbers["log_prob"][1][0] + mu / DATA["scale"] ** 2 - (y - mu).sum() / sigma**2) < 1e-3


def test_only_what_is_the_same_is_found(folder, found):
    module = stanimport.loads(PROGRAM)
    first = stanimport.sample(module, DATA, **OPTIONS)
    cases = [
        (DATA, {}, True), (DATA, dict(adapt_delta=0.9, iter_warmup=200, max_treedepth=8, step_size=0.3), True),
        (DATA, dict(seed=4), False), (DATA | {"y": [1.5, 2.0, 0.5, 1.5]}, {}, False),
        (DATA, dict(metric="dense_e"), False), (DATA | {"scale": 3.8}, {}, False),
        (DATA, dict(method="numpyro"), False), (DATA, dict(max_treedepth=20), False),
    ]
    for data, options, _ in cases:
        stanimport.sample(module, data, **OPTIONS | options)
    assert found[1:] == [same for *_, same in cases]
    other = stanimport.loads(PROGRAM.replace("exponential(1)", "exponential(2)"))
    stanimport.sample(other, DATA, **OPTIONS)
    assert found[-1] is False
    again = stanimport.sample(module, DATA, **OPTIONS)
    assert found[-1] is True
    for name, value in first.variables.items():
        np.testing.assert_array_equal(again.variables[name], value)
    np.testing.assert_array_equal(again.data["y"], first.data["y"])


def test_what_needs_the_model_traces_it(folder, found):
    module = stanimport.loads(PROGRAM)
    stanimport.sample(module, DATA, **OPTIONS)
    given = stanimport.sample(module, DATA, **OPTIONS | dict(inits={"mu": 1.0, "sigma": 0.5}))
    assert found == [False, True] and np.isfinite(given.stats["lp__"]).all()
    with pytest.raises(stanimport.StanDataError, match="sigma is -1.0, outside its domain"):
        stanimport.sample(module, DATA, **OPTIONS | dict(inits={"mu": 1.0, "sigma": -1.0}))
    warm = stanimport.sample(module, DATA, **OPTIONS | dict(save_warmup=True))
    assert warm.draws(inc_warmup=True).shape[0] == 450


def test_what_transformed_data_print_is_printed_each_time(folder, capsys):
    module = stanimport.loads("functions { void tell(real x) { print(\"y is \", x); } } data { real y; }"
                              "transformed data { tell(y); } parameters { real x; } model { x ~ normal(y, 1); }")
    for _ in range(2):
        stanimport.sample(module, {"y": 2.5}, **OPTIONS)
        assert capsys.readouterr().out == "y is 2.5\n"
        stanimport.optimize(module, {"y": 2.5}, seed=1)
        assert capsys.readouterr().out == "y is 2.5\n"


def test_data_that_cannot_be_told_are_not_remembered():
    module = stanimport.loads(PROGRAM)
    assert remembered.key_of(module, {"y": [np.ones(2), np.ones(2)]}) is None
    assert remembered.key_of(module, {"y": np.array([1, None])}) is None
    keys = [remembered.key_of(module, {"y": y}) for y in ([1.0, 2.0], [1, 2], np.array([1.0, 2.0]), (1.0, 2.0))]
    assert None not in keys and len(set(keys)) == 4


def test_a_mask_is_seen_where_the_same_numbers_were_sampled_without(folder):
    module = stanimport.loads(PROGRAM)
    y = np.array(DATA["y"])
    stanimport.sample(module, DATA | {"y": y}, **OPTIONS)
    with pytest.raises(stanimport.StanDataError, match="y has entries that are masked"):
        stanimport.sample(module, DATA | {"y": np.ma.masked_greater(y, 1.7)}, **OPTIONS)


def test_functions_in_python_are_those_of_now(folder, found, monkeypatch):
    """Their code may have been edited since another process sampled."""
    scales = types.ModuleType("some_scales")
    monkeypatch.setitem(sys.modules, "some_scales", scales)
    program = "functions { real scaled(real x); } parameters { real x; } model { scaled(x) ~ normal(3, 0.01); }"
    for scale in (2.0, 5.0):
        scales.scaled = lambda x, scale=scale: scale * x
        module = stanimport.loads(program, name="scaled", functions={"scaled": "some_scales.scaled"})
        fit = stanimport.sample(module, **OPTIONS)
        assert abs(fit.stan_variable("x").mean() - 3 / scale) < 0.01
    assert found == [False, False]


def test_the_seed_decides_random_transformed_data_of_included_files(folder):
    (folder / "drawn.stan").write_text("real z = normal_rng(0, 10);")
    program = folder / "includes.stan"
    program.write_text("transformed data {\n#include drawn.stan\n}\n"
                       "parameters { real x; } model { x ~ normal(z, 1e-3); }")
    means = [stanimport.sample(program, **OPTIONS | dict(seed=s)).stan_variable("x").mean() for s in (1, 2, 1)]
    assert abs(means[0] - means[1]) > 0.1 and means[2] == means[0]


def test_random_quantities_leave_the_posterior_to_other_seeds(folder, found):
    """Only transformed data depend on a seed before there are draws."""
    program = folder / "quantities.stan"
    program.write_text("functions { real noise_rng(real s) { return normal_rng(0, s); } } parameters { real x; }"
                       "model { x ~ normal(2, 1); } generated quantities { real z = x + noise_rng(0.1); }")
    first, other = (stanimport.sample(program, **OPTIONS | dict(seed=s)) for s in (3, 4))
    assert found == [False, True]
    programs.forget()
    for path in (folder / "jit").rglob("*"):
        path.unlink() if path.is_file() else None
    anew = stanimport.sample(program, **OPTIONS | dict(seed=4))
    assert found == [False, True, False] and not np.array_equal(first.draws(), other.draws())
    np.testing.assert_array_equal(other.draws(), anew.draws())

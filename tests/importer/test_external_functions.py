"""Functions without a body, which Python has: the program is the one whose functions have bodies in Stan."""
import pickle
import sys

import numpy as np
import pytest

import stanimport
from stanimport import inference
from stanimport.__main__ import main

DECLARED = {
    "soft": ("real soft(real x, real s)", "{ return log1p(exp(x * s)) / s; }"),
    "ols": ("vector ols(data matrix X, vector y)", r"{ return (X' * X) \ (X' * y); }"),
    "shifted_lpdf": ("real shifted_lpdf(real y, real m)", "{ return -0.5 * (y - m) ^ 2; }"),
}
REST = """
data { int N; matrix[N, 2] X; vector[N] y; }
transformed data { vector[2] start = ols(X, y); }
parameters { vector[2] b; real<lower=0> s; }
model {
  b ~ normal(start, 1);
  s ~ shifted(b[1]);
  for (n in 1:N) y[n] ~ normal(soft(X[n] * b, s), 1);
}
generated quantities { vector[2] again = ols(X, X * b); real z = soft(b[1], s); }
"""
BARE = "functions {" + " ".join(f"{head};" for head, _ in DECLARED.values()) + "}" + REST
WHOLE = "functions {" + " ".join(f"{head} {body}" for head, body in DECLARED.values()) + "}" + REST
CODE = {
    "numpyro": """
import jax.numpy as xp
def soft(x, s): return xp.log1p(xp.exp(x * s)) / s
def ols(X, y): return xp.linalg.solve(X.T @ X, X.T @ y)
def shifted(y, m): return -0.5 * (y - m) ** 2
def row(x, s): return xp.ones(3)
number = 3
""",
}
CODE["pyro"] = CODE["numpyro"].replace("jax.numpy", "torch")
BOUND = {"soft": "{}.soft", "ols": "{}.ols", "shifted_lpdf": "{}.shifted"}
RNG = np.random.default_rng(3)
X = RNG.normal(size=(7, 2))
DATA = {"N": 7, "X": X, "y": X @ [1.0, -2.0] + RNG.normal(size=7)}


@pytest.fixture(params=["numpyro", "pyro"])
def backend(request):
    if request.param == "pyro":
        pytest.importorskip("pyro")
    return request.param


@pytest.fixture
def library(backend, tmp_path, monkeypatch):
    """The name of a module with the functions, which is only found by the caller's own path."""
    name = f"functions_of_{backend}"
    (tmp_path / f"{name}.py").write_text(CODE[backend])
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)


def bound(library, **others):
    return {n: p.format(library) for n, p in BOUND.items()} | others


def densities(module, points):
    """Log densities at unconstrained points, and gradients where the backend is JAX's."""
    if module.stan.backend == "numpyro":
        at = inference.LogProb(module, DATA)
        return [(found.lp, *found.gradient) for found in map(at.at, points)]
    import torch
    from pyro import poutine

    inputs, made = module.transformed_data(**DATA), []
    for *b, log_s in points:
        values = [torch.tensor(b, dtype=torch.double, requires_grad=True),
                  torch.tensor(np.exp(log_s), dtype=torch.double, requires_grad=True)]  # fmt: skip
        conditioned = poutine.condition(module.model, dict(zip(("b", "s"), values)))
        density = poutine.trace(conditioned).get_trace(**inputs).log_prob_sum()
        density.backward()
        made.append((density.item(), *values[0].grad.tolist(), values[1].grad.item()))
    return made


@pytest.mark.sampled(2)
def test_values_and_gradients_are_those_of_bodies(backend, library):
    points = RNG.normal(size=(3, 3))
    ours = stanimport.loads(BARE, backend=backend, functions=bound(library))
    theirs = stanimport.loads(WHOLE, backend=backend)
    np.testing.assert_allclose(densities(ours, points), densities(theirs, points), rtol=1e-6)
    draw = {"b": np.array([0.3, -0.4]), "s": np.array(1.2)}
    if backend == "pyro":
        import torch

        draw = {n: torch.as_tensor(v) for n, v in draw.items()}
    inputs = ours.transformed_data(**DATA)
    np.testing.assert_allclose(inputs["start"], np.linalg.lstsq(X, DATA["y"], rcond=None)[0], rtol=1e-5)
    made = ours.generated_quantities(**inputs, **draw)
    np.testing.assert_allclose(np.asarray(made["again"]), [0.3, -0.4], rtol=1e-4)
    np.testing.assert_allclose(float(made["z"]), np.log1p(np.exp(0.36)) / 1.2, rtol=1e-6)


@pytest.mark.parametrize("names, told", [
    ({}, r"'soft' is declared but never defined(.|\n)*functions=\{'soft': 'package.module.name'\}"),
    ({"sof": "a.b"}, r"no function 'sof' without a body(.|\n)*did you mean 'soft'\?"),
])  # fmt: skip
def test_what_is_not_bound_is_told_when_translated(names, told):
    with pytest.raises(stanimport.StanSemanticError, match=told):
        stanimport.loads(BARE, functions=names)
    with pytest.raises(stanimport.StanSemanticError, match=told):
        stanimport.check("p.stan", source=BARE, functions=names)


@pytest.mark.parametrize("head", ["real f_rng(real x)", "void f(real x)", "real f_lp(real x)"])
def test_what_is_no_value_can_t_be_bound(head):
    name = head.split()[1].partition("(")[0]
    with pytest.raises(stanimport.StanSemanticError, match="can't be a function of Python"):
        stanimport.loads(f"functions {{ {head}; }}", functions={name: "math.sin"})


@pytest.mark.parametrize("path, told", [
    ("{}.row", r"returns a value of shape \(3,\), declared are 0 dimensions"), ("{}.none", "can't be found"),
    ("nowhere.soft", "can't be found: No module named 'nowhere'"), ("{}.number", "is a int and can't be called"),
])  # fmt: skip
def test_wrong_functions_are_told_at_the_call(path, told):
    sys.modules["functions_here"] = module = type(sys)("functions_here")
    exec(CODE["numpyro"], module.__dict__)
    chosen = bound("functions_here", soft=path.format("functions_here"))
    with pytest.raises(stanimport.StanError, match=told) as caught:
        densities(stanimport.loads(BARE, functions=chosen), RNG.normal(size=(1, 3)))
    assert "real soft(real x, real s)" in str(caught.value)
    del sys.modules["functions_here"]


def test_bindings_travel_and_are_part_of_the_identity(tmp_path, library, backend, monkeypatch):
    """Other functions make another module; pickles, the finder and the shell know them; a path is a text."""
    (tmp_path / "bare.stan").write_text(BARE)
    module = stanimport.load(tmp_path / "bare.stan", functions=bound(library), backend=backend)
    assert stanimport.load(tmp_path / "bare.stan", functions=bound(library), backend=backend) is module
    assert pickle.loads(pickle.dumps(module)) is module
    other = bound(library, soft=f"{library}.row")
    assert stanimport.load(tmp_path / "bare.stan", functions=other, backend=backend) is not module
    shown = [f"--function={n}={p}" for n, p in bound(library).items()]
    assert main(["translate", str(tmp_path / "bare.stan"), *shown]) == 0
    stanimport.configure(functions=bound(library), backend=backend)
    try:
        import bare

        assert bare.stan.names("parameters") == ("b", "s")
    finally:
        stanimport.configure(functions=None, backend=None)
        sys.modules.pop("bare", None)
    for wrong in (len, "soft", "a.b()"):
        with pytest.raises(ValueError, match="functions must be paths such as 'package.module.soft'"):
            stanimport.loads(BARE, functions={"soft": wrong})


ANY = """
functions { real twice(real x); int half(int n); }
data { real y; }
parameters { real a; }
model { a ~ normal(0, 1); y ~ normal(twice(a), 1); }
generated quantities { real z = twice(a); }
"""


@pytest.mark.sampled(4)
def test_what_runs_on_the_other_backend_has_the_functions(backend, tmp_path, monkeypatch):
    """And what is computed of a fit, also where it was saved: then who loads it says where they are."""
    (tmp_path / "any_arrays.py").write_text("def twice(x): return x + x\ndef half(n): return n / 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    bound = {"twice": "any_arrays.twice", "half": "any_arrays.half"}
    module = stanimport.loads(ANY, backend=backend, functions=bound)
    mode = inference.optimize(module, {"y": 5.0}, seed=1)
    np.testing.assert_allclose(mode.stan_variable("a"), 2.0, rtol=1e-5)
    fit = inference.sample(module, {"y": 5.0}, chains=1, iter_warmup=50, iter_sampling=20, seed=1)
    assert fit.posterior_predictive({"y": 5.0}).stan_variable("y").shape == (20,)
    assert inference.prior_predictive(module, {}, draws=5, seed=1).stan_variable("y").shape == (5,)
    again = inference.generate_quantities(module, {"y": 5.0}, previous_fit=fit)
    np.testing.assert_allclose(again.stan_variable("z"), 2 * fit.stan_variable("a"), rtol=1e-6)
    saved = inference.Fit.load(fit.save(tmp_path / "fit.nc"))
    assert saved.program.functions == ()
    with pytest.raises(stanimport.StanSemanticError, match="declared but never defined"):
        inference.generate_quantities(previous_fit=saved)
    again = inference.generate_quantities(module, previous_fit=saved)
    np.testing.assert_allclose(again.stan_variable("z"), 2 * fit.stan_variable("a"), rtol=1e-6)


def test_results_are_of_the_declared_kind(backend, tmp_path, monkeypatch):
    (tmp_path / "any_arrays.py").write_text("def twice(x): return x + 1j\ndef half(n): return n / 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "any_arrays", raising=False)
    bound = {"twice": "any_arrays.twice", "half": "any_arrays.half"}
    for statement, told in ("target += half(3) * a;", "returns real numbers, declared are int"), (
        "target += twice(a);", "returns complex numbers, declared are real",
    ):  # fmt: skip
        text = f"functions {{ real twice(real x); int half(int n); }} parameters {{ real a; }} model {{ {statement} }}"
        with pytest.raises(stanimport.StanError, match=told):
            inference.log_prob(stanimport.loads(text, backend=backend, functions=bound), {}, params={"a": 1.0})


def test_functions_that_return_tuples_are_refused():
    text = "functions { tuple(real, real) f(real x); } parameters { real a; } model { a ~ normal(f(a).1, 1); }"
    with pytest.raises(stanimport.StanSemanticError, match="'f' can't be a function of Python, for it returns tuples"):
        stanimport.loads(text, functions={"f": "somewhere.f"})

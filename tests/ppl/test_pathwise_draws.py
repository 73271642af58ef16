"""Draws: their derivatives in the parameters of their law are on average those of the expectation, on both backends."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import stanimport
from stanlib import registry
from stanlib.arrays import named
from stanlib.rejection import poisoning

registry.load()
RECORDS = {f.distribution.name: f.distribution for f in registry.SYMBOLS.values() if f.distribution is not None}
NUMBERS = sorted(
    n for n, r in RECORDS.items()
    if r.is_pathwise and r.event_dims == 0 and r.rng_texts and r.argument_names and "x" not in r.argument_dims
)  # fmt: skip
DRAWS, SOME, STEP = 4_000, 300, 1e-3


def mean(record, arguments):
    """The mean of tanh(y) by quadrature."""
    kind, *bounds = (record.support,) if isinstance(record.support, str) else record.support(*arguments)
    low = bounds[0] if bounds else {"real": -np.inf, "unit": 0.0}.get(kind, 0.0)
    high = bounds[1] if len(bounds) > 1 else (1.0 if kind == "unit" else np.inf)
    xp = named("numpy")

    def term(y):
        with np.errstate(all="ignore"):
            return float(np.tanh(y) * np.exp(record.methods["lpdf"](xp, np.float64(y), *arguments)))

    cuts = [c for c in (low, -3.0, 0.0, 0.5, 1.0, 3.0, 20.0, high) if low <= c <= high]
    cuts = [low, *sorted({c for c in cuts if low < c < high}), high]
    return sum(integrate.quad(term, a, b, epsabs=1e-11, limit=200)[0] for a, b in zip(cuts, cuts[1:]))


def expected(record, arguments, i):
    up, down = (mean(record, [a + s * STEP * (j == i) for j, a in enumerate(arguments)]) for s in (1, -1))
    return (up - down) / (2 * STEP)


def derivatives(backend, record, arguments, function, draws):
    """Of the function of draws, in every argument: a row for every draw."""
    if backend == "pyro":
        import torch

        from stanlib.ppl.pyro.distributions import StanDistribution

        torch.manual_seed(1)
        rows = [torch.tensor(np.asarray(a, float)).expand(draws, *np.shape(a)).clone() for a in arguments]
        given = [r.requires_grad_() for r in rows]
        made = StanDistribution(record, given).rsample()
        found = torch.autograd.grad(function(made).sum(), given, allow_unused=True)
        return [np.zeros(draws) if f is None else f.numpy() for f in found]
    import jax
    import jax.numpy as jnp

    from stanlib.ppl.numpyro.distributions import StanDistribution

    def total(*given):
        law = StanDistribution(record, given)
        return function(poisoning(lambda: law.sample(jax.random.PRNGKey(1)))).sum()

    rows = [jnp.broadcast_to(jnp.asarray(a, float), (draws, *np.shape(a))) for a in arguments]
    return [np.asarray(g) for g in jax.grad(total, tuple(range(len(rows))))(*rows)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", NUMBERS)
def test_derivatives_of_draws_are_those_of_the_mean_on_average(name, backend, x64, torch_double):
    record = RECORDS[name]
    arguments = [float(a) for a in record.examples[0][1:]]
    tanh = __import__("torch").tanh if backend == "pyro" else __import__("jax").numpy.tanh
    for i, found in enumerate(derivatives(backend, record, arguments, tanh, DRAWS)):
        error = found.std() / np.sqrt(DRAWS)
        assert abs(found.mean() - expected(record, arguments, i)) < 5 * error + 1e-3, (i, found.mean())


SCALE = np.array([[2.0, 0.3], [0.3, 1.0]])
# A law's arguments, a function of a draw, and the derivatives of its mean in some of the arguments.
CONTAINERS = {
    "dirichlet": ([np.array([1.5, 2.0])], lambda y: y[..., 0] ** 2, {0: [3.5, 2.0]}),
    "wishart": ([5.0, SCALE], lambda y: y[..., 0, 0], {0: 2.0}),
    "inv_wishart": ([7.0, SCALE], lambda y: y[..., 0, 0], {0: -2.0 / 16}),
    "multi_student_t": ([9.0, np.zeros(2), SCALE], lambda y: y[..., 0] ** 2, {0: -2.0 * 2 / 49}),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "backend"), [
    ("dirichlet", "numpyro"), ("dirichlet", "pyro"), ("wishart", "pyro"), ("inv_wishart", "pyro"),
    ("multi_student_t", "numpyro"),
])  # fmt: skip
def test_derivatives_of_draws_of_containers(name, backend, x64, torch_double):
    arguments, function, wanted = CONTAINERS[name]
    if name == "dirichlet":  # E y1^2 = a1 (a1 + 1) / (a0 (a0 + 1))
        a1, a0 = 1.5, 3.5
        whole = a0 * (a0 + 1)
        slope = -a1 * (a1 + 1) * (2 * a0 + 1) / whole**2
        wanted = {0: [(2 * a1 + 1) / whole + slope, slope]}
    found = derivatives(backend, RECORDS[name], arguments, function, SOME)
    for i, exact in wanted.items():
        error = found[i].std(0) / np.sqrt(SOME)
        assert (np.abs(found[i].mean(0) - exact) < 5 * error + 1e-3).all(), (found[i].mean(0), exact)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("law", "domain"), [
    ("skew_normal(0.3, s, 2)", ""), ("exp_mod_normal(0, s, 1)", ""), ("rayleigh(s)", "<lower=0>"),
])  # fmt: skip
def test_pyro_takes_the_derivatives_of_draws_once(law, domain, torch_double):
    """The gradient of the ELBO: of -(x - 1)^2 / 2 - log q(x), whose mean is known by quadrature."""
    import pyro
    import torch

    import stanimport

    source = f"""
        parameters {{ real{domain} x; }} model {{ target += -0.5 * square(x - 1); }}
        guide parameters {{ real s = 1; }} guide {{ x ~ {law}; }}
    """
    module = stanimport.loads(source, backend="pyro")
    name = law.partition("(")[0]

    def loss(s):
        arguments = {"skew_normal": (0.3, s, 2.0), "exp_mod_normal": (0.0, s, 1.0), "rayleigh": (s,)}[name]
        xp, record = named("numpy"), RECORDS[name]

        def term(x):
            log_q = float(record.methods["lpdf"](xp, np.float64(x), *arguments))
            return np.exp(log_q) * (0.5 * (x - 1) ** 2 + log_q)

        low = 1e-12 if domain else -12.0
        return sum(integrate.quad(term, a, b, limit=200)[0] for a, b in ((low, 0.5), (0.5, 2), (2, 15)))

    pyro.set_rng_seed(0)
    found = []
    with pyro.get_param_store().scope():
        for _ in range(400):
            value = pyro.infer.Trace_ELBO().differentiable_loss(module.model, module.guide)
            found.append(float(torch.autograd.grad(value, [pyro.param("s")])[0]))
    exact = (loss(1 + STEP) - loss(1 - STEP)) / (2 * STEP)
    assert np.mean(found) == pytest.approx(exact, abs=5 * np.std(found) / np.sqrt(len(found)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("law", ["normal(0.5, 2)", "gamma(2, 3)", "student_t(4, 0, 1)", "beta(2, 3)"])
def test_laws_of_numpyros_classes_are_drawn_as_numpyro_draws(law, x64):
    """A hand-written model with the same key has the same numbers."""
    import jax
    import numpyro
    from numpyro import distributions as dist
    from numpyro import handlers

    bounds = {"gamma": "<lower=0>", "beta": "<lower=0, upper=1>"}.get(law.partition("(")[0], "")
    module = stanimport.loads(f"parameters {{ real{bounds} a; }} model {{ a ~ {law}; }}")
    by_hand = {"normal": dist.Normal, "gamma": dist.Gamma, "student_t": dist.StudentT, "beta": dist.Beta}
    name, _, numbers = law.rstrip(")").partition("(")

    def model():
        numpyro.sample("a", by_hand[name](*map(float, numbers.split(","))))

    ours, theirs = (
        handlers.trace(handlers.seed(m, jax.random.PRNGKey(3))).get_trace()["a"]["value"] for m in (module.model, model)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-14)

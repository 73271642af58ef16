"""Guides whose laws are those of elements and rows: chains, laws of rows, in loops of any form."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.errors import StanError

T, N, D = 4, 3, 2
RNG = np.random.default_rng(3)
M, S = RNG.normal(size=T), np.array([0.7, 1.1, 0.4, 2.0])
ROWS, WIDTHS = RNG.normal(size=(N, D)), RNG.uniform(0.3, 1.5, size=(N, D))
A, L = np.array([[0.8, 0.1], [-0.3, 0.5]]), np.array([[1.2, 0.0], [0.4, 0.6]])
DATA = {"T": T, "N": N, "D": D, "m": M, "s": S, "rows": ROWS, "widths": WIDTHS, "A": A, "L": L}
PROGRAM = """
    data {{
      int T; int N; int D; vector[T] m; vector[T] s; array[N] vector[D] rows; array[N] vector[D] widths;
      matrix[D, D] A; cholesky_factor_cov[D] L;
    }}
    parameters {{ {declared} }}
    model {{ }}
    guide parameters {{ real b = 0.6; }}
    guide {{ {laws} }}
"""
normal, B = stats.norm.logpdf, 0.6


def gaussian(x, mean, root):
    return stats.multivariate_normal.logpdf(x, mean, root @ root.T)


def chain(z):
    return normal(z[0], M[0], S[0]) + sum(normal(z[t], B * z[t - 1] + M[t], S[t]) for t in range(1, T))


def second_order(z):
    later = (normal(z[t], B * z[t - 1] - 0.2 * z[t - 2], S[t]) for t in range(2, T))
    return normal(z[0], 0, 1) + normal(z[1], z[0], 2) + sum(later)


def backwards(z):
    return normal(z[-1], M[-1], 1) + sum(normal(z[t], z[t + 1] * B, S[t]) for t in range(T - 1))


def panel(z):
    return sum(normal(r[0], n, 1) + sum(normal(r[t], B * r[t - 1], S[t]) for t in range(1, T))
               for n, r in enumerate(z, 1))  # fmt: skip


def vector_chain(z):
    return gaussian(z[0], ROWS[0], L) + sum(gaussian(z[n], A @ z[n - 1], L) for n in range(1, N))


def component_chain(z):
    return normal(z[0], 0, 1).sum() + sum(normal(z[n], A @ z[n - 1], WIDTHS[n]).sum() for n in range(1, N))


def positive_chain(z):
    law = stats.lognorm.logpdf
    return law(z[0], 1) + sum(law(z[t], S[t], scale=z[t - 1] ** B) for t in range(1, T))


def walk(z):
    return sum(normal(z[t], B * (z[t - 1] if t else 0.0), S[t]) for t in range(T))


PATH, VECTORS = RNG.normal(size=T), RNG.normal(size=(N, D))
CASES = {
    "chain": ("vector[T] z;", """
        z[1] ~ normal(m[1], s[1]);
        for (t in 2:T) { real mu = b * z[t - 1]; z[t] ~ normal(mu + m[t], s[t]); }""", PATH, chain),
    "of second order": ("array[T] real z;", """
        z[1] ~ normal(0, 1);
        z[2] ~ normal(z[1], 2);
        for (t in 3:T) z[t] ~ normal(b * z[t - 1] - 0.2 * z[t - 2], s[t]);""", PATH, second_order),
    "backwards": ("vector[T] z;", """
        z[T] ~ normal(m[T], 1);
        for (i in 1:(T - 1)) z[T - i] ~ normal(b * z[T - i + 1], s[T - i]);""", PATH, backwards),
    "panel": ("matrix[N, T] z;", """
        for (n in 1:N) { z[n, 1] ~ normal(n, 1); for (t in 2:T) z[n, t] ~ normal(b * z[n, t - 1], s[t]); }""",
        RNG.normal(size=(N, T)), panel),
    "of vectors": ("array[N] vector[D] z;", """
        z[1] ~ multi_normal_cholesky(rows[1], L);
        for (n in 2:N) z[n] ~ multi_normal_cholesky(A * z[n - 1], L);""", VECTORS, vector_chain),
    "of components": ("array[N] vector[D] z;", """
        z[1] ~ normal(0, 1); for (n in 2:N) z[n] ~ normal(A * z[n - 1], widths[n]);""", VECTORS, component_chain),
    "of matrix rows": ("matrix[N, D] z;", """
        z[1] ~ normal(0, 1);
        for (n in 2:N) { vector[D] mu = A * z[n - 1]'; z[n] ~ normal(mu, widths[n]); }""", VECTORS, component_chain),
    "positive": ("array[T] real<lower=0> z;", """
        z[1] ~ lognormal(0, 1); for (t in 2:T) z[t] ~ lognormal(b * log(z[t - 1]), s[t]);""", np.exp(PATH),
        positive_chain),
    "by a condition": ("vector[T] z;", "for (t in 1:T) z[t] ~ normal(t == 1 ? 0 : b * z[t - 1], s[t]);", PATH, walk),
    "in branches": ("vector[T] z;", """
        for (t in 1:T) { if (t == 1) z[t] ~ normal(0, s[t]); else z[t] ~ normal(b * z[t - 1], s[t]); }""", PATH, walk),
    "by a running value": ("vector[T] z;", """
        real last = 0;
        for (t in 1:T) { z[t] ~ normal(b * last, s[t]); last = z[t]; }""", PATH, walk),
    "one by one": ("vector[4] z;", """
        z[1] ~ normal(0, s[1]); z[2] ~ normal(b * z[1], s[2]);
        z[3] ~ normal(b * z[2], s[3]); z[4] ~ normal(b * z[3], s[4]);""", PATH, walk),
    "rows": ("array[N] vector[D] z;", "for (n in 1:N) z[n] ~ normal(rows[n], widths[n]);", VECTORS,
        lambda z: normal(z, ROWS, WIDTHS).sum()),
    "rows of one width": ("matrix[N, D] z;", "for (n in 1:N) z[n] ~ normal(rows[n], n);", VECTORS,
        lambda z: normal(z, ROWS, np.array([[1], [2], [3]])).sum()),
    "rows of vectors": ("array[N] vector[D] z;", "for (n in 1:N) z[n] ~ multi_normal(rows[n], L * L');", VECTORS,
        lambda z: sum(gaussian(z[n], ROWS[n], L) for n in range(N))),
    "rows of their own spread": ("array[N] vector[D] z;", """
        for (n in 1:N) z[n] ~ multi_normal_cholesky(rows[n], n * L);""", VECTORS,
        lambda z: sum(gaussian(z[n], ROWS[n], (n + 1) * L) for n in range(N))),
    "simplexes": ("array[N] simplex[D] z;", "for (n in 1:N) z[n] ~ dirichlet(exp(rows[n]));",
        np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]),
        lambda z: sum(stats.dirichlet.logpdf(z[n], np.exp(ROWS[n])) for n in range(N))),
    "columns": ("matrix[N, D] z;", "for (d in 1:D) z[, d] ~ normal(to_vector(rows[, d]), d);", VECTORS,
        lambda z: normal(z, ROWS, [1, 2]).sum()),
    "columns of one law": ("matrix[N, D] z;", "z[, 1] ~ normal(b, 1); z[, 2] ~ normal(b * z[1, 1], 2);", VECTORS,
        lambda z: normal(z[:, 0], B, 1).sum() + normal(z[:, 1], B * z[0, 0], 2).sum()),
    "ranges": ("vector[T] z;", "z[3:T] ~ normal(m[3:T], s[3:T]); z[1:2] ~ normal(b * m[:2], z[3]^2);", PATH,
        lambda z: normal(z[2:], M[2:], S[2:]).sum() + normal(z[:2], B * M[:2], z[2] ** 2).sum()),
    "ranges of rows": ("array[N, T] real z;", """
        for (n in 1:N) { z[n, 1:2] ~ normal(n, 1); z[n][3:] ~ normal(b * z[n, 1], s[3:]); }""",
        RNG.normal(size=(N, T)), lambda z: normal(z[:, :2], [[1], [2], [3]], 1).sum()
        + normal(z[:, 2:], B * z[:, :1], S[2:]).sum()),
    "a flattened matrix": ("matrix[N, D] z;", """
        to_vector(z) ~ normal(append_row(rows[1], append_row(rows[2], rows[3])), 2);""", VECTORS,
        lambda z: normal(z.T.ravel(), ROWS.ravel(), 2).sum()),
    "a flattened array": ("array[N, D] real z;", """
        to_array_1d(z) ~ normal(append_row(rows[1], append_row(rows[2], rows[3])), b);""",
        VECTORS, lambda z: normal(z, ROWS, B).sum()),
    "a flattened positive matrix": ("matrix<lower=0>[N, D] z;", """
        to_vector(z) ~ lognormal(append_row(rows[1], append_row(rows[2], rows[3])), 1);""",
        np.exp(VECTORS), lambda z: stats.lognorm.logpdf(z.T.ravel(), 1, scale=np.exp(ROWS.ravel())).sum()),
    "some elements first": ("matrix[N, D] z;", """
        for (d in 1:D) z[1, d] ~ normal(rows[1, d], d); for (n in 2:N) for (d in 1:D) z[n, d] ~ normal(rows[n, d], d);
        """, VECTORS, lambda z: normal(z, ROWS, [1, 2]).sum()),
}  # fmt: skip


def log_density(backend, guide, values, inputs):
    """The log density of a guide at values of the parameters."""
    if backend == "pyro":
        import pyro
        import torch

        with pyro.get_param_store().scope():
            run = pyro.poutine.condition(guide, data={n: torch.as_tensor(v) for n, v in values.items()})
            return float(pyro.poutine.trace(run).get_trace(**inputs).log_prob_sum())
    from numpyro import handlers
    from numpyro.infer.util import log_density as of

    return float(of(handlers.seed(guide, 0), (), inputs, values)[0])


def drawn(backend, guide, inputs, seed=0):
    """The parameters that a guide draws."""
    if backend == "pyro":
        import pyro

        pyro.set_rng_seed(seed)
        with pyro.get_param_store().scope():
            return {n: v.detach().numpy() for n, v in guide(**inputs).items()}
    from numpyro import handlers

    return {n: np.asarray(v) for n, v in handlers.seed(guide, seed)(**inputs).items()}


def loaded(backend, declared, laws):
    return stanimport.loads(PROGRAM.format(declared=declared, laws=laws), backend=backend)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", CASES)
def test_laws_of_elements_have_the_density_of_their_product(name, backend, x64, torch_double):
    declared, laws, value, expected = CASES[name]
    guide = loaded(backend, declared, laws).guide
    assert log_density(backend, guide, {"z": value}, DATA) == pytest.approx(expected(value), rel=1e-9)
    own = drawn(backend, guide, DATA)["z"]
    assert own.shape == value.shape and np.isfinite(own).all()
    assert log_density(backend, guide, {"z": own}, DATA) == pytest.approx(expected(own), rel=1e-9)


# --- gradients -------------------------------------------------------------------------------------------------------

CHAIN = """
    data { int T; vector[T] y; }
    parameters { real a; vector[T] z; }
    model {
      a ~ normal(0, 1);
      z[1] ~ normal(0, 1);
      for (t in 2:T) z[t] ~ normal(a * z[t - 1], 1);
      y ~ normal(z, 0.5);
    }
    guide parameters { real b = 0.3; real c = 0.8; vector[T] m = rep_vector(0.1, T); real<lower=0> s = 0.7; }
    guide {
      a ~ normal(b, 0.2);
      z[1] ~ normal(m[1], s);
      for (t in 2:T) z[t] ~ normal(c * a * z[t - 1] + m[t], s);
    }
"""
Y = np.array([0.3, -1.2, 0.8, 2.0, 0.1])


def test_pyro_has_the_loss_and_gradient_of_a_guide_by_hand(torch_double):
    import pyro
    import torch
    from pyro.distributions import Delta, Normal
    from torch.distributions import constraints

    module = stanimport.loads(CHAIN, backend="pyro")
    inputs = {"T": len(Y), "y": Y}

    def guide(T, y):
        b, c = pyro.param("b", torch.tensor(0.3)), pyro.param("c", torch.tensor(0.8))
        m = pyro.param("m", torch.full((T,), 0.1))
        s = pyro.param("s", torch.tensor(0.7), constraint=constraints.positive)
        a = pyro.sample("a", Normal(b, 0.2))
        steps = [pyro.sample("z1", Normal(m[0], s), infer={"is_auxiliary": True})]
        for t in range(1, T):
            law = Normal(c * a * steps[-1] + m[t], s)
            steps.append(pyro.sample(f"z{t + 1}", law, infer={"is_auxiliary": True}))
        pyro.sample("z", Delta(torch.stack(steps), event_dim=1))

    def outcome(chosen):
        with pyro.get_param_store().scope():
            pyro.set_rng_seed(4)
            loss = pyro.infer.Trace_ELBO().differentiable_loss(module.model, chosen, **inputs)
            params = [pyro.get_param_store()._params[n] for n in ("b", "c", "m", "s")]
            return [float(loss), *(g.numpy() for g in torch.autograd.grad(loss, params))]

    for own, other in zip(outcome(module.guide), outcome(guide)):
        np.testing.assert_allclose(own, other, rtol=1e-10)


def test_numpyro_has_the_loss_and_gradient_of_a_guide_by_hand(x64):
    import jax
    import jax.numpy as jnp
    from jax.scipy.stats import norm
    from numpyro import handlers
    from numpyro.infer import Trace_ELBO
    from numpyro.infer.util import log_density as of

    module, key = stanimport.loads(CHAIN), jax.random.PRNGKey(4)
    inputs = module.transformed_data(T=len(Y), y=Y)
    start = {"b": 0.3, "c": 0.8, "m": jnp.full(len(Y), 0.1), "s": 0.7}

    def loss(params):
        return Trace_ELBO().loss(key, params, module.model, module.guide, **inputs)

    _, guide_key = jax.random.split(key)
    drawn = handlers.trace(handlers.seed(handlers.substitute(module.guide, start), guide_key)).get_trace(**inputs)
    a, z = drawn["a"]["value"], drawn["z"]["value"]
    noise = jnp.concatenate([(z[:1] - 0.1) / 0.7, (z[1:] - 0.8 * a * z[:-1] - 0.1) / 0.7])

    def by_hand(params):
        value = params["b"] + 0.2 * (a - 0.3) / 0.2
        steps, total = [], norm.logpdf(value, params["b"], 0.2)
        for t in range(len(Y)):
            mean = params["m"][t] + (params["c"] * value * steps[-1] if t else 0.0)
            steps.append(mean + params["s"] * noise[t])
            total += norm.logpdf(steps[-1], mean, params["s"])
        return total - of(module.model, (), inputs, {"a": value, "z": jnp.stack(steps)})[0]

    assert loss(start) == pytest.approx(float(by_hand(start)), rel=1e-10)
    own, other = jax.grad(loss)(start), jax.grad(by_hand)(start)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-8), own, other)


@pytest.mark.slow
def test_a_chain_guide_finds_a_chain(x64):
    """The exact posterior of a random walk is a chain of normals: the guide's bound comes up to the evidence."""
    source = """
        data { int T; vector[T] y; } parameters { vector[T] z; }
        model { z[1] ~ normal(0, 1); for (t in 2:T) z[t] ~ normal(z[t - 1], 1); y ~ normal(z, 1); }
        guide parameters { vector[T] m; vector[T] c; vector<lower=0>[T] s; }
        guide { z[1] ~ normal(m[1], s[1]); for (t in 2:T) z[t] ~ normal(c[t] * z[t - 1] + m[t], s[t]); }
    """
    walk = np.minimum.outer(np.arange(1, 6), np.arange(1, 6)) + np.eye(5)
    evidence = stats.multivariate_normal.logpdf(Y, np.zeros(5), walk)
    fit = stanimport.variational(stanimport.loads(source), {"T": 5, "y": Y}, seed=1, iter=4000, require_converged=False)
    assert fit.info["elbo"][-1] == pytest.approx(evidence, abs=0.05)


# --- minibatches -----------------------------------------------------------------------------------------------------

BATCHES = """
    data {{ int T; vector[T] y; }} parameters {{ vector[T] z; }} model {{ z ~ normal(0, 1); y ~ normal(z, 1); }}
    guide parameters {{ real b = 0.6; }} guide {{ {laws} }}
"""


def test_the_mean_over_all_batches_of_a_guide_by_rows_is_its_density_of_all(x64):
    laws = "for (t in 1:T) { real mu = b * y[t]; if (y[t] > 0) z[t] ~ normal(mu, 1); else z[t] ~ normal(mu, 2); }"
    guide, y, z = stanimport.loads(BATCHES.format(laws=laws)).guide, RNG.normal(size=6), RNG.normal(size=6)
    part = guide.minibatch(T=6)
    pairs = [list(c) for c in itertools.combinations(range(6), 2)]
    means = [log_density("numpyro", part, {"z": z[c], "b": B}, {"T": 2, "y": y[c]}) for c in pairs]
    whole = log_density("numpyro", guide, {"z": z, "b": B}, {"T": 6, "y": y})
    assert np.mean(means) == pytest.approx(whole, rel=1e-10)
    assert whole == pytest.approx(normal(z, B * y, np.where(y > 0, 1, 2)).sum(), rel=1e-10)


def test_a_chain_is_refused_for_batches_of_its_elements():
    laws = "z[1] ~ normal(b, 1); for (t in 2:T) z[t] ~ normal(b * z[t - 1], 1);"
    guide = stanimport.loads(BATCHES.format(laws=laws)).guide
    with pytest.raises(stanimport.StanSemanticError, match="this term is no sum of one of each row"):
        guide.minibatch(T=6)


# --- what is refused -------------------------------------------------------------------------------------------------

REFUSED = {
    "slices of vectors": ("array[N] vector[D] z;", """
        z[1:2] ~ multi_normal_cholesky(rows[1], L); z[3] ~ normal(0, 1);""", "the law of a slice can't be sampled"),
    "slices by numbers": ("vector[T] z;", "z[{1, 2}] ~ normal(0, 1); z[3:4] ~ normal(0, 1);", "the law of a slice"),
    "a range that reads another": ("vector[T] z;", "z[1] ~ normal(0, 1); z[2:T] ~ normal(z[1:(T - 1)], 1);",
        "reads more than one element of z"),
    "parts of two sizes": (
        "matrix[N, D] z;", "z[1] ~ normal(0, 1); for (n in 2:N) for (d in 1:D) z[n, d] ~ normal(0, 1);",
        "parts of different sizes",
    ),
    "a sampled condition": (
        "vector[2] z;", "z[1] ~ normal(0, 1); if (z[1] > 0) z[2] ~ normal(0, 1); else z[2] ~ normal(1, 1);",
        "what is sampled here depends on parameters",
    ),
    "all elements": ("vector[T] z;", "for (t in 1:T) z[t] ~ normal(sum(z), 1);", "reads more than one element of z"),
    "another domain": (
        "vector<lower=0>[T] z;", "z[1] ~ normal(0, 1); for (t in 2:T) z[t] ~ normal(z[t - 1], 1);", "truncated",
    ),
    "what stands between": (
        "vector[2] z;", "real x = 1; z[1] ~ normal(x, 1); x = 2; z[2] ~ normal(x, 1);", "stands between laws",
    ),
    "columns of a stochastic matrix": (
        "column_stochastic_matrix[D, N] z;", "for (n in 1:N) z[, n] ~ dirichlet(rep_vector(1, D));",
        r"parts of z, which is constrained as a whole \(column_stochastic_matrix\), can't have laws",
    ),
    "rows of a stochastic matrix": (
        "row_stochastic_matrix[N, D] z;", "for (n in 1:N) z[n] ~ dirichlet(rep_vector(1, D));", "parts of z, which",
    ),
    "elements of a simplex": ("simplex[2] z;", "z[1] ~ beta(1, 1); z[2] ~ beta(1, 1);", "parts of z, which"),
    "parts of complex numbers": (
        "complex z; array[2] complex w;", "get_real(z) ~ normal(0, 1); get_imag(w[1]) ~ normal(0, 1);",
        "(?s)the parts of the complex z can't have laws of their own.*the parts of the complex w",
    ),
    "items of tuples": ("tuple(real, real) z;", "z.1 ~ normal(0, 1);", "the items of the tuple z can't have laws"),
    "both ways": (
        "vector[T] z; vector[T] w;", """
        z[1] ~ normal(0, 1); w[1] ~ normal(0, 1);
        for (t in 2:T) { z[t] ~ normal(w[t - 1], 1); w[t] ~ normal(z[t - 1], 1); }""", "depend on one another",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_laws_that_can_not_be_drawn_are_refused(name):
    declared, laws, message = REFUSED[name]
    with pytest.raises(stanimport.StanSemanticError, match=message):
        stanimport.translate("guided.stan", source=PROGRAM.format(declared=declared, laws=laws))


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize(("laws", "message"), [
    ("for (t in 2:T) z[t] ~ normal(m[t] + b * z[T], 1);", r"z\[4\] is read before it is drawn"),
    ("z[1] ~ normal(0, 1); for (t in 1:T) z[t] ~ normal(m[t], 1);", r"z\[1\] is sampled a second time"),
    ("for (t in 2:T) z[t] ~ normal(m[t], 1);", "z has 4 elements or rows, and laws for 3"),
    ("z[1:2] ~ normal(m[1:3], 1); z[3:4] ~ normal(0, 1);", r"shape \(3,\) is assigned to a variable of shape \(2,\)"),
    ("z[2:3] ~ normal(0, 1); z[3:4] ~ normal(0, 1);", r"z\[3\] is sampled a second time"),
    ("z[1:3] ~ normal(0, 1);", "z and its law are of different sizes|z has 4 elements or rows, and laws for 3"),
    ("for (t in 1:T) { if (t < 3) z[t] ~ normal(m[t], 1); }", "z has 4 elements or rows, and laws for 2"),
])  # fmt: skip
def test_every_element_is_drawn_once_before_it_is_read(laws, message, backend, x64, torch_double):
    guide = loaded(backend, "vector[T] z;", laws).guide
    with pytest.raises(StanError, match=message):
        drawn(backend, guide, DATA)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_two_parameters_in_one_loop_depend_on_one_another(backend, x64, torch_double):
    guide = loaded(backend, "vector[T] z; vector[T] w;", """
        z[1] ~ normal(0, 1);
        w[1] ~ normal(z[1], 2);
        for (t in 2:T) {
          real mu = z[t - 1];
          z[t] ~ normal(b * mu, s[t]);
          w[t] ~ normal(w[t - 1] + z[t] * mu, 1);
        }""").guide  # fmt: skip
    z, w = PATH, RNG.normal(size=T)
    expected = normal(z[0], 0, 1) + sum(normal(z[t], B * z[t - 1], S[t]) for t in range(1, T))
    expected += normal(w[0], z[0], 2) + sum(normal(w[t], w[t - 1] + z[t] * z[t - 1], 1) for t in range(1, T))
    assert log_density(backend, guide, {"z": z, "w": w}, DATA) == pytest.approx(expected, rel=1e-9)
    assert set(drawn(backend, guide, DATA)) == {"z", "w"}

"""Log likelihoods of what discrete parameters couple, beside sums over their values in NumPy."""
from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import bernoulli, binom, multivariate_normal, norm, poisson

import stanimport
from stanimport.inference.density.posterior import Posterior
from stanimport.inference.fits import observations
from stanimport.inference.modules import observing_apart

N = 7
RNG = np.random.default_rng(3)
Y, W = RNG.normal(size=(2, N))
ORDER = np.array([3, 1, 2, 7, 6, 5, 4])
COUNTS = np.array([4, 0, 2, 0, 0, 1, 3])
GROUPS = np.array([1, 1, 2, 2, 3, 3, 3])
CHOSEN = np.array([1, 0, 0, 1, 1, 0, 1])
SEEN = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0], [0, 1, 0]])
ROWS, SCALE = RNG.normal(size=(N, 2)), np.array([[1.0, 0.3], [0.3, 2.0]])
WEIGHTS = np.array([0.7, -1.1, 2.0])
LEAST, MOST = np.zeros((N, 3), int), np.ones((N, 3), int)  # of elements, of which those of the second number are known
LEAST[1], MOST[2, 2], LEAST[4, :2] = 1, 0, 1
SERIES = RNG.normal(size=(3, 5))
VALUES = {
    "mu": np.array([-0.4, 0.9]), "s": np.array(1.3), "p": np.array(0.35), "q": np.array(0.6), "l": np.array(2.2),
    "a": np.array([0.2, -1.0]), "b": np.array([1.0, 0.5]), "pi": np.array([0.3, 0.7]), "c": np.array(0.8),
    "A": np.array([[0.8, 0.2], [0.4, 0.6]]), "th": np.array([[0.8, 0.2], [0.4, 0.6], [0.5, 0.5]]),
}  # fmt: skip
MIX = "parameters { ordered[2] mu; real<lower=0> s; real<lower=0, upper=1> p; array[K] int<lower=0, upper=1> z; }"


def either(p, yes, no):
    return np.logaddexp(np.log(p) + yes, np.log1p(-p) + no)


def mixed(y, sign=1, z=(0, 1)):
    """Of single numbers, each from one of two normal laws."""
    m, s, p = VALUES["mu"], VALUES["s"], VALUES["p"]
    terms = np.log([1 - p, p])[:, None] + norm.logpdf(y, np.multiply.outer(m, np.ones(len(y)) * sign), s)
    return logsumexp(terms[list(z)], axis=0)


def series(y):
    """Of a hidden Markov chain."""
    states = np.log(VALUES["pi"]) + norm.logpdf(y[0], VALUES["mu"], 1)
    for one in y[1:]:
        states = logsumexp(states[:, None] + np.log(VALUES["A"]), axis=0) + norm.logpdf(one, VALUES["mu"], 1)
    return logsumexp(states)


def of_rows():
    laws = [multivariate_normal(VALUES[n], SCALE).logpdf(ROWS) for n in ("a", "b")]
    return either(VALUES["p"], *laws)


def of_two():
    logs = [norm.logpdf(Y, m, VALUES["s"]) + norm.logpdf(W, -m, 1) for m in VALUES["mu"]]
    return either(VALUES["p"], logs[1], logs[0])


def of_zeros():
    return either(VALUES["p"], poisson.logpmf(COUNTS, VALUES["l"]), np.where(COUNTS == 0, 0.0, -np.inf))


def of_sites():
    none = np.where(SEEN.any(axis=1), -np.inf, 0.0)
    return either(VALUES["p"], bernoulli.logpmf(SEEN, VALUES["q"]).sum(axis=1), none)


def of_groups():
    logs = [np.bincount(GROUPS - 1, norm.logpdf(Y, m, VALUES["s"])) for m in VALUES["mu"]]
    return either(VALUES["p"], logs[1], logs[0])


def of_own_laws():
    return logsumexp(np.log(VALUES["th"][GROUPS - 1]) + norm.logpdf(Y[:, None], VALUES["mu"], VALUES["s"]), axis=1)


def of_some():
    """Of all numbers of Y, the first two with those of W."""
    beside = np.array([norm.logpdf(W, k, 1) * (np.arange(N) < 2) for k in (0, 1)])
    logs = [norm.logpdf(Y, m, VALUES["s"]) for m in VALUES["mu"]] + beside
    return either(VALUES["p"], logs[1], logs[0])


def of_sums(size):
    c = np.arange(size + 1)
    logs = binom.logpmf(c, size, VALUES["p"]) + norm.logpdf(Y[:, None], VALUES["c"] * c, VALUES["s"])
    return logsumexp(logs, axis=1)


def of_products():
    """Of the numbers of Y, each with three elements, of which some are known."""
    states = np.array(np.meshgrid(*[[0, 1]] * 3, indexing="ij")).reshape(3, -1).T
    prior = bernoulli.logpmf(states, VALUES["p"]).sum(axis=1)
    logs = prior + norm.logpdf(Y[:, None], states @ WEIGHTS, VALUES["s"])
    possible = ((states >= LEAST[:, None]) & (states <= MOST[:, None])).all(axis=2)
    return logsumexp(np.where(possible, logs, -np.inf), axis=1)


def of_known():
    return np.concatenate([mixed(Y[:2], z=[0]), mixed(Y[2:5]), mixed(Y[5:], z=[1])])


DATA = "data { int N; int K; vector[N] y; vector[N] w; array[N] int o; array[N] int g; array[N] int u; } "
GIVEN = {"N": N, "K": N, "y": Y, "w": W, "o": ORDER, "g": GROUPS, "u": CHOSEN}
CASES = {
    "a loop": (DATA + MIX + """model { for (n in 1:N) { z[n] ~ bernoulli(p); y[n] ~ normal(mu[z[n] + 1], s); } }""",
               GIVEN, {"y": mixed(Y)}),
    "local copies": (DATA + MIX + """model { z ~ bernoulli(p);
        for (n in 1:N) { real own = y[n]; own ~ normal(mu[z[n] + 1], s); } }""", GIVEN, {"y": mixed(Y)}),
    "data in another order": (DATA + MIX + """model { z ~ bernoulli(p);
        for (n in 1:N) y[o[n]] ~ normal(mu[z[n] + 1], s); }""", GIVEN, {"y": mixed(Y)}),
    "parameters in another order": (DATA + MIX + """model { z ~ bernoulli(p);
        for (n in 1:N) y[n] ~ normal(mu[z[o[n]] + 1], s); }""", GIVEN, {"y": mixed(Y)}),
    "increments": (DATA + MIX + """model { z ~ bernoulli(p);
        for (n in 1:N) target += normal_lpdf(y[n] | mu[z[n] + 1], s); }""", GIVEN, {"y": mixed(Y)}),
    "parameters of no data": (DATA + MIX + """model { z ~ bernoulli(p);
        for (n in 1:N) y[n] ~ normal(mu[z[n] + 1], s); }""", GIVEN | {"K": N + 3}, {"y": mixed(Y)}),
    "other data": (DATA + MIX + """model { z ~ bernoulli(p); w ~ normal(mu[1], s);
        for (n in 1:N) y[n] ~ normal(mu[z[n] + 1], s); }""", GIVEN,
        {"y": mixed(Y), "w": norm.logpdf(W, VALUES["mu"][0], VALUES["s"])}),
    "a part of the data": (DATA + MIX + """model { z ~ bernoulli(p); y[1:3] ~ normal(mu[1], s);
        for (n in 4:N) y[n] ~ normal(mu[z[n] + 1], s); }""", GIVEN,
        {"y": norm.logpdf(Y[:3], VALUES["mu"][0], VALUES["s"]), "y__2": mixed(Y[3:])}),
    "two statements": (DATA + MIX + """model { z ~ bernoulli(p); for (n in 1:N) {
        if (u[n]) y[n] ~ normal(mu[z[n] + 1], s); else y[n] ~ normal(-mu[z[n] + 1], s); } }""", GIVEN,
        {"y": mixed(Y, np.where(CHOSEN, 1, -1))}),
    "two observations": (DATA + MIX + """model { z ~ bernoulli(p); for (n in 1:N) {
        y[n] ~ normal(mu[z[n] + 1], s); w[n] ~ normal(-mu[z[n] + 1], 1); } }""", GIVEN, {"y": of_two()}),
    "groups": (DATA + MIX + """model { z ~ bernoulli(p); for (n in 1:N) y[n] ~ normal(mu[z[g[n]] + 1], s); }""",
               GIVEN | {"K": 3}, {"y": of_groups()}),
    "laws of each": ("""data { int N; vector[N] y; array[N] int g; } parameters { ordered[2] mu; real<lower=0> s;
        array[3] simplex[2] th; array[N] int<lower=1, upper=2> z; } model {
        for (n in 1:N) { z[n] ~ categorical(th[g[n]]); y[n] ~ normal(mu[z[n]], s); } }""",
        {"N": N, "y": Y, "g": GROUPS},
        {"y": of_own_laws()}),
    "known ones": ("""data { int N; vector[N] y; array[N] int lo; array[N] int up; } parameters { ordered[2] mu;
        real<lower=0> s; real<lower=0, upper=1> p; array[N] int<lower=lo, upper=up> z; } model { z ~ bernoulli(p);
        for (n in 1:N) y[n] ~ normal(mu[z[n] + 1], s); }""",
        {"N": N, "y": Y, "lo": [0, 0, 0, 0, 0, 1, 1], "up": [0, 0, 1, 1, 1, 1, 1]}, {"y": of_known()}),
    "zeros": ("""data { int N; array[N] int y; } parameters { real<lower=0> l; real<lower=0, upper=1> p;
        array[N] int<lower=0, upper=1> z; } model { for (n in 1:N) { z[n] ~ bernoulli(p);
        if (z[n] == 1) y[n] ~ poisson(l); else if (y[n] > 0) target += negative_infinity(); } }""",
        {"N": N, "y": COUNTS}, {"y": of_zeros()}),
    "zeros by a product": ("""data { int N; array[N] int y; } parameters { real<lower=0> l;
        real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; } model { z ~ bernoulli(p);
        for (n in 1:N) y[n] ~ poisson(z[n] * l); }""", {"N": N, "y": COUNTS}, {"y": of_zeros()}),
    "vectors": ("""data { int N; array[N] vector[2] y; matrix[2, 2] S; array[N] int o; } parameters { vector[2] a;
        vector[2] b; real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; } model { z ~ bernoulli(p);
        for (n in 1:N) y[o[n]] ~ multi_normal(z[n] == 1 ? a : b, S); }""",
        {"N": N, "y": ROWS, "S": SCALE, "o": ORDER}, {"y": of_rows()}),
    "sites": ("""data { int I; int J; array[I, J] int y; } parameters { real<lower=0, upper=1> p;
        real<lower=0, upper=1> q; array[I] int<lower=0, upper=1> z; } model { z ~ bernoulli(p);
        for (i in 1:I) for (j in 1:J) y[i, j] ~ bernoulli(z[i] * q); }""",
        {"I": 5, "J": 3, "y": SEEN}, {"y": of_sites()}),
    "sums of several": ("""data { int N; vector[N] y; } parameters { real c; real<lower=0> s;
        real<lower=0, upper=1> p; array[N, 4] int<lower=0, upper=1> z; } model {
        for (n in 1:N) { z[n] ~ bernoulli(p); y[n] ~ normal(c * sum(z[n]), s); } }""",
        {"N": N, "y": Y}, {"y": of_sums(4)}),
    "sums of two": ("""data { int N; vector[N] y; } parameters { real c; real<lower=0> s;
        real<lower=0, upper=1> p; array[N, 2] int<lower=0, upper=1> z; } model {
        for (n in 1:N) { z[n] ~ bernoulli(p); y[n] ~ normal(c * sum(z[n]), s); } }""",
        {"N": N, "y": Y}, {"y": of_sums(2)}),
    "slices, some of them known": ("""data { int N; vector[N] y; vector[3] w; array[N, 3] int lo;
        array[N, 3] int up; } parameters { real<lower=0> s; real<lower=0, upper=1> p;
        array[N, 3] int<lower=lo, upper=up> z; } model { for (n in 1:N) { z[n] ~ bernoulli(p);
        y[n] ~ normal(dot_product(w, to_vector(z[n])), s); } }""",
        {"N": N, "y": Y, "w": WEIGHTS, "lo": LEAST, "up": MOST}, {"y": of_products()}),
    "elements, some of them known": ("""data { int N; vector[N] y; vector[3] w; array[N, 3] int lo;
        array[N, 3] int up; } parameters { real<lower=0> s; real<lower=0, upper=1> p;
        array[N, 3] int<lower=lo, upper=up> z; } model { for (n in 1:N) { z[n] ~ bernoulli(p);
        y[n] ~ normal(w[1] * z[n, 1] + w[2] * z[n, 2] + w[3] * z[n, 3], s); } }""",
        {"N": N, "y": Y, "w": WEIGHTS, "lo": LEAST, "up": MOST}, {"y": of_products()}),
    "series": ("""data { int R; int T; array[R] vector[T] y; } parameters { ordered[2] mu; array[2] simplex[2] A;
        simplex[2] pi; array[R, T] int<lower=1, upper=2> z; } model { for (r in 1:R) { z[r, 1] ~ categorical(pi);
        for (t in 2:T) z[r, t] ~ categorical(A[z[r, t - 1]]); for (t in 1:T) y[r, t] ~ normal(mu[z[r, t]], 1); } }""",
        {"R": 3, "T": 5, "y": SERIES}, {"y": np.array([series(y) for y in SERIES])}),
    "one series": ("""data { int T; vector[T] y; } parameters { ordered[2] mu; array[2] simplex[2] A;
        simplex[2] pi; array[T] int<lower=1, upper=2> z; } model { z[1] ~ categorical(pi);
        for (t in 2:T) z[t] ~ categorical(A[z[t - 1]]); y ~ normal(mu[z], 1); }""",
        {"T": 5, "y": SERIES[0]}, {"y": np.array([series(SERIES[0])])}),
    "a function": ("functions { real f(real y, vector mu, int z, real s) { return normal_lpdf(y | mu[z + 1], s); } }"
        + DATA + MIX + "model { z ~ bernoulli(p); for (n in 1:N) target += f(y[n], mu, z[n], s); }", GIVEN,
        {"y": mixed(Y)}),
    "a local variable": (DATA + MIX + """model { z ~ bernoulli(p); for (n in 1:2) w[n] ~ normal(z[n], 1);
        for (n in 1:N) { real r = y[n] - mu[z[n] + 1]; r ~ normal(0, s); } }""", GIVEN, {"w": of_some()}),
    "one number": ("""data { real y; } parameters { ordered[2] mu; real<lower=0> s; real<lower=0, upper=1> p;
        int<lower=0, upper=1> z; } model { z ~ bernoulli(p); y ~ normal(mu[z + 1], s); }""", {"y": Y[0]},
        {"y": mixed(Y[:1])[0]}),
    "no number": (DATA + MIX + "model { z ~ bernoulli(p); for (n in 1:N) y[n] ~ normal(mu[z[n] + 1], s); }",
        {"N": 0, "K": 0, **dict.fromkeys("ywogu", [])}, {"y": np.zeros(0)}),
}  # fmt: skip
# which no single number of the data has
OF_NO_PLACE = {"groups", "sites", "series", "one series", "a function", "a local variable", "local copies", "no number"}


def found_of(name):
    program, data, _ = CASES[name]
    module = stanimport.loads(program)
    names = [v.name for v in module.stan.parameters]
    posterior = Posterior(observing_apart(module), data)
    return observations.log_densities(posterior, {n: VALUES[n][None, None] for n in names}, 1)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", CASES)
def test_log_densities_are_sums_over_the_values_of_what_is_coupled(name):
    found, places = found_of(name)
    wanted = CASES[name][2]
    assert found.keys() == wanted.keys()
    for variable, value in wanted.items():
        np.testing.assert_allclose(found[variable][0, 0], value, rtol=1e-12)
    of_no_place = {n for n, where in places.items() if isinstance(where, str)}
    assert of_no_place == (set(wanted) if name in OF_NO_PLACE else set())
    assert all((np.diff(places[n].ravel()) > 0).all() for n in places.keys() - of_no_place)


def test_labels_that_data_give_for_some_rows():
    program = """data { int I; int J; array[I, J] int y; array[I] int label; array[2] int unknown; }
        parameters { real<lower=0, upper=1> p; array[2] simplex[2] A; array[2] int<lower=1, upper=2> z; }
        model { array[I] int c = label; c[unknown] = z; z ~ categorical([1 - p, p]');
        for (i in 1:I) for (j in 1:J) y[i, j] ~ bernoulli(A[c[i], 2]); }"""
    data = {"I": 5, "J": 3, "y": SEEN, "label": [1, 0, 2, 0, 2], "unknown": [2, 4]}
    posterior = Posterior(observing_apart(stanimport.loads(program)), data)
    found, _ = observations.log_densities(posterior, {n: VALUES[n][None, None] for n in "pA"}, 1)
    each = bernoulli.logpmf(SEEN[..., None], VALUES["A"][:, 1])
    np.testing.assert_allclose(found["y"][0, 0], each[[0, 2, 4], :, [0, 1, 1]], rtol=1e-12)
    of_rows = each[[1, 3]].sum(axis=1)
    np.testing.assert_allclose(found["y__2"][0, 0], either(VALUES["p"], of_rows[:, 1], of_rows[:, 0]), rtol=1e-12)


@pytest.mark.slow
def test_what_is_coupled_is_told():
    fit = fitted(CASES["sites"][0], CASES["sites"][1])
    with pytest.warns(observations.LikelihoodWarning, match="holds 5 log densities of the 15 numbers of y: those that"):
        made = observations.log_likelihood(fit)
    assert made["y"].shape == (1, 3, 5)
    assert told(CASES["a loop"]) == []


@pytest.mark.parametrize("outcome", ["y + w", "backwards(y)", "own"])
def test_what_hides_its_data_is_told(outcome):
    functions = "functions { vector backwards(vector v) { return reverse(v); } } "
    program = functions + DATA + MIX + f"""model {{ array[N] int at; for (n in 1:N) at[n] = z[n] + 1;
        vector[N] own = y .* w; z ~ bernoulli(p); {outcome} ~ normal(mu[at], s); }}"""
    variables = "y" if outcome == "backwards(y)" else "w, y"
    assert told((program, GIVEN)) == [f"the log likelihood leaves out what line 2 adds to the target, which depends on "
                                      f"{variables}: it is no log density of single observations"]  # fmt: skip


def test_the_order_of_what_stands_in_another_one_is_told():
    program = DATA + MIX + """model { array[N] int at; for (n in 1:N) at[n] = z[n] + 1;
        z ~ bernoulli(p); reverse(y) ~ normal(mu[at], s); }"""
    message = "".join(told((program, GIVEN)))
    assert "has the log densities of y in the order in which the program computes them" in message


def fitted(program, data):
    return stanimport.sample(stanimport.loads(program), data, chains=1, iter_warmup=20, iter_sampling=3, seed=1)


def told(case):
    fit = fitted(*case[:2])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        observations.log_likelihood(fit)
    return [str(w.message) for w in found if w.category is observations.LikelihoodWarning]

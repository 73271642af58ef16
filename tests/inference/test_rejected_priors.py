"""Draws from priors of programs that reject some: those that are left have the density that the program says."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport import StanDataError, StanError


def fits(values, cdf):
    assert stats.kstest(np.ravel(values), cdf).pvalue > 1e-4


def drawn(program, data=None, draws=1200):
    return stanimport.prior_predictive(stanimport.loads(program), data or {}, draws=draws, seed=3).stan_variables()


def above(bound):
    return stats.truncnorm(bound, np.inf).cdf


@pytest.mark.sampled(4)
@pytest.mark.parametrize("extra, block, outcome, bound", [
    ("", 'if (m < 0.3) reject("too small");', "normal(m, 1)", 0.3),
    ("transformed parameters { real<lower=-0.2> q = m; }", "", "normal(q, 1)", -0.2),
    ("", "", "normal(0, m)", 0.0),  # Stan throws for a negative scale, whatever y is
    ("", "for (n in 1:N) if (c[n] > 0) y[n] ~ normal(0, m + c[n]); else y[n] ~ normal(m, 1);", None, -0.5),
    ("", "for (n in 1:N) if (m > c[n]) y[n] ~ normal(0, m - c[n] - 0.25);", None, None),
])  # fmt: skip
def test_draws_that_the_program_rejects_are_drawn_anew(extra, block, outcome, bound):
    observed = f"y ~ {outcome};" if outcome else ""
    d = drawn(f"""data {{ int N; vector[N] c; vector[N] y; }} parameters {{ real m; }} {extra}
        model {{ m ~ normal(0, 1); {block} {observed} }}""", {"N": 2, "c": [-5, 0.5], "y": [1, 2]})  # fmt: skip
    if bound is not None:
        fits(d["m"], above(bound))
    else:  # neither in (c, c + 0.25) for any c
        assert not ((d["m"] > 0.5) & (d["m"] < 0.75)).any()
        assert ((d["m"] > 0.3) & (d["m"] < 0.5)).any() and (d["m"] > 0.75).any()


def test_parameters_of_laws_that_would_throw():
    d = drawn("parameters { real s; real m; vector[2] x; } "
              "model { s ~ normal(0, 1); m ~ normal(0, s); x[1] ~ normal(m, s); x[2] ~ normal(x[1], s); }")  # fmt: skip
    fits(d["s"], above(0))
    fits((d["x"][:, 1] - d["x"][:, 0]) / d["s"], stats.norm.cdf)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("outcome, law", [
    ("vector[2] y", "y ~ uniform(0, m)"),
    ("real y", "y ~ normal(0, 1) T[0, m]"),
    ("vector[2] y", "for (n in 1:2) y[n] ~ normal(0, 1) T[0, m]"),
    ("matrix[2, 2] y", "y ~ wishart(m + 1, identity_matrix(2))"),
    ("matrix[2, 2] y", "y ~ inv_wishart_cholesky(m + 1, identity_matrix(2))"),
])  # fmt: skip
def test_parameters_of_laws_that_throw_because_of_others(outcome, law):
    d = drawn(f"data {{ {outcome}; }} parameters {{ real m; }} model {{ m ~ normal(0, 1); {law}; }}",
              {"y": {"real y": 0.5, "vector[2] y": [0.5, 0.4]}.get(outcome, np.eye(2))})  # fmt: skip
    fits(d["m"], above(0))


def test_priors_of_matrices_with_degrees_of_freedom_of_their_own():
    d = drawn("parameters { real nu; cov_matrix[3] S; } "
              "model { nu ~ normal(2.5, 0.5); S ~ wishart(nu, identity_matrix(3)); }")  # fmt: skip
    fits(d["nu"], stats.truncnorm(-1, np.inf, 2.5, 0.5).cdf)
    fits(stats.chi2(d["nu"]).cdf(d["S"][:, 1, 1]), stats.uniform.cdf)


def test_elements_of_ordered_vectors():
    """By brute force: draws of all elements, and of what their laws depend on, those in another order left out."""
    d = drawn("parameters { array[2] ordered[3] c; real<lower=0> tau; positive_ordered[3] p; } "
              "model { tau ~ exponential(1); for (i in 1:2) { c[i][1] ~ normal(0, tau); c[i][2:3] ~ normal(i, 1); } "
              "p[1] ~ exponential(1); p[2] ~ normal(0, 2); p[3] ~ lognormal(0, 1); }", draws=2000)  # fmt: skip
    rng, n = np.random.default_rng(1), 200_000
    tau = rng.exponential(size=n)
    c = np.stack([np.c_[rng.normal(0, tau), rng.normal(i, 1, (n, 2))] for i in (1, 2)], axis=1)
    p = np.c_[rng.exponential(size=n), abs(rng.normal(0, 2, n)), rng.lognormal(0, 1, n)]
    kept = (np.diff(c) > 0).all((1, 2))
    for mine, theirs in ((d["tau"], tau[kept]), *((d["c"][:, i, k], c[kept, i, k]) for i in (0, 1) for k in range(3))):
        assert stats.ks_2samp(mine, theirs).pvalue > 1e-4
    p = p[(np.diff(p) > 0).all(1)]
    for k in range(3):
        assert stats.ks_2samp(d["p"][:, k], p[:, k]).pvalue > 1e-4


BRMS = """
data { int K; vector[2] con_simo; }
parameters {
  simplex[2] simo; real<lower=0> lscale; vector<lower=0>[K] local; real<lower=0> global; real<lower=0> sigma;
}
transformed parameters {
  real lprior = 0;
  lprior += dirichlet_lpdf(simo | con_simo);
  lprior += inv_gamma_lpdf(lscale | 1.5, 0.5);
  lprior += student_t_lpdf(global | 3, 0, 2 * sigma) - 1 * log(0.5);
  lprior += student_t_lpdf(sigma | 3, 0, 2.5) - 1 * student_t_lccdf(0 | 3, 0, 2.5);
}
model {
  target += student_t_lpdf(local | 3, 0, 1) - rows(local) * log(0.5);
  target += lprior;
}
"""


@pytest.mark.slow
def test_priors_that_brms_writes_for_monotonic_effects_gaussian_processes_and_horseshoes():
    d = drawn(BRMS, {"K": 2, "con_simo": [2.0, 1.0]})
    fits(d["simo"][:, 0], stats.beta(2, 1).cdf)
    fits(d["lscale"], stats.invgamma(1.5, scale=0.5).cdf)
    fits(2 * stats.t(3).cdf(d["local"]) - 1, stats.uniform.cdf)
    fits(2 * stats.t(3).cdf(d["global"] / (2 * d["sigma"])) - 1, stats.uniform.cdf)


def test_what_is_rejected_always_or_for_data_that_are_not_there_is_told():
    with pytest.raises(StanError, match="rejects more than 999 in 1000"):
        drawn("parameters { real m; } model { m ~ normal(0, 1); if (m < 100) reject(m); }")
    with pytest.raises(StanDataError, match="which of them the program rejects, depend on y"):
        drawn("data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1);"
              "for (n in 1:N) if (m < y[n]) reject(m); }", {"N": 2})  # fmt: skip


LIKELIHOODS = {  # what data add beside densities of theirs: the prior is the same
    "zeros": "for (n in 1:N) { if (k[n] == 0) target += log_sum_exp(log(p), log1m(p) - 2); "
             "else target += log1m(p) + poisson_lpmf(k[n] | 2); }",
    "censored": "for (n in 1:N) { if (c[n] == 1) target += exponential_lccdf(t[n] | p); else t[n] ~ exponential(p); }",
    "all censored": "target += exponential_lccdf(t | p);",
}  # fmt: skip


@pytest.mark.parametrize("case", LIKELIHOODS)
@pytest.mark.filterwarnings("ignore::stanimport.inference.ReplicationWarning")
def test_what_outcomes_add_is_no_prior(case):
    program = ("data { int N; array[N] int k; array[N] int c; vector[N] t; } parameters { real<lower=0, upper=1> p; } "
               "model { p ~ beta(2, 5); %s }")  # fmt: skip
    d = drawn(program % LIKELIHOODS[case], {"N": 3, "k": [0, 3, 0], "c": [0, 1, 1], "t": [1.0, 2, 3]})
    fits(d["p"], stats.beta(2, 5).cdf)


@pytest.mark.parametrize("statement", [
    "for (n in 1:N) target += beta_lpdf(p | 20, 2) + normal_lpdf(t[n] | p, 1);",
    "real lp = -square(p); for (n in 1:N) lp += normal_lpdf(t[n] | p, 1); target += lp;",
    "for (n in 1:N) { t[n] ~ normal(p, 1); target += -normal_lccdf(0 | p, 1); }", "target += normal_lccdf(0 | p, 1);",
    "target += exponential_lccdf(t | p) - square(p);", "target += exponential_lccdf(t * p | p);",
])  # fmt: skip
def test_what_is_added_of_parameters_beside_may_be_a_prior(statement):
    program = "data { int N; vector[N] t; } parameters { real<lower=0, upper=1> p; } model { %s }"
    with pytest.raises(StanError, match="without being a law of one parameter or of data"):
        drawn(program % statement, {"N": 3, "t": [1.0, 2, 3]})

"""Laws of other sizes than what they are laws of: Stan throws, and no parameter takes the size of its law."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport.inference.density.posterior import Posterior
from stanlib.errors import StanDomainError, StanIndexError

THREE = "data { vector[3] a; } "
WRONG = {  # what is declared and its law; the sizes that the message has
    "multi_normal": ("vector[2] p;", "p ~ multi_normal(a, identity_matrix(3));", "2", "3"),
    "multi_normal_arrays": ("array[4] vector[2] p;", "p ~ multi_normal(a, identity_matrix(3));", "2", "3"),
    "multi_normal_of_one": ("vector[2] p;", "p ~ multi_normal(a[1:1], [[1]]);", "2", "1"),
    "multi_normal_cholesky": ("vector[2] p;", "p ~ multi_normal_cholesky(a, identity_matrix(3));", "2", "3"),
    "multi_student_t": ("vector[2] p;", "p ~ multi_student_t(4, a, identity_matrix(3));", "2", "3"),
    "dirichlet": ("simplex[2] p;", "p ~ dirichlet(a);", "2", "3"),
    "dirichlet_arrays": ("array[2] simplex[4] p;", "p ~ dirichlet(a);", "4", "3"),
    "wishart": ("cov_matrix[2] p;", "p ~ wishart(4, identity_matrix(3));", "2", "3"),
    "inv_wishart": ("cov_matrix[2] p;", "p ~ inv_wishart(4, identity_matrix(3));", "2", "3"),
    "normal": ("vector[2] p;", "p ~ normal(a, 1);", "2", "3"),
    "observed": ("vector[2] m;", "a ~ multi_normal(m, identity_matrix(3));", "2", "3"),
    "observed_cholesky": ("vector[3] m; real<lower=0> s;",
                          "a ~ multi_normal_cholesky(m, s * identity_matrix(2));", "3", "2"),
    "observed_precision": ("vector[2] m;", "a ~ multi_normal_prec(m, identity_matrix(3));", "2", "3"),
}  # fmt: skip


def log_density(text, data, backend, scheme):
    """At zeros, of the model that inference works with."""
    module = stanimport.loads(text, name="sizes", backend=backend, scheme=scheme)
    if backend == "numpyro":
        posterior = Posterior(module, module.transformed_data(**data))
        return float(posterior.log_density(np.zeros(posterior.size)))
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    density = Density(module, data)
    return float(density(torch.zeros(density.size)))


@pytest.fixture(params=["numpyro", "pyro"])
def backend(request, x64):
    if request.param == "pyro":
        request.getfixturevalue("torch_double")
    return request.param


@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
@pytest.mark.parametrize("name", WRONG)
def test_laws_of_other_sizes_are_refused(name, backend, scheme):
    declared, law, one, other = WRONG[name]
    text = f"{THREE}\nparameters {{ {declared} }}\nmodel {{ {law} }}"
    with pytest.raises(StanIndexError, match="line 3") as error:
        log_density(text, {"a": [2.0, 1.0, 3.0]}, backend, scheme)
    message = str(error.value).partition("; in")[0]
    assert one in message and other in message and "broadcast" not in message


@pytest.mark.parametrize("law", ["n ~ binomial(N, inv_logit(p));", "n ~ binomial_logit(N, p);",
                                 "for (i in 1:2) n[i] ~ binomial(N[i], inv_logit(p));",
                                 "n ~ beta_binomial(N, exp(p), 2);",
                                 "target += binomial_logit_lpmf(n | N, p);"])  # fmt: skip
def test_more_successes_than_trials_are_errors_of_data(law, backend):
    text = f"data {{ array[2] int n, N; }} parameters {{ real p; }}\nmodel {{ {law} }}"
    assert np.isfinite(log_density(text, {"n": [3, 0], "N": [3, 2]}, backend, "mixed"))
    if law.startswith("n ~ beta"):  # of which Stan's density is zero
        assert log_density(text, {"n": [3, 1], "N": [2, 3]}, backend, "mixed") == -np.inf
        return
    with pytest.raises(StanDomainError, match="line 2"):
        log_density(text, {"n": [3, 1], "N": [2, 3]}, backend, "mixed")

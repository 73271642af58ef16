"""`format(canonicalize=["deprecations"])`: today's text of programs of older versions of Stan, which says the same."""
from __future__ import annotations

import numpy as np
import pytest
import stanli
from test_older_stan import FORMS, program

import stanimport
from tests.densities import log_density

pytestmark = pytest.mark.filterwarnings("ignore::stanimport.errors.StanDeprecationWarning")


def upgraded(text: str) -> str:
    return stanimport.format("m.stan", source=text, canonicalize=["deprecations"])


# Functions without and with a body, the model, and what it becomes.
CHANGED = {
    "a density of the library": ("", "target += normal_log(x, 0, 1);", "target += normal_lpdf(x | 0, 1);"),
    "a mass function": ("", "target += poisson_log(2, exp(x[1]));", "target += poisson_lpmf(2 | exp(x[1]));"),
    "distribution functions": (
        "", "target += normal_cdf_log(x, 0, 1) + normal_ccdf_log(x, 0, 1) + log(normal_cdf(x, 0, 1));",
        "target += normal_lcdf(x | 0, 1) + normal_lccdf(x | 0, 1) + log(normal_cdf(x | 0, 1));",
    ),
    "a suffix behind ~": ("", "x ~ normal_lpdf(0, 1);", "x ~ normal(0, 1);"),
    "increment_log_prob": ("", "increment_log_prob(x[1]);", "target += x[1];"),
    "get_lp": ("", "target += 0 * get_lp();", "target += 0 * target();"),
    "renamed functions": (
        "", "target += fabs(x[1]) + multiply_log(2, exp(x[1])) + binomial_coefficient_log(5, 2);",
        "target += abs(x[1]) + lmultiply(2, exp(x[1])) + lchoose(5, 2);",
    ),
    "if_else": ("", "target += if_else(x[1] > 0, x[2], 2);", "target += (x[1] > 0 ? x[2] : 2);"),
    "a real condition": ("", "if (x[1]) target += x[2];", "if ((x[1] != 0)) target += x[2];"),
    "a real operand": ("", "target += !x[1] + (x[2] && 1);", "target += !(x[1] != 0) + ((x[2] != 0) && 1);"),
    "assignment by an arrow": ("", "real y; y <- x[1]; target += y;", "real y; y = x[1]; target += y;"),
    "a density of its own": (
        "real f_log(real y, real m) { return -square(y - m); }", "x[1] ~ f(x[2]); target += f_log(x[3], 1);",
        "x[1] ~ f(x[2]); target += f_lpdf(x[3] | 1);",
    ),
    "a mass function of its own": (
        "real f_log(int n, real m) { return -n * m; }", "2 ~ f(x[2]);", "2 ~ f(x[2]);",
    ),
    "truncation by functions of its own": (
        """real f_log(real y, real r) { return log(r) - r * y; }
           real f_cdf_log(real y, real r) { return log1m_exp(-r * y); }
           real f_ccdf_log(real y, real r) { return -r * y; }""",
        "real y = exp(x[1]); y ~ f(2) T[0.1, ]; y ~ f(exp(x[2])) T[0.1, 9];",
        "real y = exp(x[1]); y ~ f(2) T[0.1, ]; y ~ f(exp(x[2])) T[0.1, 9];",
    ),
}  # fmt: skip


def whole(functions: str, model: str) -> str:
    block = f"functions {{ {functions} }} " if functions else ""
    return f"{block}parameters {{ vector[3] x; }} model {{ {model} }}"


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CHANGED)
def test_old_forms_get_today_s(name):
    """The new text is Stan of today, to stanc and in strict mode, with the density that the old one has here."""
    functions, old, new = CHANGED[name]
    made = upgraded(whole(functions, old))
    assert squeezed(new) in squeezed(made)
    assert [w for w in stanimport.check("m.stan", source=made, strict=True) if w.severity == "deprecation"] == []
    point = np.array([0.3, -0.7, 1.2])
    ours = log_density(whole(functions, old), {}, {"x": point})
    assert ours == pytest.approx(log_density(made, {}, {"x": point}), rel=1e-12)
    if "~" not in old:  # where stanli drops constants
        assert ours == pytest.approx(stanli.Model(stan_code=made, data={}).log_prob_grad(point)[0], rel=1e-6)


UNCHANGED = {
    "fabs of an int is a real number": "target += fabs(3) / 2;",
    "if_else of ints gives a real number": "target += if_else(x[1] > 0, 3, 5) / 2;",
    "a successor that takes no row vectors": "array[2] row_vector[2] z = {[1, 2], [0, 1]}; "
    "target += sum(cov_exp_quad(z, 1.0, 1.5));",
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_would_mean_something_else_stays(name):
    assert squeezed(UNCHANGED[name]) in squeezed(upgraded(whole("", UNCHANGED[name])))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FORMS)
def test_every_older_form_means_the_same_behind_it(name):
    old = program(FORMS[name][0])
    point = {"x": np.array([0.3, -0.7, 1.2])}
    assert log_density(upgraded(old), {}, point) == pytest.approx(log_density(old, {}, point), rel=1e-12)


def test_a_program_of_today_stays():
    text = whole("real f_lpdf(real y, real m) { return -abs(y - m); }", "x[1] ~ f(x[2]); if (x[1] > 0) target += x[2];")
    assert upgraded(text) == stanimport.format("m.stan", source=text)

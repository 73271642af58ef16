"""Every distribution: pedantic mode warns of a parameter without bounds wherever stanc's does."""
from __future__ import annotations

import pytest

import stanimport
from stanlib import registry, signatures
from stanlib.distribution import get
from stanlib.types import unwind

# The arguments (from 1; the outcome is 0) for which `stanc --warn-pedantic` of version 2.35 asks for another
# declaration, if they are parameters that are declared without a constraint.
STANC = """
bernoulli:1 beta:1,2 beta_binomial:2,3 beta_proportion:1,2 binomial:2 categorical:1 cauchy:2 gamma:1,2 chi_square:1
dirichlet:1 multinomial:1 double_exponential:2 exp_mod_normal:2,3 exponential:1 frechet:1,2 gaussian_dlm_obs:3,4
gumbel:2 inv_gamma:1,2 inv_chi_square:1 wishart:1,2 inv_wishart:1,2 inv_wishart_cholesky:1,2 lkj_corr:1
lkj_corr_cholesky:1 lognormal:2 logistic:2 multi_gp:1 multi_gp_cholesky:1 multi_normal:2 multi_normal_cholesky:2
multi_normal_prec:2 multi_student_t:1,3 multi_student_t_cholesky:1,3 neg_binomial_2:1,2 neg_binomial:1,2
neg_binomial_2_log:2 neg_binomial_2_log_glm:4 normal:2 normal_id_glm:4 ordered_logistic:2 ordered_probit:2 pareto:1,2
pareto_type_2:2,3 poisson:1 rayleigh:1 scaled_inv_chi_square:1,2 skew_normal:2 student_t:1,3 von_mises:2 weibull:1,2
wishart_cholesky:1,2
"""
ROWS = {name: positions.split(",") for name, positions in (row.split(":") for row in STANC.split())}
SIZES = {"vector": "[3]", "row_vector": "[3]", "matrix": "[3, 3]"}


def declared(t, name):
    element, dims = unwind(t)
    front = f"array[{', '.join('2' * dims)}] " if dims else ""
    return f"{front}{element}{SIZES.get(str(element), '')} {name};"


def program(name, position):
    """The density with a parameter in that place, and data in all others."""
    registry.load()
    types = signatures.parse(get(name).texts[0]).overloads[0].types
    lines = [declared(t, f"a{i}") for i, t in enumerate(types)]
    parameter = lines.pop(position)
    arguments = ", ".join(f"a{i}" for i in range(1, len(types)))
    return f"data {{ {' '.join(lines)} }} parameters {{ {parameter} }} model {{ a0 ~ {name}({arguments}); }}"


@pytest.mark.parametrize("name", ROWS)
def test_a_parameter_without_bounds(name):
    for position in map(int, ROWS[name]):
        warnings = stanimport.check("p.stan", source=program(name, position), pedantic=True)
        told = [w.message for w in warnings if w.code == "support"]
        assert len(told) == 1 and f"argument {position} of {name}" in told[0], (position, told)

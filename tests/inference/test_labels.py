"""Names that data carry: of the rows of pandas' series, which a program takes by their places."""
import numpy as np
import pandas as pd
import pytest

import stanimport

PROGRAM = """
data { int N; vector[N] y; vector<lower=0>[N] s; }
parameters { vector[N] theta; }
model { theta ~ normal(0, 1); y ~ normal(theta, s); }
"""
SCHOOLS = pd.Index(["a", "b", "c"], name="school")
Y = pd.Series([1.0, 2.0, 3.0], SCHOOLS)
ERRORS = pd.Series([1.0, 1.0, 2.0], SCHOOLS)
FEW = dict(chains=1, iter_warmup=20, iter_sampling=10, seed=1)


def test_rows_in_different_orders_are_refused_before_the_fit(tmp_path):
    (tmp_path / "rows.stan").write_text(PROGRAM)
    given = {"N": 3, "y": Y, "s": ERRORS[::-1]}
    for program in (stanimport.loads(PROGRAM), tmp_path / "rows.stan"):
        for method in (stanimport.sample, stanimport.optimize):
            with pytest.raises(stanimport.StanDataError, match="y and s have the same school in different orders"):
                method(program, given)


def test_rows_with_different_names_have_none():
    """Of a lagged series, say: no parameter is called by the names of one of them."""
    fit = stanimport.sample(stanimport.loads(PROGRAM), {"N": 3, "y": Y, "s": ERRORS.set_axis(SCHOOLS + "'")}, **FEW)
    assert fit.dims == {} and "theta[1]" in fit.summary().index
    fit = stanimport.sample(stanimport.loads(PROGRAM), {"N": 3, "y": Y, "s": np.ones(3)}, **FEW)
    assert fit.dims["theta"] == ("school",) and "theta[c]" in fit.summary().index

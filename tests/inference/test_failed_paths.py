"""Paths of Pathfinder that can't start are left out with a message, as in CmdStan; if none can that is an error."""
import re
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import ConvergenceWarning, InitialValueError

PROGRAM = """
parameters { real<lower=0> a; real b; }
model { a ~ exponential(2); b ~ normal(3, 0.5); if (b > 1e3) reject("b is too large"); }
"""
GOOD, OUTSIDE, REJECTED = {"a": 1.0, "b": 0.0}, {"a": -1.0, "b": 0.0}, {"a": 1.0, "b": 1e4}


@pytest.fixture(scope="module")
def module():
    return stanimport.loads(PROGRAM, name="starts")


def with_inits(module, inits, **options):
    """The fit, and what was warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        fit = stanimport.pathfinder(module, seed=1, inits=inits, num_paths=len(inits), **options)
    return fit, [str(w.message) for w in told if w.category is ConvergenceWarning]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("bad, reason", [(OUTSIDE, "outside its domain"), (REJECTED, "b is too large")])
@pytest.mark.parametrize("resample", [True, False])
def test_a_path_that_cannot_start_is_left_out(module, bad, reason, resample):
    fit, told = with_inits(module, [GOOD, bad, GOOD], psis_resample=resample, draws=900, num_single_draws=300)
    assert len(told) == 1 and re.match(rf"path 2 of 3 is left out: .*{reason}", told[0]), told
    assert set(np.unique(fit.stats["path__"])) == {1, 3}
    assert fit.num_draws == (900 if resample else 600)
    assert stats.kstest(fit.stan_variable("b"), stats.norm(3, 0.5).cdf).statistic < 0.08
    if not resample:
        assert len(np.unique(fit.stan_variable("b"))) == 600


@pytest.mark.parametrize("bad, error", [(OUTSIDE, stanimport.StanDataError), (REJECTED, InitialValueError)])
def test_it_is_an_error_if_none_can(module, bad, error):
    for inits in ([bad], [bad, bad]):
        with pytest.raises(error):
            stanimport.pathfinder(module, seed=1, inits=inits, num_paths=len(inits))


def test_what_is_no_initial_value_is_an_error(module):
    """Whatever the other paths begin at."""
    with pytest.raises(ValueError, match="inits"):
        stanimport.pathfinder(module, seed=1, inits=[GOOD, -1.0], num_paths=2)
    with pytest.raises(ValueError, match="2 chains"):
        stanimport.pathfinder(module, seed=1, inits=[GOOD], num_paths=2)

"""Draws and probabilities of the discrete parameters of random programs; more of them: `python -m tests.discrete`."""
import numpy as np
import pytest
from scipy import stats

from tests.discrete import asked
from tests.discrete.trial import Skipped


@pytest.mark.parametrize("seed", range(8))
def test_fits_answer_as_all_assignments_do(seed):
    try:
        assert not asked.trial(seed)
    except Skipped as e:
        pytest.skip(str(e))


def test_other_draws_are_found_out():
    p, rng = np.array([0.6, 0.2, 0.2, 0.0]), np.random.default_rng(1)
    drawn = np.bincount(rng.choice(4, asked.DRAWS, p=p), minlength=4)
    assert asked._chance(drawn, p) == pytest.approx(stats.chisquare(drawn[:3], asked.DRAWS * p[:3]).pvalue)
    assert asked._chance(drawn[[1, 0, 2, 3]], p) < asked.UNLIKELY

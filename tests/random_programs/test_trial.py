"""Trials: who decides where Stan's own gradient is approximate, and that nothing wrong passes there."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_ndtr

from . import trial as trials
from .program import RandomProgram
from .referee import ours
from .referee.outcome import differences
from .referee.stan import Stan, approximates_gradients
from .trial import WALKED, Way, trial

TEXT = """parameters { real y; real m; }
model { target += normal_lcdf(y | m, 1.2) + std_normal_lccdf(y + 2); y ~ normal(m, 2) T[, 1.5 + y]; }"""
INTERPRETED = Way(jit=False, parts=("gradient",))


def test_stans_gradient_is_approximate():
    """Ours is the closed form, the hazard of the normal distribution, to all digits; Stan's has five of them."""
    text = "parameters { real y; } model { target += normal_lcdf(y | 0.1, 1.2); }"
    points = [np.array([-3.9]), np.array([0.3])]
    for found, p in zip(ours.outcomes(text, {}, points, jit=False), points):
        z = (p[0] - 0.1) / 1.2
        exact = np.exp(-z * z / 2 - log_ndtr(z)) / np.sqrt(2 * np.pi) / 1.2
        assert found.gradient[0] == pytest.approx(exact, rel=1e-14)
        assert Stan(text, {}).at(p).gradient[0] == pytest.approx(exact, rel=1e-5)
        assert differences([found], [Stan(text, {}).at(p)]) != []


def test_slopes_decide_where_stans_gradient_is_approximate():
    verdict = trial(RandomProgram(TEXT, TEXT), [INTERPRETED], "a name")
    assert (verdict.what, verdict.referee) == ("same", WALKED)


def test_what_is_wrong_by_little_does_not_pass_there(monkeypatch):
    def off(*arguments):
        return [replace(o, gradient=o.gradient * (1 + 2e-6)) for o in made(*arguments)]

    made = ours.outcomes
    monkeypatch.setattr(trials.ours, "outcomes", off)
    assert trial(RandomProgram(TEXT, TEXT), [INTERPRETED], "a name").what == "differs"


@pytest.mark.parametrize("text, approximate", [
    ("target += normal_lcdf(y | 0, 1);", True), ("target += std_normal_lccdf(y);", True),
    ("y ~ normal(0, 1) T[, 3];", True), ("target += lognormal_lcdf(y | 0, 1);", False),
    ("target += log(normal_cdf(y | 0, 1));", False), ("y ~ student_t(4, 0, 1) T[, 3];", False),
    ("y ~ normal(0, 1);", False),
])  # fmt: skip
def test_which_programs_are_meant(text, approximate):
    assert approximates_gradients(text) == approximate


def test_quantities_that_come_out_where_stan_throws_at_every_point_are_a_difference(monkeypatch):
    def deaf(*arguments):
        return [replace(o, values={n: 0.5 for n in o.values}) for o in made(*arguments)]

    text = ("parameters { real y; } model { y ~ std_normal(); }"
            " generated quantities { real z = normal_rng(y, -exp(y)); }")  # fmt: skip
    program = RandomProgram(text, text, features=frozenset({"wild"}), random=frozenset({"z"}))
    way, made = Way(jit=False, parts=("variables",)), ours.outcomes
    assert trial(program, [way], "a name").what == "same"
    monkeypatch.setattr(trials.ours, "outcomes", deaf)
    assert trial(program, [way], "a name").what == "differs"

"""Counters that go along with a loop: the log density is that of the program run by hand, and no iteration waits."""
from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.density.posterior import condition
from tests.random_programs.referee.ours import outcomes
from tests.random_programs.referee.walk import Walker

SIZES, FLAGS = [2, 0, 3, 1], [1, 0, 1, 1]
DATA = {"J": 4, "s": SIZES, "d": FLAGS, "N": 6, "y": [0.3, -0.2, 1.1, 0.4, -1.3, 0.8]}
HEAD = """data { int J; int N; array[J] int s; array[J] int d; vector[N] y; } parameters { vector[J] a; real x; }
  model { int p = 1; """

PROGRAMS = {
    "segments": "for (j in 1:J) { segment(y, p, s[j]) ~ normal(a[j], exp(x)); p += s[j]; } target += p * x;",
    "ranges behind": """p = 0; for (j in 1:J) { int n = s[j]; p = n + p; y[(p - n + 1):p] ~ normal(a[j] * x, 1); }
      target += p * x;""",
    "loops inside": """for (j in 1:J) { for (i in 1:s[j]) { target += a[j] * y[p]; p += 1; } target += p * a[j]; }
      target += p * x;""",
    "downwards": "p = N; for (j in 2:J) { for (i in 1:s[j]) { y[p] ~ normal(a[j], i); p -= 1; } } target += p * x;",
    "some iterations": """for (j in 1:J) { if (d[j] == 1) { target += y[p] * a[j]; p += 1; if (s[j] > 1) p += 1; }
      else target += p * x; } target += p * x^2;""",
    "steps": "for (j in 2:J) { p += d[1]; target += a[j] * y[p]; p += d[1]; if (p > 5) p -= 1; } target += p * x;",
    "even steps": "for (j in -1:1) { target += a[p] * j; p += d[1]; } target += p * x;",
    "two counters": """int q = N; for (j in 1:J) { target += a[j] * sum(y[p:q]); p += d[j]; q -= s[j] > 1 ? 1 : 0; }
      target += p * q * x;""",
    "sums of sums": """int q = 0; for (j in 1:J) { q += p; p += s[j]; target += a[j] * q * p; } target += p * q * x;""",
    "no iterations": "for (j in 3:2) { target += a[p]; p += s[j]; } target += p * x;",
    "bounds that parameters tell": """int k = 1; while (k < 4 && x * 14 > k) k += 1;
      for (i in 1:k) { target += x * y[p]; p += d[i]; } target += p * x;""",
    "inside of a recurrence": """real l = x; for (j in 1:J) { for (i in 1:s[j]) { l = sin(l) + y[p] * l; p += d[i]; }
      l = l * x; } target += l + p * x;""",
    "other sizes in each iteration": """for (j in 1:J) { p = 1; for (i in 1:j) { target += a[j] * y[p]; p += d[i]; } }
      target += p * x;""",
    "in a function": "p = 0; target += f(y, s, a);",
}  # fmt: skip
FUNCTION = """functions { real f(vector y, array[] int s, vector a) { int at = 1; real out = 0;
    for (j in 1:size(s)) { out += sum(segment(y, at, s[j])) * a[j]; at += s[j]; } return out + at * a[1]; } } """
WAITING = {"steps", "sums of sums", "bounds that parameters tell", "inside of a recurrence",
           "other sizes in each iteration"}


def program(name):
    return (FUNCTION if name == "in a function" else "") + HEAD + PROGRAMS[name] + " }"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_density_is_that_of_the_program_run_by_hand(name):
    text, points = program(name), [np.linspace(-0.4, 0.7, 5), np.array([0.2, 0.9, -0.3, 0.5, 0.1])]
    walker = Walker(text, DATA)
    expected = [walker.outcome(p, "positions") for p in points]
    for ours, theirs in zip(outcomes(text, DATA, points, jit=False, parts=("gradient",)), expected):
        assert not theirs.rejected and ours.log_density == pytest.approx(theirs.log_density, rel=1e-9)
        assert ours.gradient @ theirs.direction == pytest.approx(theirs.slope, rel=1e-6, abs=1e-9)
    made = stanimport.translate("positions.stan", source=text)
    assert ("for_loop" in made or "recur(" in made) == (name in WAITING)
    assert not re.search(r"for \w+ in range\(.*:\n", made)  # no loop is written out


def test_segments_of_the_data_are_sites_with_a_term_for_each_number():
    a, x = np.array([0.1, 0.5, -0.3, 0.2]), 0.4
    made = condition(stanimport.loads(program("segments")), DATA)
    groups = np.repeat(np.arange(4), SIZES)
    expected = stats.norm.logpdf(DATA["y"], a[groups], np.exp(x)).sum() + 7 * x
    assert float(made.log_density(np.array([*a, x]))) == pytest.approx(expected, rel=1e-6)


def test_indices_beyond_the_data_are_refused():
    """What the sizes add up to, too."""
    text = HEAD + PROGRAMS["segments"] + " }"
    with pytest.raises(stanimport.StanError, match=re.compile("index|out of range|segment", re.I)):
        condition(stanimport.loads(text), {**DATA, "s": [2, 0, 3, 9]}).log_density(np.zeros(5))

"""A declaration that moves into a branch or loop that isn't run: Stan throws for a negative size all the same."""
from __future__ import annotations

import json
import math

import pytest
import stanli

import stanimport

PROGRAM = """functions { %s }
data { int K; int c; int<lower=0> N; array[N] int k; vector[N] y; }
transformed data { real d = 0; { %s } }
parameters { real a; }
model { a ~ normal(0, 1); %s }"""
SOME = "real some(real x, int K, int c) {{ vector[K] w; {} return x; }}"
MODELS = {
    "branch": "vector[K] w; if (c) { w = rep_vector(a, K); target += sum(w); }",
    "loop": "matrix[2, K] w; for (i in 1:c) { w = rep_matrix(a, 2, K); target += sum(w); }",
    "while": "{ int i = 0; vector[K] w; while (i < c) { w = rep_vector(a, K); i += 1; target += sum(w); } }",
    "nested": "vector[2 * K + 1] w; if (c) for (i in 1:c) { w = rep_vector(a, 2 * K + 1); target += sum(w); }",
}
FUNCTIONS = {
    "function's branch": SOME.format("if (c) { w = rep_vector(x, K); return sum(w); }"),
    "function's loop": SOME.format("for (i in 1:c) { w = rep_vector(x, K); if (i == 2) return sum(w); }"),
}
LOOPS = {
    "branch in a loop": "for (n in 1:N) { vector[k[n]] w; if (y[n] > 9) { w = rep_vector(a, k[n]); target += w[1]; } }",
    "loop in a loop": "for (n in 1:N) { array[k[n]] real w; for (j in 1:k[n]) { w[j] = a * j; target += w[j]; } }",
}
PROGRAMS = {
    **{name: PROGRAM % ("", "", body) for name, body in (MODELS | LOOPS).items()},
    **{name: PROGRAM % (body, "", "target += some(a, K, c);") for name, body in FUNCTIONS.items()},
    "transformed data": PROGRAM % ("", "array[K] int w; if (c) { w = rep_array(1, K); d = sum(w); }", "target += d;"),
}


def of_stan(code: str, data: dict) -> float | None:
    """The log density at 0.3, None where Stan throws."""
    try:
        value, _ = stanli.Model(stan_code=code, data=json.dumps(data)).log_prob_grad([0.3])
    except RuntimeError:
        return None
    return value - 0.5 * math.log(2 * math.pi)  # which it drops from `a ~ normal(0, 1)`


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    ("K", "c", "k"), [(-1, 0, [1, 0, 2]), (2, 0, [1, 0, 2]), (2, 3, [1, 0, 2]), (2, 0, [1, -2, 2])],
    ids=["negative", "not run", "run", "negative in one iteration"],
)  # fmt: skip
def test_negative_sizes_throw_where_the_declaration_stands(name, K, c, k, backend):
    data = {"K": K, "c": c, "N": 3, "k": k, "y": [0.1, 0.2, 0.3]}
    expected = of_stan(PROGRAMS[name], data)
    program = stanimport.loads(PROGRAMS[name], backend=backend)
    if expected is None:
        with pytest.raises(stanimport.StanError, match="negative: .*line"):
            stanimport.log_prob(program, data=data, params={"a": 0.3})
    else:
        found = stanimport.log_prob(program, data=data, params={"a": 0.3})
        assert float(found.lp) == pytest.approx(expected, rel=1e-12)


def test_sizes_that_are_known_to_be_no_less_than_zero_are_not_asked_for():
    text = stanimport.translate("known.stan", source="""data { int<lower=0> K; int c; vector[c] y; }
    parameters { real a; }
    model {
      for (i in 1:2) {
        vector[K + 2] u; matrix[c, i * 2] v;
        for (j in 1:c) { u = rep_vector(a * j, K + 2); target += sum(u); }
        for (j in 1:c) { v = rep_matrix(a * j, c, i * 2); target += sum(v); }
      }
      a ~ normal(0, 1);
    }""")  # fmt: skip
    assert "negative" not in text and text.count("ppl.unset") == 2

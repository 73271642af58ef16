"""Random numbers in operations of varying length: all components share the number that Stan draws once."""
from __future__ import annotations

import numpy as np
import pytest

from tests.random_programs.referee import ours

PROGRAM = """functions {{
  real spread(row_vector v) {{ real out = 0; for (j in 1:size(v)) out += abs(v[j] - v[1]); return out; }}
  vector moved_rng(vector v) {{ return v + normal_rng(0, 1); }} }}
data {{ int N; array[N] int n; vector[9] x; matrix[3, 9] M; array[N] real lam; }}
parameters {{ real m; }} model {{ m ~ normal(0, 1); }}
generated quantities {{ array[N] real zero; for (i in 1:N) {{ {statements} }} }}"""
ROW = "M[categorical_rng([0.3, 0.3, 0.4]'), 1:n[i]]"
STATEMENTS = {
    "a sum": f"zero[i] = fmod(sum({ROW}), n[i]);",
    "a density": """real squares = -2 * std_normal_lpdf(x[1:n[i]] + bernoulli_rng(0.5)) - n[i] * log(2 * pi());
      zero[i] = fmod(round(squares), n[i]);""",
    "the argument of a function": f"zero[i] = spread({ROW});",
    "what a function returns": "vector[n[i]] z = moved_rng(x[1:n[i]]); zero[i] = z[1] - z[n[i]];",
    "a range that is assigned to": "vector[9] z; z[1:n[i]] = x[1:n[i]] + normal_rng(0, 1); zero[i] = z[1] - z[n[i]];",
}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", STATEMENTS)
def test_components_share_a_number(name, backend):
    """What is 0 if the rows 0, 1 and 5 times ones, or a shift of all components, are drawn once for each iteration."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    rows = np.outer([0.0, 1.0, 5.0], np.ones(9))
    data = {"N": 6, "n": [3, 4, 5, 3, 4, 5], "x": [0.0] * 9, "M": rows.tolist(), "lam": [1.0, 2, 3, 1, 2, 3]}
    text = PROGRAM.format(statements=STATEMENTS[name])
    made = ours.outcomes(text, data, [np.zeros(1)], backend, jit=False)[0]
    assert not made.rejected and made.values is not None, made.rejected
    np.testing.assert_allclose([made.values[f"zero[{i}]"] for i in range(1, 7)], 0, atol=1e-9)


@pytest.mark.parametrize("size", ["1 + poisson_rng(lam[i])", "size_rng(lam[i])"])
def test_a_size_is_drawn_once(size):
    """An array of a size that is drawn tells it twice; Pyro alone takes such sizes."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = f"""functions {{ int size_rng(real l) {{ return 1 + poisson_rng(l); }} }}
      data {{ int N; array[N] real lam; }} parameters {{ real m; }} model {{ m ~ normal(0, 1); }}
      generated quantities {{ array[N] int zero; for (i in 1:N) {{
        array[{size}] real z; for (k in 1:size(z)) z[k] = 1; zero[i] = size(z) - num_elements(z); }} }}"""
    made = ours.outcomes(text, {"N": 6, "lam": [4.0] * 6}, [np.zeros(1)], "pyro")[0]
    assert made.values is not None, made.rejected
    assert [made.values[f"zero[{i}]"] for i in range(1, 7)] == [0] * 6


PLACES = {
    "a segment": "vector[n[i]] z = segment(x, 1 + binomial_rng(4, 0.5), n[i]); zero[i] = z[n[i]] - z[1] - n[i] + 1;",
    "the sum of one": "real s = sum(segment(x, 1 + binomial_rng(4, 0.5), 3)); zero[i] = fmod(s, 3);",
    "the product of one": "zero[i] = log2(prod(2 ^ segment(ones, 1 + binomial_rng(4, 0.5), n[i]))) - n[i];",
    "a row": "row_vector[n[1]] z = sub_row(M, 1 + binomial_rng(2, 0.5), 1, n[1]); zero[i] = z[1] - z[2];",
    "the largest": "int k = 1 + binomial_rng(4, 0.5); zero[i] = max(x[k:(k + n[i] - 1)]) - k - n[i] + 1;",
    "an array": "array[size_rng(lam[i])] real z; for (k in 1:size(z)) z[k] = 1; zero[i] = size(z) - sum(z);",
}
OF_DATA = """functions {{ int size_rng(real l) {{ return 1 + poisson_rng(l); }} }}
data {{ int N; array[N] int n; vector[9] x; vector[9] ones; matrix[3, 9] M; array[N] real lam; }}
transformed data {{ array[N] real zero; for (i in 1:N) {{ {statements} }} }}
parameters {{ real m; }} model {{ m ~ normal(0, 1); }} generated quantities {{ array[N] real found = zero; }}"""


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", PLACES)
def test_a_place_in_transformed_data_is_drawn_once(name, backend):
    """What is 0 if both ends of a part, or a size wherever it is asked for, come from one draw."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    rows = np.outer([0.0, 1.0, 5.0], np.ones(9))
    data = {"N": 6, "n": [3, 4, 5, 3, 4, 5], "x": list(range(1, 10)), "ones": [1.0] * 9, "M": rows.tolist(),
            "lam": [4.0] * 6}  # fmt: skip
    made = ours.outcomes(OF_DATA.format(statements=PLACES[name]), data, [np.zeros(1)], backend, jit=False)[0]
    assert not made.rejected and made.values is not None, made.rejected
    np.testing.assert_allclose([made.values[f"found[{i}]"] for i in range(1, 7)], 0, atol=1e-9)

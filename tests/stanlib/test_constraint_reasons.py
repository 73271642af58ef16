"""Messages tell why a value does not satisfy its declared constraint: which component, which sum."""
import numpy as np
import pytest

import stanimport

NAN = float("nan")
CASES = [
    ("simplex[3] x", [0.2, 0.3, 0.6], r"its components sum to 1\.1"),
    ("simplex[3] x", [0.2, NAN, 0.6], r"component \[2\] is nan"),
    ("simplex[2] x", [1.5, -0.5], r"component \[2\] is -0\.5"),
    ("array[3] simplex[2] x", [[0.5, 0.5], [0.2, 0.9], [0, 1]], r"\[2\]: its components sum to 1\.1"),
    ("ordered[3] x", [1, 3, 2], r"component \[3\] is 2\.0, not greater than 3\.0"),
    ("positive_ordered[2] x", [-1, 2], r"component \[1\] is -1\.0"),
    ("unit_vector[2] x", [1, 2], r"squares of its components sum to 5\.0"),
    ("sum_to_zero_vector[2] x", [1, 2], r"its components sum to 3\.0"),
    ("sum_to_zero_matrix[2, 2] x", [[1, -1], [1, 0]], r"its components sum to 1\.0"),
    ("row_stochastic_matrix[0, 2] x", np.zeros((0, 2)), "it has no components"),
    ("cholesky_factor_cov[1, 2] x", [[1, 0]], "it has more columns than rows"),
    ("row_stochastic_matrix[2, 2] x", [[0.5, 0.5], [0.5, 0.25]], r"row 2 sums to 0\.75"),
    ("column_stochastic_matrix[2, 2] x", [[0.5, 0.25], [0.5, 0.25]], r"column 2 sums to 0\.5"),
    ("cov_matrix[2] x", [[1, 0.5], [0.25, 1]], r"\[1,2\] is 0\.5, but \[2,1\] is 0\.25"),
    ("cov_matrix[2] x", [[1, 2], [2, 1]], r"smallest eigenvalue is -1"),
    ("corr_matrix[2] x", [[1, 0.5], [0.5, 2]], r"\[2,2\] is 2\.0, not 1"),
    ("cholesky_factor_cov[2] x", [[1, 2], [2, 1]], r"\[1,2\], above the diagonal, is 2\.0"),
    ("cholesky_factor_corr[2] x", [[1, 0], [2, 1]], r"squares of row 2 sum to 5\.0"),
    ("vector<lower=0>[3] x", [1, NAN, 2], r"x\[2\] is nan, but must be greater than or equal to 0"),
    ("matrix<upper=2>[2, 2] x", [[1, 2], [3, 1]], r"x\[2,1\] is 3\.0, but must be less than or equal to 2"),
]  # fmt: skip


@pytest.mark.parametrize("declaration, value, reason", CASES)
def test_data(declaration, value, reason):
    module = stanimport.loads(f"data {{ {declaration}; }}")
    with pytest.raises(stanimport.StanDataError, match=reason):
        module.transformed_data(x=value)


def test_values_that_a_program_computes():
    module = stanimport.loads("""
data { vector[2] v; }
transformed data { simplex[2] p = v; }
generated quantities { vector<lower=0>[2] q = v; }
""")
    with pytest.raises(stanimport.StanError, match=r"p is \[0\.5,0\.75\], but must be a simplex \(.* sum to 1\.25\)"):
        module.transformed_data(v=np.array([0.5, 0.75]))
    inputs = {"v": np.array([1.0, -2.0]), "p": np.array([0.5, 0.5])}
    with pytest.raises(stanimport.StanError, match=r"within its bounds \(q\[2\] is -2\.0, but must be greater"):
        module.generated_quantities(**inputs)

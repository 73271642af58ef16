"""Stubs: what editors are told of a program. A type checker reads them in test_wheel.py."""
from __future__ import annotations

import ast
import importlib.util
import pathlib

import pytest

import stanimport
from stanimport.__main__ import main
from stanimport.stubs import stub_of, write_stubs
from stanlib.program import StanFunction

MODELS = pathlib.Path(__file__).parent.parent.parent / "models"
PROGRAM = r"""
functions { real lambda_of(real x) { return x; } }
data {
  int<lower=0> N;
  real lambda;
  matrix[N, N] A;
  array[N] tuple(int, vector[2]) pairs;
  complex z;
}
transformed data { vector[N] b = A \ rep_vector(1, N); }
parameters { real<lower=0> sigma; vector[N] in_; }
model { in_ ~ normal(b, sigma); }
generated quantities { matrix[N, N] solved = A \ A; }
"""


def functions(text: str) -> dict[str, ast.FunctionDef]:
    return {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}


def arguments(function: ast.FunctionDef) -> dict[str, str]:
    return {a.arg: ast.unparse(a.annotation) for a in function.args.kwonlyargs}


@pytest.fixture(scope="module")
def stub() -> str:
    return stub_of(stanimport.loads(PROGRAM, name="stubbed"))


def test_arguments_have_the_types_that_the_data_may_have(stub):
    assert arguments(functions(stub)["transformed_data"]) == {
        "N": "SupportsIndex", "A": "ArrayLike", "pairs": "Any", "z": "SupportsComplex | Sequence[float]",
    }  # fmt: skip


def test_parameters_are_arguments_of_the_quantities(stub):
    given = arguments(functions(stub)["generated_quantities"])
    assert given["sigma"] == "SupportsFloat" and given["in_"] == "ArrayLike" and "b" in given
    assert "sigma" not in arguments(functions(stub)["model"])


def test_what_python_cannot_name_goes_to_the_others(stub):
    for function in functions(stub).values():
        assert function.args.kwarg.arg == "others"
        assert "lambda" not in arguments(function)
    assert "'lambda': float" in stub


def test_transformed_data_may_be_left_out_of_the_model(stub):
    model = functions(stub)["model"]
    optional = [a.arg for a, d in zip(model.args.kwonlyargs, model.args.kw_defaults) if d is not None]
    assert optional == ["b"]


def test_declarations_are_told_as_they_are_written(stub):
    assert "array[N] tuple(int, vector[2]) pairs" in ast.get_docstring(functions(stub)["transformed_data"])
    assert r"solved = A \ A" in ast.get_docstring(functions(stub)["generated_quantities"])


def test_the_module_has_what_the_stub_has(tmp_path):
    (tmp_path / "coin.stan").write_text("parameters { real x; }\nmodel { }\n")
    (written,) = write_stubs(tmp_path)
    assert written == tmp_path / "coin.pyi"
    module = stanimport.load(tmp_path / "coin.stan")
    assert set(functions(written.read_text())) == {n for n, v in vars(module).items() if isinstance(v, StanFunction)}


def test_guides_and_networks():
    text = stub_of(stanimport.load(MODELS / "mlp.stan"))
    assert set(functions(text)) == {"transformed_data", "model", "generated_quantities", "guide"}
    assert arguments(functions(text)["guide"]) == arguments(functions(text)["model"])
    assert "mlp: Any" in text.splitlines()
    assert "array[classes] real mlp.l2.bias" in ast.get_docstring(functions(text)["guide"])


def test_a_file_name_is_never_code(tmp_path):
    path = tmp_path / 'a"""\nimport os\n"""\\.stan'
    path.write_text("parameters { real x; }\nmodel { }\n")
    (written,) = write_stubs(path)
    tree = ast.parse(written.read_text())
    assert not [n for n in tree.body if isinstance(n, ast.Import)]
    assert path.name in ast.get_docstring(tree, clean=False)


def test_in_a_shell(tmp_path, capsys):
    (tmp_path / "coin.stan").write_text("parameters { real x; }\nmodel { }\n")
    assert main(["stubs", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "coin.pyi")]
    assert importlib.util.find_spec("coin") is None

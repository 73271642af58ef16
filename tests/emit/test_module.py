"""The text of translated modules: what it reads like, and what can't get into it."""
from __future__ import annotations

import ast

import pytest

import stanimport
from stanimport import pipeline
from stanimport.source import Source

SCHOOLS = """data { int<lower=0> J; vector[J] y; vector<lower=0>[J] sigma; }
parameters { real mu; real<lower=0> tau; vector[J] eta; }
transformed parameters { vector[J] theta = mu + tau * eta; }
model { eta ~ normal(0, 1); y ~ normal(theta, sigma); }
generated quantities { real best = max(theta); }
"""


def functions(text: str) -> dict[str, str]:
    return {n.name: ast.unparse(n) for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}


def test_it_reads_like_a_model_written_by_hand():
    text = stanimport.translate("schools.stan", source=SCHOOLS)
    model = functions(text)["model"]
    assert model.splitlines()[1] == "def model(*, J, y, sigma):"
    assert "mu = ppl.parameter('mu')" in model
    assert "tau = ppl.parameter('tau', lower=0.0)" in model
    assert "ppl.observe('y', dist.normal(theta, sigma), y)" in model
    assert SCHOOLS in ast.get_docstring(ast.parse(text), clean=False)


TUPLE = "data { tuple(int, real) t; } parameters { real<lower=t.2> x; }"


@pytest.mark.parametrize("source", [SCHOOLS, "model { }", TUPLE])
def test_the_text_is_the_module_with_a_line_for_each_variable(source):
    translation = pipeline.translate(Source("m.stan", source), "m", pipeline.Options())
    assert ast.dump(ast.parse(translation.text)) == ast.dump(ast.parse(ast.unparse(translation.tree)))
    (metadata,) = (s.value for s in ast.parse(translation.text).body if isinstance(s, ast.Assign) and s.lineno > 1
                   and ast.unparse(s.targets[0]) == "stan")  # fmt: skip
    variables = [e.lineno for k in metadata.keywords if isinstance(k.value, ast.Tuple) for e in k.value.elts]
    lines = [k.value.lineno for k in metadata.keywords]
    assert len({*lines, *variables}) == len(lines) + len(variables)


def test_translation_is_deterministic():
    assert len({stanimport.translate("schools.stan", source=SCHOOLS) for _ in range(3)}) == 1


@pytest.mark.parametrize(
    "source, name",
    [
        ('model { print("\'); import os; os.system(\'true\') #"); }', "p"),
        ('transformed data { reject("\\", \'\'\'); x = 1"); }', "p"),
        ("model { }", "x'''); import os; ("),
        ('model { print("{0}", 1); profile("""") { } }', "p\n\"\"\"\nimport os"),
    ],
)
def test_texts_and_names_cannot_inject_python(source, name):
    try:
        tree = ast.parse(stanimport.translate(name, source=source))
    except stanimport.StanError:
        return
    imported = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    assert [n.module for n in imported if isinstance(n, ast.ImportFrom)] == ["stanlib.backend"] and len(imported) == 1
    calls = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    assert not any(c.startswith("os") for c in calls)


def test_names_that_python_or_the_module_reserve_are_restored_everywhere():
    text = """data { int lambda; real dist; real ppl; }
      transformed data { real fn = dist + ppl; }
      parameters { real class; real stan; }
      transformed parameters { real pass = class + lambda; }
      generated quantities { real def = pass + fn; real model_ = stan; }"""
    module = stanimport.loads(text)
    inputs = module.transformed_data(**{"lambda": 2, "dist": 0.5, "ppl": 1.5})
    assert inputs["fn"] == 2.0
    out = module.generated_quantities(**inputs, **{"class": 1.0, "stan": 7.0})
    assert out == {"pass": 3.0, "def": 5.0, "model_": 7.0}
    assert module.stan.names("data") == ("lambda", "dist", "ppl")


def test_what_the_module_says_of_itself():
    stan = stanimport.loads(SCHOOLS, name="schools").stan
    assert (stan.backend, stan.scheme) == ("numpyro", "mixed")
    assert stan.names("data") == ("J", "y", "sigma")
    assert stan.names("parameters", "transformed_parameters") == ("mu", "tau", "eta", "theta")
    sigma = stan.data[2]
    assert (sigma.type, sigma.shape, sigma.constraint, sigma.line) == ("vector", ("J",), "lower=0", 1)
    assert stan.source == SCHOOLS


def test_what_a_scheme_lacks_is_refused_when_translated():
    with pytest.raises(stanimport.StanSemanticError, match="mu has no law") as caught:
        stanimport.translate("p.stan", source=SCHOOLS, scheme="generative")
    assert caught.value.lineno == 2


def test_a_function_with_random_numbers_is_compiled_for_data_and_for_draws():
    """In transformed data its loops are Python's, in generated quantities they are traced."""
    program = """functions {
      vector noise_rng(int n) {
        vector[n] x = rep_vector(0, n);
        for (i in 2:n) { x[i] = normal_rng(x[i - 1], 1); while (x[i] > 3) x[i] = normal_rng(0, 1); }
        return x;
      }
    }
    transformed data { vector[5] e = noise_rng(5); } generated quantities { vector[5] z = noise_rng(5); }"""
    made = functions(stanimport.translate("noise.stan", source=program))
    data, draws = made["noise_rng"], made["noise_rng_"]
    assert "for i in range(" in data and "while ppl.at(x, i) > 3" in data
    assert "ppl.for_loop(" in draws and "ppl.while_loop(" in draws
    assert "noise_rng(" in made["transformed_data"] and "noise_rng_(" in made["generated_quantities"]

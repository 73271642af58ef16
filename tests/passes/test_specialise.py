"""Which variants of a program's functions there are, and how their control flow runs: before Python is made."""
from __future__ import annotations

import pytest

import stanimport
from stanimport import pipeline
from stanimport.errors import StanError, StanSemanticError
from stanimport.ir import gprob, printer, traversal
from stanimport.ir.fresh import Fresh, stem
from stanimport.ir.uses import walk_statements
from stanimport.source import Source

FUNCTIONS = """
functions {
  real f(real x, int n) { real s = 0; for (i in 1:n) s += x * i; return s; }
  real even(real x, int n);
  real odd(real x, int n) { return n == 0 ? 0 : even(x, n - 1); }
  real even(real x, int n) { return n == 0 ? x : odd(x, n - 1); }
  real foo_lpdf(real y, real m) { if (m > 0) return normal_lpdf(y | m, 1); return normal_lpdf(y | 0, 2); }
  vector g(vector x, vector p, data array[] real r, data array[] int i) { return x - p; }
  real draw_rng(real x) { return normal_rng(x, 1); }
}
"""
REST = """
data { int N; vector[N] y; real x; }
transformed data { real z = f(x, N) + draw_rng(x); }
parameters { real a; vector[N] b; }
model {
  for (n in 1:N) y[n] ~ foo(a + f(x, n));
  b[1] ~ foo(f(a, 3) + even(x, 3) + even(a, 2));
  for (n in 2:N) { vector[n] v = rep_vector(b[n], n); while (a > n) { target += v[n]; break; } }
  if (N > 2) target += 1;
}
generated quantities { real q = draw_rng(a); }
"""


def specialised(backend="numpyro", text=FUNCTIONS + REST):
    names, options = Fresh(), pipeline.Options(backend)
    program = pipeline.compile_program(pipeline.analyse(Source("p.stan", text))[0], options, names)
    return pipeline.specialised(program, options, names)


def kinds(made):
    """The functions of the program that variants are made of, in order."""
    return [stem(v.definition.name) for v in made.variants]


def test_one_variant_for_every_combination_of_data_and_parameters():
    made = specialised()
    assert sorted(kinds(made)) == ["draw_rng", "draw_rng", "even", "even", "f", "f", "foo_lpdf", "odd", "odd"]
    assert sorted(kinds(specialised("pyro"))) == ["draw_rng", "draw_rng", "even", "f", "foo_lpdf", "odd"]


LENGTHS = """
functions {
  matrix missed(int N, int T, matrix p) {
    matrix[rows(p), T] chi;
    for (i in 1:N) { chi[i, T] = 1; for (t in 1:T - 1) chi[i, T - t] = p[i, T - t] * chi[i, T - t + 1]; }
    return chi;
  }
}
data { int N; int T; }
parameters { matrix[N, T] p; real a; }
model { target += sum(missed(N, T, p)); target += sum(missed(a > 0, T, p)); }
"""


@pytest.mark.parametrize("backend", ("numpyro", "pyro"))
def test_loops_of_functions_over_integers_of_data_run_as_lanes(backend):
    first, second = specialised(backend, LENGTHS).variants
    lanes = [[s.lanes for s in walk_statements(v.definition.body) if isinstance(s, gprob.For)] for v in (first, second)]
    assert all(lanes[0]) and not lanes[1][0]  # the second is called with an integer of parameters


@pytest.mark.parametrize("backend", ("numpyro", "pyro"))
def test_calls_name_variants_alone(backend):
    made = specialised(backend)
    known = {v.definition.name for v in made.variants}
    called = {
        n.function if isinstance(n, gprob.CallUser) else n.distribution.lpdf
        for _, body in made.bodies() for n in traversal.walk(body)
        if isinstance(n, gprob.CallUser) or isinstance(n, gprob.Observe) and isinstance(n.distribution.lpdf, str)
    }  # fmt: skip
    assert called == known


def test_control_flow_says_how_it_runs():
    made = specialised()
    model = made.blocks["model"]
    loops = [s for s in walk_statements(model) if isinstance(s, gprob.For)]
    assert [(s.lanes, s.runs) for s in loops] == [(True, gprob.Loop.STATIC), (False, gprob.Loop.UNROLLED)]
    assert [s.traced for s in walk_statements(model) if isinstance(s, gprob.While)] == [True]
    assert [s.traced for s in walk_statements(model) if isinstance(s, gprob.If)][-1] is False
    texts = [printer.block(v.definition.body) for v in made.variants if stem(v.definition.name) == "f"]
    assert [t.splitlines()[1].strip() for t in texts] == ["lanes i in 1:n", "lanes i in 1:n"]


def test_nothing_is_traced_where_the_backend_runs_python():
    for _, body in specialised("pyro").bodies():
        for s in walk_statements(body):
            assert not getattr(s, "traced", False) and getattr(s, "runs", None) in (None, gprob.Loop.STATIC)


def test_functions_that_are_passed_on_have_variants_too():
    text = FUNCTIONS + """
    data { vector[2] d; }
    transformed data { vector[2] u = algebra_solver(g, d, d, {1.0}, {1}); }
    parameters { vector[2] p; }
    model { target += sum(algebra_solver(g, d, p, {1.0}, {1})); }"""
    made = specialised(text=text)
    assert kinds(made).count("g") == 2
    passed = {
        n.function for _, body in made.bodies() for n in traversal.walk(body)
        if isinstance(n, gprob.FunctionValue)
    }  # fmt: skip
    assert passed == {v.definition.name for v in made.variants}


def test_the_stage_can_be_shown():
    shown = pipeline.dump("specialise", Source("p.stan", FUNCTIONS + REST), "p", pipeline.Options())
    assert "f'2:" in shown and "traced while" in shown and "unrolled for" in shown


ENDLESS = """
functions {
  real f(real x, int n) { if (BASE) return x; return 0.3 + f(x / 2, n - 1); }
  real even(real x, int n);
  real odd(real x, int n) { return BASE ? 0 : even(x / 2, n - 1); }
  real even(real x, int n) { return BASE ? x : odd(x / 2, n - 1); }
  real foo_lpdf(real y, real m) { return -(y < 1 || foo_lpdf(y | m) > 1); }
}
data { int n; }
parameters { real<lower=0> x; }
model { STATEMENT }
"""


@pytest.mark.parametrize("statement", ("target += f(x, n);", "target += odd(x, n);", "x ~ exponential(even(x, n));"))
def test_recursion_that_parameters_end_is_refused_at_its_condition(statement):
    text = ENDLESS.replace("STATEMENT", statement)
    with pytest.raises(StanSemanticError, match=r"until parameters end it by x < 1") as caught:
        specialised(text=text.replace("BASE", "x < 1"))
    assert "backend='pyro'" in str(caught.value)
    for base in ("n == 0", "x < 1 || n == 0", "n == 0 || x < 1"):
        specialised(text=text.replace("BASE", base))
    specialised("pyro", text.replace("BASE", "x < 1"))


def test_recursion_of_a_law_that_parameters_end_is_refused():
    text = ENDLESS.replace("STATEMENT", "x ~ foo(x);").replace("BASE", "n == 0")
    with pytest.raises(StanSemanticError, match=r"until parameters end it by y < 1"):
        specialised(text=text)


@pytest.mark.parametrize("base", ("n == 0", "n == 0 || x < 1", "x < 1 || n == 0", "!(x >= 1 && n > 0)"))
def test_recursion_ends_where_data_end_it_whatever_stands_beside(base):
    text = ENDLESS.replace("STATEMENT", "target += f(x, n);").replace("BASE", base)
    module = stanimport.loads(text)
    found = stanimport.log_prob(module, params={"x": 5.0}, data={"n": 2}, jacobian=False)
    assert found.lp == pytest.approx(5 / 4 + 0.6)
    assert found.gradient == pytest.approx([1 / 4 * 5])


@pytest.mark.parametrize("backend", ("numpyro", "pyro"))
def test_recursion_without_end_is_an_error_of_its_line(backend):
    text = ENDLESS.replace("STATEMENT", "target += f(x, n);").replace("BASE", "n == 0 && x < 1")
    module = stanimport.loads(text, backend=backend)
    with pytest.raises(StanError, match=r"calls itself deeper than Python goes.*line 3, column"):
        stanimport.log_prob(module, params={"x": 5.0}, data={"n": 2})


ONLY_BY_DATA = """
functions {
  real low(int k) { if (k == 1) return -1; else return 0; }
  real high(int k, vector x) { if (k == 0) return 10; return x[2]; }
  int twice(int k) { return k <= 0 ? 0 : 2 + twice(k - 1); }
}
data {
  int k; vector[twice(k)] t; vector<lower=low(k), upper=high(k, t)>[2] y;
  array[twice(1)] tuple(real<lower=high(k, t)>, int) u;
}
parameters { real m; }
model { m ~ normal(0, 1); y ~ normal(m, 1); }
"""


@pytest.mark.parametrize("backend", ("numpyro", "pyro"))
def test_functions_that_nothing_but_the_data_block_calls_give_its_sizes_and_bounds(backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(ONLY_BY_DATA, backend=backend)
    good = {"k": 1, "t": [5, 3], "y": [-1, 3], "u": [[3, 1], [4, 1]]}
    assert list(module.transformed_data(**good)["y"]) == [-1, 3]
    for name, value in (("t", [5]), ("y", [-1.1, 3]), ("y", [-1, 3.1]), ("u", [[2.9, 1], [4, 1]]), ("u", [[3, 1]])):
        with pytest.raises(StanError, match=rf"^{name}\b.* must "):
            module.transformed_data(**{**good, name: value})

"""Files that programs include: they belong to the program, wherever they were found and whatever became of them."""
import pickle
import warnings

import numpy as np
import pytest

import stanimport
from stanimport import api
from stanimport.inference.modules import anew

PROGRAM = """functions {
#include centre.stan
}
data { int N; vector[N] y; }
parameters { real x; }
model { profile("prior") { x ~ normal(centre(), 0.01); } y ~ normal(x, 100); }
generated quantities { real z = centre(); vector[N] y_rep; for (n in 1:N) y_rep[n] = normal_rng(x, 1); }
"""
DATA = {"N": 3, "y": [0.5, 1.0, 1.5]}
FEW = dict(seed=1, chains=2, iter_warmup=50, iter_sampling=20)


def centre(folder, value):
    folder.mkdir(exist_ok=True)
    (folder / "centre.stan").write_text("real centre() {\n#include value.stan\n}")
    (folder / "value.stan").write_text(f"return {value};")


@pytest.fixture
def program(tmp_path):
    """One whose include path has a file that lies beside the program, too, and is another one there."""
    path = tmp_path / "program.stan"
    path.write_text(PROGRAM)
    centre(tmp_path, 7)
    centre(tmp_path / "library", 1)
    return path


def load(program, **options):
    return stanimport.load(program, include_paths=[program.parent / "library"], **options)


def test_a_module_holds_the_texts_of_what_it_includes(program):
    module = load(program)
    assert dict(module.stan.includes) == {
        "centre.stan": (program.parent / "library/centre.stan").read_text(), "value.stan": "return 1;",
    }  # fmt: skip
    assert stanimport.load(program).stan.includes != module.stan.includes
    assert stanimport.loads("parameters { real x; }").stan.includes == ()


@pytest.mark.parametrize("gone", [False, True])
def test_other_translations_include_the_same_files(program, gone):
    module = load(program)
    if gone:
        for path in program.parent.rglob("*.stan"):
            path.unlink()
    drawn = stanimport.prior_predictive(module, DATA, seed=1, draws=50)
    assert abs(drawn.stan_variable("x").mean() - 1) < 0.01
    made = anew(module, backend="pyro", scheme="comprehensive")
    assert made.stan.includes == module.stan.includes
    assert (made.stan.backend, made.stan.scheme) == ("pyro", "comprehensive")
    assert pickle.loads(pickle.dumps(made)) is made


def test_methods_for_numpyro_take_programs_for_pyro_with_what_they_include(program):
    mode = stanimport.optimize(load(program, backend="pyro"), DATA, seed=1)
    assert abs(mode.stan_variable("x") - 1) < 0.01 and mode.stan_variable("z") == 1


def test_a_saved_fit_holds_what_its_program_includes(program, tmp_path):
    fit = stanimport.sample(load(program), DATA, **FEW)
    fit.save(tmp_path / "fit.nc")
    expected = fit.posterior_predictive(seed=3)
    centre(program.parent / "library", 5)
    loaded = stanimport.Fit.load(tmp_path / "fit.nc")
    assert loaded.program.includes == fit.program.includes
    again = stanimport.generate_quantities(loaded.module, previous_fit=loaded, seed=2)
    assert (again.stan_variable("z") == 1).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert abs(loaded.to_arviz().prior["x"].values.mean() - 1) < 0.01
        again = loaded.posterior_predictive(seed=3)
    np.testing.assert_array_equal(again.stan_variable("y"), expected.stan_variable("y"))
    assert set(loaded.profiles()["name"]) == {"prior"}


@pytest.mark.slow
def test_a_run_does_not_go_on_with_another_file(program, tmp_path):
    """A fit, and a journal."""
    fit = stanimport.sample(load(program), DATA, journal=tmp_path / "run", **FEW)
    fit.save(tmp_path / "fit.nc")
    centre(program.parent / "library", 5)
    for resume in (fit, tmp_path / "fit.nc", tmp_path / "run"):
        with pytest.raises(stanimport.StanError, match="the program is not that of the run"):
            stanimport.sample(load(program), resume=resume, iter_sampling=40)
    centre(program.parent / "library", 1)
    longer = stanimport.sample(load(program), resume=tmp_path / "fit.nc", iter_sampling=40)
    np.testing.assert_array_equal(longer.draws()[:20], fit.draws())


def test_a_known_text_that_includes_itself_is_told():
    with pytest.raises(stanimport.StanSyntaxError, match="'a.stan' includes itself"):
        api.loads_with("functions {\n#include a.stan\n}", [("a.stan", "#include a.stan")], name="own",
                       backend="numpyro", scheme="mixed", functions=None)  # fmt: skip

"""Names, shapes and order of what results hold, as CmdStanPy has them; tuples are arrays of tuples, one for each draw.

The columns of a draw are told apart by CmdStan's header alone: its names of items, indices and parts.
"""
import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from stanimport.cmdstanpy import CmdStanModel, from_csv, write_stan_json

PROGRAM = """
parameters {
  vector[2] v; real a;
  tuple(real, vector[2]) t;
  array[2] tuple(real, matrix[2, 2]) at;
  tuple(real, tuple(array[2] real, complex)) tt;
}
model {
  v ~ std_normal(); a ~ std_normal(); t.1 ~ normal(1, 1); t.2 ~ normal(2, 1);
  for (i in 1:2) { at[i].1 ~ normal(i, 1); to_vector(at[i].2) ~ normal([11, 21, 12, 22], 1); }
  tt.1 ~ std_normal(); tt.2.1 ~ std_normal(); get_real(tt.2.2) ~ std_normal(); get_imag(tt.2.2) ~ std_normal();
}
generated quantities { array[2] tuple(int, int) k = {(1, 2), (3, 4)}; }
"""
NAMES = (
    "v[1]", "v[2]", "a", "t.1", "t.2[1]", "t.2[2]",
    "at[1].1", "at[1].2[1,1]", "at[1].2[2,1]", "at[1].2[1,2]", "at[1].2[2,2]",
    "at[2].1", "at[2].2[1,1]", "at[2].2[2,1]", "at[2].2[1,2]", "at[2].2[2,2]",
    "tt.1", "tt.2.1[1]", "tt.2.1[2]", "tt.2.2[real]", "tt.2.2[imag]", "k[1].1", "k[1].2", "k[2].1", "k[2].2",
)  # fmt: skip
FEW = dict(chains=2, iter_warmup=7, iter_sampling=5, seed=1, show_progress=False)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("programs") / "kinds.stan"
    path.write_text(PROGRAM)
    return CmdStanModel(stan_file=path)


@pytest.fixture(scope="module")
def fit(model):
    return model.sample(save_warmup=True, **FEW)


def rows(result):
    """The numbers of a result's files by CmdStanPy's names of their columns, the files one after another."""
    found = []
    for path in result.runset.csv_files:
        lines = [line for line in Path(path).read_text().splitlines() if not line.startswith("#")]
        found += [{prettified(n): float(v) for n, v in row.items()} for row in csv.DictReader(lines)]
    return found


def prettified(name):
    """CmdStanPy's name of a column in a file: `t.2[1]` of `t:2.1`."""
    return ".".join(re.sub(r"\.(.*)", lambda m: f"[{m[1].replace('.', ',')}]", part) for part in name.split(":"))


def assert_is(value, row, of):
    """A value of the variable is what a row of numbers has in its columns."""
    if of == "t":
        assert isinstance(value, tuple) and value[0] == row["t.1"]
        np.testing.assert_array_equal(value[1], [row["t.2[1]"], row["t.2[2]"]])
    elif of == "at":
        assert value.shape == (2,) and value.dtype == object
        for i in (1, 2):
            assert value[i - 1][0] == row[f"at[{i}].1"]
            expected = [[row[f"at[{i}].2[{j},{k}]"] for k in (1, 2)] for j in (1, 2)]
            np.testing.assert_array_equal(value[i - 1][1], expected)
    else:
        first, (second, third) = value
        assert first == row["tt.1"] and third == row["tt.2.2[real]"] + 1j * row["tt.2.2[imag]"]
        np.testing.assert_array_equal(second, [row["tt.2.1[1]"], row["tt.2.1[2]"]])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["t", "at", "tt"])
def test_tuples_of_draws(model, fit, name):
    table = rows(fit)
    draws = [r for chain in (0, 12) for r in table[chain + 7 : chain + 12]]
    for result, expected, options in ((fit, draws, {}), (fit, table, {"inc_warmup": True}),
                                      (from_csv(fit.runset.csv_files), draws, {})):  # fmt: skip
        values = result.stan_variable(name, **options)
        assert values.dtype == object and len(values) == len(expected)
        for value, row in zip(values, expected):
            assert_is(value, row, name)
    for result in (model.laplace_sample(draws=4, seed=1), model.pathfinder(draws=4, seed=1)):
        for value, row in zip(result.stan_variable(name), rows(result), strict=True):
            assert_is(value, row, name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["t", "at", "tt"])
def test_tuples_at_points(model, name):
    mode = model.optimize(seed=1, save_iterations=True)
    steps = rows(mode)
    assert_is(mode.stan_variable(name), steps[-1], name)
    for value, row in zip(mode.stan_variable(name, inc_iterations=True), steps, strict=True):
        assert_is(value, row, name)
    vb = model.variational(seed=1, require_converged=False, draws=3, iter=200)
    center, *draws = rows(vb)
    assert_is(vb.stan_variable(name), center, name)
    assert_is(vb.stan_variables()[name], center, name)
    for value, row in zip(vb.stan_variable(name, mean=False), draws, strict=True):
        assert_is(value, row, name)
    assert vb.variational_params_dict == {n: center[n] for n in vb.column_names}
    assert mode.optimized_params_dict == {n: steps[-1][n] for n in mode.column_names}


@pytest.mark.slow
def test_names_of_columns(model, fit):
    own = {"CmdStanMCMC": 7, "CmdStanMLE": 2, "CmdStanVB": 3, "CmdStanPathfinder": 3, "CmdStanLaplace": 2}
    vb = model.variational(seed=1, require_converged=False, draws=3, iter=200)
    mode = model.optimize(seed=1)
    for result in (fit, mode, vb, model.pathfinder(draws=4, seed=1), model.laplace_sample(draws=4, seed=1)):
        assert result.column_names[own[type(result).__name__] :] == NAMES == result.metadata.column_names[-len(NAMES) :]
        assert "at.1:2.2.1" in result.metadata["raw_header"]
        assert result.metadata.stan_vars["at"].dimensions == (2,)
    for frame in (fit.draws_pd(), vb.variational_sample_pd, mode.optimized_params_pd):
        assert tuple(frame)[-len(NAMES) :] == NAMES
    assert list(fit.draws_pd(["at", "a"])) == [*NAMES[6:16], "a"] and list(fit.summary().index)[1:] == list(NAMES)
    again = from_csv(fit.runset.csv_files)
    assert again.metadata.stan_vars["at"].dimensions == (2,)
    quantities = model.generate_quantities(previous_fit=fit, seed=1)
    assert quantities.column_names == NAMES[-4:]
    assert quantities.stan_variable("k").tolist() == [[(1, 2), (3, 4)]] * 10
    assert quantities.stan_variable("at").shape == (10, 2)


def test_inits_have_tuples(model, fit, tmp_path):
    """They are where chains start that do not move, also from a file, which has CmdStan's JSON of tuples."""
    made = fit.create_inits(seed=1, chains=2)
    assert set(made[0]) == {"v", "a", "t", "at", "tt"} and isinstance(made[0]["t"], tuple)
    write_stan_json(tmp_path / "inits.json", made[0])
    told = json.loads((tmp_path / "inits.json").read_text())
    assert set(told["t"]) == {"1", "2"} and told["at"][1]["1"] == made[0]["at"][1][0]
    for inits, expected in ((made, made), (str(tmp_path / "inits.json"), [made[0]] * 2)):
        still = model.sample(inits=inits, fixed_param=True, chains=2, iter_sampling=1, seed=1, show_progress=False)
        for value, one in zip(still.stan_variable("at"), expected, strict=True):
            assert value.tolist()[1][0] == one["at"][1][0]
            np.testing.assert_array_equal(value[0][1], one["at"][0][1])
    mode = model.optimize(seed=1)
    again = model.optimize(seed=1, inits=mode.create_inits(), save_iterations=True)
    np.testing.assert_allclose(again.stan_variable("t", inc_iterations=True)[0][1], mode.stan_variable("t")[1])


def test_chains_are_counted_from_1_in_tables(model, fit):
    later = model.sample(chain_ids=[4, 5], **FEW)
    assert later.draws_pd()["chain__"].tolist() == [1] * 5 + [2] * 5
    assert later.chain_ids == list(later.draws_xr("a").chain) == [4, 5]
    quantities = model.generate_quantities(previous_fit=later, seed=1)
    assert quantities.draws_pd()["chain__"].tolist() == [1] * 5 + [2] * 5


def test_the_samplers_variables_have_the_warm_up_that_was_saved(model, fit):
    found = fit.method_variables()
    np.testing.assert_array_equal(found["lp__"], fit.draws(inc_warmup=True)[:, :, 0])
    assert found["divergent__"].shape == (12, 2)
    plain = model.sample(**FEW)
    np.testing.assert_array_equal(plain.method_variables()["lp__"], plain.draws()[:, :, 0])


def test_draws_without_chains(model):
    """Those of approximations have no axis of chains, and variables come in the order in which they are asked for."""
    laplace = model.laplace_sample(draws=4, seed=1)
    for result in (laplace, model.pathfinder(draws=4, seed=1)):
        data = result.draws_xr(["a", "v"])
        assert list(data) == ["a", "v"] and data.v.dims == ("draw", "v_dim_0") and data.a.shape == (4,)
        assert data.attrs == {"stan_version": "2.39.0", "model": "kinds_model"}
        with pytest.raises(KeyError, match="nope"):
            result.draws_xr("nope")
        with pytest.raises(ValueError, match="Unknown variable: nope"):
            result.draws_pd("nope")
    assert list(laplace.draws_pd(["a", "v", "a", "log_p__"])) == ["a", "v[1]", "v[2]", "log_p__"]
    np.testing.assert_array_equal(laplace.draws_pd("a")["a"], laplace.stan_variable("a"))


def test_files_tell_the_configuration(fit, tmp_path):
    """Also what is not an option here; numbers as numbers, and draws of the version that wrote them."""
    text = Path(fit.runset.csv_files[0]).read_text().replace("stan_version_minor = 39", "stan_version_minor = 32")
    text = text.replace("# id = 1", "# id = 0").replace("file = \n", "file = /data/some.json\n")
    (tmp_path / "old.csv").write_text(text.replace("# init = 2", "# init = 2 (Default)\n# kappa = 0.75"))
    old = from_csv(tmp_path / "old.csv")
    told = old.metadata.cmdstan_config
    assert (told["stan_version_minor"], told["kappa"], told["init"], told["save_warmup"]) == (32, 0.75, 2, 1)
    assert told["data_file"] == "/data/some.json" and told["num_samples"] == 5 and told["column_names"][-1] == "k[2].2"
    assert old.draws_xr().attrs["stan_version"] == "2.32.0" and old.chain_ids == [1]


@pytest.mark.slow
def test_paths_are_counted_in_files(model, tmp_path):
    for number, options in enumerate(({"num_paths": 1}, {"psis_resample": False}, {"num_paths": 2})):
        made = model.pathfinder(draws=4, num_single_draws=4, seed=1, output_dir=tmp_path / str(number), **options)
        assert made.is_resampled == from_csv(tmp_path / str(number)).is_resampled == (number == 2)
    text = next((tmp_path / "2").glob("*.csv")).read_text()
    (tmp_path / "no.csv").write_text(text.replace("calculate_lp = true", "calculate_lp = 0"))
    assert not from_csv(tmp_path / "no.csv").is_resampled


def test_sources_are_told_as_by_stanc(tmp_path):
    """As stanc 2.35 tells of this program with `--info`."""
    (tmp_path / "half.stan").write_text("real half(real x) { return x / 2; }")
    (tmp_path / "info.stan").write_text("""functions {
#include half.stan
}
data { int N; array[N] vector[2] y; complex z; array[3] tuple(int, array[2] real) d; }
parameters {
  simplex[3] s; cov_matrix[2] C; array[2] complex_vector[2] cz; array[4, 5] real<lower=0> a;
  tuple(real<lower=0>, vector[2], tuple(real, matrix[2, 2])) t;
}
transformed parameters { row_vector[2] r = [1, half(2)]; }
model { }
generated quantities { array[2] int k = {1, 2}; complex_matrix[2, 2] cm; }
""")

    def kind(name, dimensions):
        return {"type": name, "dimensions": dimensions}

    for options in ({}, {"include-paths": str(tmp_path)}):
        info = CmdStanModel(stan_file=tmp_path / "info.stan", stanc_options=options).src_info()
        assert info["inputs"] == {"N": kind("int", 0), "y": kind("real", 2), "z": kind("complex", 0),
                                  "d": kind([kind("int", 0), kind("real", 1)], 1)}  # fmt: skip
        assert info["parameters"] == {
            "s": kind("real", 1), "C": kind("real", 2), "cz": kind("complex", 2), "a": kind("real", 2),
            "t": kind([kind("real", 0), kind("real", 1), kind([kind("real", 0), kind("real", 2)], 0)], 0),
        }  # fmt: skip
        assert info["transformed parameters"] == {"r": kind("real", 1)}
        assert info["generated quantities"] == {"k": kind("int", 1), "cm": kind("complex", 2)}
        assert info["included_files"] == [str((tmp_path / "half.stan").resolve())]


def test_calls_are_those_that_stanc_tells(tmp_path):
    """The two lists are what stanc 2.35 prints with --info."""
    path = tmp_path / "calls.stan"
    path.write_text("""
functions {
  real foo(real x) { if (x > 1e9) reject("large"); return exp(x) + lgamma(x); }
  real lgamma(complex z) { return get_real(z); }
  real bar_lpdf(real y, real m) { return normal_lpdf(y | m, 1) + foo(y); }
  vector sys(vector y, vector th, data array[] real xr, data array[] int xi) { return y - th; }
  real ps(array[] real s, int a, int b, real m) { return std_normal_lpdf(s | ); }
  void add_lp(real z) { z ~ cauchy(0, 1); target += log1p(z); }
  real my_rng(real z) { return normal_rng(z, 1); }
}
data { int N; vector[N] y; array[N] int k; }
transformed data { real s = sd(y); matrix[N, N] X = rep_matrix(1.0, N, N); }
parameters { real m; real<lower=0> t; }
transformed parameters { vector[2] w = algebra_solver(sys, [1, 1]', [m, t]', {1.0, 2.0}, {1}); }
model {
  m ~ normal(0, 1) T[0, ];
  y[1] ~ bar(m);
  target += bar_lupdf(y[1] | m) + multi_normal_lupdf(y | rep_vector(m, N), X) - normal_lccdf(0 | m, t);
  target += reduce_sum(ps, {1.0, 2.0}, 1, m);
  target += beta_lpdf(0.5 | 2, t) + -m * 2 + X[1, 1] / 3 + (m > 2 ? 1 : 0) ^ 2;
  k ~ poisson_log(m);
  profile("a") { k ~ poisson(t); }
  target += bernoulli_logit_glm_lpmf(k | X, m, rep_vector(m, N));
  add_lp(m);
  if (m < 0 && !(t > 2)) target += target() * 0;
  print(m);
}
generated quantities { real q = my_rng(m); int n = poisson_rng(2) %/% 2; real c = std_normal_cdf(q); }
""")
    info = CmdStanModel(stan_file=path).src_info()
    assert info["functions"] == [
        "algebra_solver", "exp", "get_real", "lgamma", "log1p", "normal_rng", "poisson_rng", "print", "reduce_sum",
        "reject", "rep_matrix", "rep_vector", "sd",
    ]  # fmt: skip
    assert info["distributions"] == [
        "bernoulli_logit_glm_lpmf", "beta_lpdf", "cauchy_lupdf", "multi_normal_lupdf", "normal_lccdf", "normal_lpdf",
        "normal_lupdf", "poisson_log_lupmf", "poisson_lupmf", "std_normal_cdf", "std_normal_lpdf",
    ]  # fmt: skip


def test_the_path_of_a_program_is_its_real_one(model, tmp_path):
    (tmp_path / "link.stan").symlink_to(model.stan_file)
    for path in (tmp_path / "link.stan", f"{tmp_path}/../{tmp_path.name}/link.stan"):
        assert CmdStanModel(stan_file=path).stan_file == str(Path(model.stan_file).resolve())


def test_the_density_has_no_row_where_parameters_stay(model):
    still = model.sample(fixed_param=True, chains=1, iter_sampling=5, seed=1, show_progress=False)
    assert list(still.summary().index) == list(NAMES) and list(still.method_variables())[0] == "lp__"


def test_files_have_the_step_sizes_that_were_given(model, tmp_path):
    for number, (given, told) in enumerate(((None, [1, 1]), (0.25, [0.25, 0.25]), ([0.25, 0.5], [0.25, 0.5]))):
        fit = model.sample(step_size=given, output_dir=tmp_path / str(number), **FEW)
        found = [from_csv(path).metadata["stepsize"] for path in fit.runset.csv_files]
        assert found == told and fit.metadata["stepsize"] == told[0]

"""CmdStan's CSV files: ours are read by ArviZ, and by us; CmdStan's are read by us."""
import arviz
import numpy as np
import pytest
from conftest import FLIPS

import stanimport

# The layout that the CmdStan Guide documents, with numbers of our own.
CMDSTAN = """# stan_version_major = 2
# stan_version_minor = 36
# stan_version_patch = 0
# model = line_model
# start_datetime = 2025-01-02 03:04:05 UTC
# method = sample (Default)
#   sample
#     num_samples = 3
#     num_warmup = 2
#     save_warmup = true
#     thin = 1 (Default)
#     adapt
#       engaged = true (Default)
#       delta = 0.9
#     algorithm = hmc (Default)
#       hmc
#         engine = nuts (Default)
#           nuts
#             max_depth = 7
#         metric = diag_e (Default)
#         stepsize = 1 (Default)
# id = {id}
# data
#   file = line.json
# random
#   seed = 4711
# output
#   file = line.csv
lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,a,b.1,b.2,t:1,t:2.1,t:2.2,z.real,z.imag
-9,1,1,1,1,0,10,0,0,0,0,0,0,0,0
-8,1,1,1,1,0,10,0,0,0,0,0,0,0,0
# Adaptation terminated
# Step size = 0.5
# Diagonal elements of inverse mass matrix:
# 0.25, 2, 1.5
-1.5,0.9,0.5,2,3,0,2.5,{id},1,2,7,8,9,0.5,-0.5
-1.25,0.8,0.5,3,7,1,2.25,{id},3,4,7,8,9,0.5,-0.5
-1e-05,nan,0.5,2,3,0,2,{id},5,6,7,8,9,0.5,-0.5
#
#  Elapsed Time: 0.25 seconds (Warm-up)
#                0.5 seconds (Sampling)
#                0.75 seconds (Total)
#
"""


def test_files_of_cmdstan(tmp_path):
    for i in (1, 2):
        (tmp_path / f"line-20250102030405_{i}.csv").write_text(CMDSTAN.replace("{id}", str(i)))
    for place in (tmp_path, str(tmp_path / "line-*.csv"), sorted(tmp_path.iterdir())):
        fit = stanimport.from_csv(place)
        assert fit.method == "sample" and fit.program.name == "line" and fit.seed == 4711 and fit.chain_ids == [1, 2]
        np.testing.assert_array_equal(fit.variables["a"], [[1, 1, 1], [2, 2, 2]])
        np.testing.assert_array_equal(fit.stan_variable("b")[:3], [[1, 2], [3, 4], [5, 6]])
        assert fit.stan_variable("t")[1].shape == (6, 2) and (fit.stan_variable("z") == 0.5 - 0.5j).all()
        assert fit.divergences.tolist() == [1, 1] and fit.step_size.tolist() == [0.5, 0.5]
        np.testing.assert_array_equal(fit.metric, [[0.25, 2, 1.5]] * 2)
        np.testing.assert_array_equal(fit.times, [[0.25, 0.5]] * 2)
        assert fit.draws(inc_warmup=True).shape == (5, 2, 15) and fit.settings["max_treedepth"] == 7
    assert fit.summary().loc["a", "Mean"] == 1.5 and fit.to_arviz().posterior["b"].shape == (2, 3, 2)
    with pytest.raises(stanimport.StanError, match="program of this fit is not known"):
        fit.posterior_predictive()


def test_files_that_are_none(tmp_path):
    path, good = tmp_path / "x.csv", CMDSTAN.replace("{id}", "1")
    wrong = {"a,b\n1,2\n": "no configuration", good.replace(",9,0.5,-0.5\n", ",9\n", 1): "no readable CSV",
             good.replace("num_samples = 3", "num_samples = 4"): "numbers of draws",
             good.replace("b.2", "b.3"): "columns of b are not complete"}  # fmt: skip
    for text, told in wrong.items():
        path.write_text(text)
        with pytest.raises(stanimport.StanDataError, match=told):
            stanimport.from_csv(path)
    with pytest.raises(stanimport.StanDataError, match="no CSV files"):
        stanimport.from_csv(str(tmp_path / "none*.csv"))


def test_files_that_are_cut_or_given_twice(tmp_path):
    path, good = tmp_path / "x.csv", CMDSTAN.replace("{id}", "1")
    rows = good[: good.index("#\n#  Elapsed")]
    path.write_text(rows)
    assert stanimport.from_csv(path).stan_variable("z")[-1] == 0.5 - 0.5j  # all rows, though nothing tells the times
    for cut in (rows[:-1], rows[:-2], rows[:-3]):  # the last of which reads as a number, -0
        path.write_text(cut)
        with pytest.raises(stanimport.StanDataError, match="ends in the middle of a line"):
            stanimport.from_csv(path)
    path.write_text(good)
    (tmp_path / "link.csv").symlink_to(path)
    for twice in ([path, path], [path, tmp_path / "." / "x.csv"], [path, tmp_path / "link.csv"]):
        with pytest.raises(stanimport.StanDataError, match="is given twice"):
            stanimport.from_csv(twice)


@pytest.fixture(scope="module")
def saved_warmup(beta_module):
    return stanimport.sample(beta_module, FLIPS, chains=2, iter_warmup=30, iter_sampling=20, thin=2, save_warmup=True,
                             chain_ids=3, seed=1)  # fmt: skip


def test_our_files_are_read_by_arviz(schools_fit, tmp_path):
    paths = schools_fit.save_csvfiles(tmp_path)
    assert [p.name[-6:] for p in paths] == ["_1.csv", "_2.csv"]
    data = arviz.from_cmdstan([str(p) for p in paths], posterior_predictive="replicated", log_likelihood="log_lik")
    for name in ("effect", "spread"):
        np.testing.assert_array_equal(data.posterior[name], schools_fit.variables[name])
    np.testing.assert_array_equal(data.posterior_predictive["replicated"], schools_fit.variables["replicated"])
    np.testing.assert_array_equal(data.sample_stats["tree_depth"], schools_fit.stats["treedepth__"])
    np.testing.assert_array_equal(data.sample_stats["diverging"], schools_fit.stats["divergent__"])


def test_our_files_are_read_by_us(saved_warmup, beta_module, tmp_path):
    again = stanimport.from_csv(saved_warmup.save_csvfiles(tmp_path), module=beta_module, data=FLIPS)
    np.testing.assert_array_equal(again.draws(inc_warmup=True), saved_warmup.draws(inc_warmup=True))
    for name in ("step_size", "metric"):
        np.testing.assert_array_equal(getattr(again, name), getattr(saved_warmup, name))
    np.testing.assert_allclose(again.times, saved_warmup.times, rtol=1e-5)
    assert [p.name[-6:] for p in sorted(tmp_path.iterdir())] == ["_3.csv", "_4.csv"]
    assert (again.times > 0).all() and again.column_names == saved_warmup.column_names
    assert again.stats["divergent__"].dtype == bool and again.chain_ids == [3, 4]
    np.testing.assert_array_equal(again.to_arviz(prior=False).log_likelihood["y"],
                                  saved_warmup.to_arviz(prior=False).log_likelihood["y"])  # fmt: skip
    with pytest.raises(FileExistsError):
        from stanimport.inference.fits import stan_csv

        for _ in range(2):
            stan_csv.save(saved_warmup, tmp_path, "now", 8)


def test_draws_in_any_form_for_generated_quantities(saved_warmup, beta_module, tmp_path):
    saved_warmup.save_csvfiles(tmp_path)
    expected = stanimport.generate_quantities(beta_module, FLIPS, previous_fit=saved_warmup, seed=3)
    forms = [tmp_path, [*map(str, sorted(tmp_path.iterdir()))], saved_warmup.to_arviz(prior=False),
             saved_warmup.draws_pd()]  # fmt: skip
    for form in forms:
        made = stanimport.generate_quantities(beta_module, FLIPS, previous_fit=form, seed=3)
        np.testing.assert_array_equal(made.stan_variable("noise"), expected.stan_variable("noise"))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("method", ["optimize", "variational", "laplace_sample", "pathfinder"])
def test_other_methods(method, beta_module, tmp_path):
    options = {"variational": {"iter": 500, "require_converged": False, "draws": 20},
               "laplace_sample": {"draws": 20}, "pathfinder": {"draws": 20}}  # fmt: skip
    fit = getattr(stanimport, method)(beta_module, FLIPS, seed=1, **options.get(method, {}))
    again = stanimport.from_csv(fit.save_csvfiles(tmp_path), module=beta_module)
    assert again.method == fit.method and type(again) is type(fit)
    for name, value in fit.variables.items():
        np.testing.assert_array_equal(again.variables[name], value)
    assert set(again.stats) == set(fit.stats)


# As CmdStan writes it: the step size asked for in the configuration, the adapted one behind the header.
VARIATIONAL = """# model = line_model
# method = variational (Default)
#   variational
#     algorithm = meanfield (Default)
#     iter = 10000 (Default)
#     eta = 1 (Default)
#     adapt
#       engaged = {engaged} (Default)
#     output_samples = 2
# id = 1 (Default)
# random
#   seed = 4711
lp__,log_p__,log_g__,a
{adapted}0,0,0,2.5
0,-8,-1,2
0,-9,-2,3
"""


@pytest.mark.parametrize("engaged, adapted, eta", [
    (1, "# Stepsize adaptation complete.\n# eta = 10\n", 10), (0, "", 1),
])  # fmt: skip
def test_the_step_size_of_cmdstans_variational_files(tmp_path, engaged, adapted, eta):
    path = tmp_path / "line.csv"
    path.write_text(VARIATIONAL.format(engaged=engaged, adapted=adapted))
    fit = stanimport.from_csv(path)
    assert fit.settings["eta"] == eta and fit.info["center"]["a"] == 2.5
    np.testing.assert_array_equal(fit.stan_variable("a")[..., :2].ravel(), [2, 3])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", [stanimport.advi, stanimport.variational])
def test_files_of_approximations_of_complex_parameters(method, tmp_path):
    """The mean of the approximation has one value for both parts of a complex number, as draws have."""
    source = "parameters { complex z; array[2] complex u; } model { target += -norm(z - 3) - norm(u[1]) - norm(u[2]); }"
    fit = method(stanimport.loads(source), iter=500, draws=20, seed=1, require_converged=False, khat=False)
    again = stanimport.from_csv(fit.save_csvfiles(tmp_path))
    assert fit.info["center"].keys() == {"z", "u"} and abs(fit.info["center"]["z"] - 3) < 1
    for name in ("z", "u"):
        np.testing.assert_allclose(again.stan_variable(name), fit.stan_variable(name), rtol=1e-5)
        np.testing.assert_allclose(again.info["center"][name], fit.info["center"][name], rtol=1e-5)


# The order is that in which stanc's C++ writes a draw: all of one tuple of an array, then the next.
TUPLES = """
parameters { real m; }
generated quantities {
  array[2] tuple(real, array[2] tuple(row_vector[2], complex)) t;
  array[2, 2] tuple(real, vector[1]) u = {{(1, [2]'), (3, [4]')}, {(5, [6]'), (7, [8]')}};
  tuple(real, array[2] tuple(real, tuple(int, array[2] real))) w = (1, {(2, (3, {4, 5})), (6, (7, {8, 9}))});
  for (i in 1:2) t[i] = (i, {([i + 0.25, i + 0.5], to_complex(i, 1)), ([i - 0.25, i - 0.5], to_complex(i, 2))});
}
"""
TUPLE_COLUMNS = {
    "t.1:1": 1, "t.1:2.1:1.1": 1.25, "t.1:2.1:1.2": 1.5, "t.1:2.1:2.real": 1, "t.1:2.1:2.imag": 1,
    "t.1:2.2:1.1": 0.75, "t.1:2.2:1.2": 0.5, "t.1:2.2:2.real": 1, "t.1:2.2:2.imag": 2,
    "t.2:1": 2, "t.2:2.1:1.1": 2.25, "t.2:2.1:1.2": 2.5, "t.2:2.1:2.real": 2, "t.2:2.1:2.imag": 1,
    "t.2:2.2:1.1": 1.75, "t.2:2.2:1.2": 1.5, "t.2:2.2:2.real": 2, "t.2:2.2:2.imag": 2,
    "u.1.1:1": 1, "u.1.1:2.1": 2, "u.2.1:1": 5, "u.2.1:2.1": 6, "u.1.2:1": 3, "u.1.2:2.1": 4,
    "u.2.2:1": 7, "u.2.2:2.1": 8,
    "w:1": 1, "w:2.1:1": 2, "w:2.1:2:1": 3, "w:2.1:2:2.1": 4, "w:2.1:2:2.2": 5,
    "w:2.2:1": 6, "w:2.2:2:1": 7, "w:2.2:2:2.1": 8, "w:2.2:2:2.2": 9,
}  # fmt: skip


def test_arrays_of_tuples_are_written_tuple_by_tuple(tmp_path):
    fit = stanimport.generate_quantities(stanimport.loads(TUPLES), previous_fit={"m": np.zeros(3)}, seed=1)
    (path,) = fit.save_csvfiles(tmp_path)
    header, *rows = [line.split(",") for line in path.read_text().splitlines() if not line.startswith("#")]
    start = header.index("t.1:1")
    assert header[start:] == list(TUPLE_COLUMNS)
    assert [[float(x) for x in row[start:]] for row in rows] == [list(map(float, TUPLE_COLUMNS.values()))] * 3
    assert {"t[2]:2[1]:2[imag]", "u[2,1]:2[1]", "w:2[2]:2:2[1]"} <= set(fit.column_names)
    assert list(fit.draws_pd().columns[-len(TUPLE_COLUMNS) :]) == list(fit.summary().index[-len(TUPLE_COLUMNS) :])
    for back in (stanimport.from_csv(path), stanimport.from_csv(path, module=fit.module)):
        assert back.column_names == fit.column_names[1:]  # without the parameter, which the file does not repeat
        for name in ("t.2.1", "t.2.2", "u.2", "w.2.2.2"):
            np.testing.assert_array_equal(back.variables[name], fit.variables[name])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize(("program", "options"), [
    ("generated quantities { real z = normal_rng(0, 1); }", {}),
    ("parameters { real x; } generated quantities { real z = normal_rng(0, 1); }", {"fixed_param": True}),
])  # fmt: skip
def test_arviz_reads_files_without_a_metric(tmp_path, program, options, backend):
    module = stanimport.loads(program, name="fixed", backend=backend)
    fit = stanimport.sample(module, chains=2, iter_sampling=20, seed=1, **options)
    paths = fit.save_csvfiles(tmp_path)
    assert ("Adaptation" in paths[0].read_text()) is (not options and backend == "numpyro")
    read = arviz.from_cmdstan([str(p) for p in paths])
    np.testing.assert_array_equal(read.posterior["z"].values, fit.draws_xr()["z"].values)
    again = stanimport.from_csv(paths)
    assert again.settings["fixed_param"] is bool(options) and again.metric is None
    np.testing.assert_array_equal(again.stan_variable("z"), fit.stan_variable("z"))


def test_integers_are_written_and_read_as_such(tmp_path):
    module = stanimport.loads("""
        data { int N; vector[N] y; }
        parameters { vector[2] mu; array[N] int<lower=1, upper=2> z; }
        model { mu ~ normal(0, 3); for (n in 1:N) z[n] ~ categorical([0.5, 0.5]'); y ~ normal(mu[z], 1); }
        generated quantities { int same = z[1] == z[2]; tuple(int, real) t = (z[1], 1.5); }
    """)
    data = {"N": 3, "y": [-2.0, 2.0, 1.0]}
    fit = stanimport.sample(module, data, seed=1, chains=2, iter_warmup=20, iter_sampling=10, save_warmup=True)
    paths = fit.save_csvfiles(tmp_path)
    *_, last = (line for line in paths[0].read_text().splitlines() if line and not line.startswith("#"))
    z, same = (fit.stan_variable(n) for n in ("z", "same"))
    assert last.split(",")[-6:] == [*map(str, z[9]), str(same[9]), str(z[9, 0]), "1.5"]
    again = stanimport.from_csv(paths, module=module, data=data)
    for name in ("z", "same"):
        assert again.stan_variable(name).dtype.kind == "i"
        np.testing.assert_array_equal(again.stan_variable(name), fit.stan_variable(name))
    assert [v.dtype.kind for v in again.stan_variable("t")] == ["i", "f"]


def test_variables_without_values_are_read(tmp_path):
    """Files have no columns of them: their shapes are those that the data make."""
    module = stanimport.loads("""
        data { int N; }
        parameters { real x; vector[N] e; }
        model { x ~ normal(0, 1); e ~ normal(x, 1); }
        generated quantities {
          matrix[N, 3] m; array[2, N] int k; tuple(real, array[N] int) t = (x, rep_array(1, N)); complex_vector[N] z;
          real after = x;
        }
    """)
    fit = stanimport.sample(module, {"N": 0}, seed=1, chains=2, iter_warmup=20, iter_sampling=10, save_warmup=True)
    paths = fit.save_csvfiles(tmp_path)
    again = stanimport.from_csv(paths, module=module, data={"N": 0})
    for mine, theirs in zip(again.stan_variables().items(), fit.stan_variables().items(), strict=True):
        name, (value, expected) = mine[0], (mine[1], theirs[1])
        assert name == theirs[0]
        for part, right in zip(*((value, expected) if name == "t" else ((value,), (expected,))), strict=True):
            assert part.shape == right.shape and part.dtype.kind == right.dtype.kind
            np.testing.assert_array_equal(part, right)
    assert {n: v.shape for n, v in again.with_warmup().items()} == {n: v.shape for n, v in fit.with_warmup().items()}
    assert "m" not in stanimport.from_csv(paths).variables  # whose shapes nothing tells


def test_modes_say_whether_they_have_arrived(tmp_path):
    """In the column that CmdStan has since 2.39, in the rows of all steps; older files have none, and are of modes."""
    module = stanimport.loads("parameters { vector[2] x; } model { x ~ normal([3, 9], [1, 20]); x[1] ~ cauchy(0, 1); }")
    runs = {True: stanimport.optimize(module, seed=1, save_iterations=True),
            False: stanimport.optimize(module, seed=1, iter=2, require_converged=False)}  # fmt: skip
    for arrived, mode in runs.items():
        (folder := tmp_path / str(arrived)).mkdir()
        (path,) = mode.save_csvfiles(folder)
        rows = [line.split(",") for line in path.read_text().splitlines() if not line.startswith("#")]
        assert rows[0] == ["lp__", "converged__", "x.1", "x.2"]
        assert [r[1] for r in rows[1:]] == ["0"] * (len(rows) - 2) + [str(int(arrived))]
        read = stanimport.from_csv(path)
        assert mode.converged is arrived is read.converged
        assert mode.column_names[:2] == ("lp__", "converged__") and read.stats["converged__"].dtype == int
    older = [",".join([row[0], *row[2:]]) for row in rows]
    comments = [line for line in path.read_text().splitlines() if line.startswith("#")]
    (tmp_path / "older.csv").write_text("\n".join([*comments, *older]) + "\n")
    assert stanimport.from_csv(tmp_path / "older.csv").converged


HEADERS = {  # the keys that CmdStan 2.36 and later write for a method, as CmdStanPy's from_csv asks for them
    "pathfinder": ("num_draws", "num_psis_draws", "num_paths", "num_elbo_draws", "psis_resample", "calculate_lp"),
    "variational": ("algorithm", "iter", "grad_samples", "elbo_samples", "eta", "tol_rel_obj", "eval_elbo",
                    "output_samples"),
    "advi": ("algorithm", "iter", "grad_samples", "elbo_samples", "eta", "tol_rel_obj", "eval_elbo", "output_samples"),
    "optimize": ("algorithm", "save_iterations", "jacobian"), "laplace_sample": ("jacobian", "draws"),
    "sample": ("num_samples", "num_warmup", "save_warmup", "thin", "engaged", "delta", "max_depth", "metric"),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("method", HEADERS)
def test_files_have_the_keys_of_cmdstans(beta_module, method, tmp_path):
    loose = {"require_converged": False} if method in ("variational", "advi") else {}
    fit = getattr(stanimport, method)(beta_module, FLIPS, seed=1, **loose)
    text = fit.save_csvfiles(tmp_path)[0].read_text()
    keys = [line[1:].partition("=")[0].strip() for line in text.splitlines() if line.startswith("#") and "=" in line]
    assert not set(HEADERS[method]) - set(keys)
    again = stanimport.from_csv(tmp_path)
    np.testing.assert_allclose(again.stan_variable("theta"), fit.stan_variable("theta"))


def test_every_file_of_chains_tells_how_long_they_took(beta_module, tmp_path):
    """Without that CmdStanPy's from_csv takes one for corrupt."""
    fit = stanimport.sample(beta_module, FLIPS, chains=2, iter_sampling=5, fixed_param=True, inits={"theta": 0.5})
    for path in fit.save_csvfiles(tmp_path):
        lines = path.read_text().splitlines()
        assert sum("seconds (" in line for line in lines) == 3
    assert fit.times.shape == (2, 2) and (fit.times[:, 1] > 0).all()
    assert stanimport.from_csv(tmp_path).stan_variable("theta").tolist() == [0.5] * 10


FIRST_COLUMNS = {"laplace_sample": ["log_p__", "log_q__"], "pathfinder": ["lp_approx__", "lp__", "path__"],
                 "advi": ["lp__", "log_p__", "log_g__"], "generate_quantities": []}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore::stanimport.errors.StanWarning")
@pytest.mark.parametrize("method, own", FIRST_COLUMNS.items())
def test_headers_are_those_of_cmdstan(saved_warmup, beta_module, tmp_path, method, own):
    """Other readers go by names: cmdstanr makes `lp__` of Laplace's `log_p__`, which must be the only one then. The
    folder is made."""
    given = {"previous_fit": saved_warmup} if method == "generate_quantities" else {}
    fit = getattr(stanimport, method)(beta_module, FLIPS, seed=1, **given)
    paths = fit.save_csvfiles(tmp_path / "new" / "folder")
    header = next(x for x in paths[0].read_text().splitlines() if not x.startswith("#")).split(",")
    names = [n.replace(":", ".").partition(".")[0] for n in header if not n.endswith("__")]
    assert [n for n in header if n.endswith("__")] == own == header[: len(own)]
    program = beta_module.stan
    assert list(dict.fromkeys(names)) == list(fit.stan_variables() if own else program.names("generated_quantities"))
    again = stanimport.from_csv(paths, module=beta_module, data=FLIPS)
    if own:
        assert list(again.stats) == list(fit.stats)
        np.testing.assert_array_equal(again.draws(), fit.draws())


def test_files_of_fixed_parameters_tell_of_a_warm_up(tmp_path):
    """As CmdStan's do, though there is none: CmdStanPy reads none whose number is 0."""
    module = stanimport.loads("generated quantities { real z = normal_rng(0, 1); }")
    (path,) = stanimport.sample(module, chains=1, iter_sampling=20, seed=1, fixed_param=True).save_csvfiles(tmp_path)
    assert "num_warmup = 1000" in path.read_text()

"""The commands that fit a model: tables, saved fits, pictures, exit codes, caches."""
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import stanimport
from stanimport import commands
from stanimport.__main__ import main

COIN = """\
data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
parameters { real<lower=0, upper=1> theta; }
model { theta ~ beta(2, 2); y ~ bernoulli(theta); }
generated quantities { array[N] int y_rep; for (n in 1:N) y_rep[n] = bernoulli_rng(theta); }
"""
FEW = ["--chains", "2", "--warmup", "200", "--draws", "300", "--seed", "3", "--no-progress"]


@pytest.fixture
def coin(tmp_path):
    (tmp_path / "coin.stan").write_text(COIN)
    (tmp_path / "coin.json").write_text(json.dumps({"N": 10, "y": [1, 1, 0, 1, 1, 1, 0, 1, 0, 1]}))
    return ["coin.stan", "--data", "coin.json"]


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def rows(capsys):
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    return {words[0]: words[1:] for words in lines if len(words) > 1}


@pytest.mark.slow
def test_sample_saves_and_draws_and_generate_goes_on(coin, tmp_path, capsys):
    assert main(["sample", *coin, *FEW, "--output", "fit.nc", "--plot", "fit.png"]) == 0
    told = capsys.readouterr().out
    assert "saved fit.nc" in told and "seed 3" in told and "R_hat" in told and "diverged" not in told
    assert (tmp_path / "fit.png").read_bytes()[:4] == b"\x89PNG"
    fit = stanimport.Fit.load("fit.nc")
    assert fit.stan_variable("theta").mean() == pytest.approx(9 / 14, abs=0.03)  # beta(9, 5)
    (tmp_path / "new.json").write_text(json.dumps({"N": 3, "y": [0, 0, 0]}))
    arguments = ["--fit", "fit.nc", "--data", "new.json", "--seed", "1", "--output", "g.nc"]
    assert main(["generate", "coin.stan", *arguments]) == 0
    new = stanimport.Fit.load("g.nc")
    assert new.stan_variable("y_rep").shape == (600, 3)
    np.testing.assert_array_equal(new.variables["theta"], fit.variables["theta"])
    assert "y_rep[3]" in rows(capsys)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("command, heading, value", [
    ("optimize", "Value", 8 / 12), ("laplace", "Mean", 9 / 14), ("pathfinder", "Mean", 9 / 14),
    ("variational", "Mean", 9 / 14),
])  # fmt: skip
def test_other_methods_print_their_table(coin, command, heading, value, capsys):
    more = ["--iter", "2000"] if command == "variational" else []
    assert main([command, *coin, "--seed", "3", "--no-progress", *more]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert any(words[0] == heading for words in lines)
    theta = next(words for words in lines if words[0] == "theta")
    assert float(theta[1]) == pytest.approx(value, abs=0.04)


@pytest.mark.slow
def test_minibatches_of_a_folder_of_arrays(coin, tmp_path, capsys):
    data = json.loads((tmp_path / "coin.json").read_text())
    (tmp_path / "coins").mkdir()
    np.save(tmp_path / "coins" / "y.npy", np.array(data["y"] * 20))
    (tmp_path / "coins" / "sizes.json").write_text('{"N": 200}')
    arguments = ["coin.stan", "--data", "coins", "--minibatch", "N=50", "--seed", "3", "--no-progress", "--no-khat"]
    assert main(["variational", *arguments, "--iter", "1500", "--checkpoint", "far", "--output", "fit.nc"]) == 0
    theta = next(words for words in map(str.split, capsys.readouterr().out.splitlines()) if words[:1] == ["theta"])
    assert float(theta[1]) == pytest.approx(142 / 204, abs=0.02)
    assert (tmp_path / "far").exists() and "theta" in stanimport.Fit.load("fit.nc").variables


@pytest.mark.slow
def test_parameters_of_rows_are_drawn_and_shown_by_their_numbers(capsys):
    """Beside a known scale and mean, a row's posterior is normal around half of its observation."""
    Path("rows.stan").write_text("""
        data { int N; int K; matrix[K, N] y; }
        parameters { real m; matrix[K, N] z; }
        model { m ~ normal(0, 0.01); to_vector(z) ~ normal(m, 1); to_vector(y) ~ normal(to_vector(z), 1); }
    """)
    y = np.random.default_rng(5).normal(0, 3, (2, 30))
    Path("data.json").write_text(json.dumps({"N": 30, "K": 2, "y": y.tolist()}))
    arguments = ["rows.stan", "--data", "data.json", "--minibatch", "N=10", "--rows", "N=29,3-4", "--iter", "1500"]
    assert main(["variational", *arguments, "--seed", "3", "--no-progress", "--no-khat", "--output", "fit.nc"]) == 0
    lines = [words for words in map(str.split, capsys.readouterr().out.splitlines()) if words]
    means = {words[0]: float(words[1]) for words in lines if words[0].startswith("z[")}
    assert means.keys() == {f"z[{k},{n}]" for k in (1, 2) for n in (29, 3, 4)}
    for name, mean in means.items():
        k, n = map(int, name[2:-1].split(","))
        assert mean == pytest.approx(y[k - 1, n - 1] / 2, abs=0.3)
    assert stanimport.Fit.load("fit.nc").info["z.draws"].shape == (1000, 2, 3)


@pytest.mark.parametrize("arguments, told", [
    (["variational", "coin.stan", "--minibatch", "256"], "'256' is not like N=256"),
    (["variational", "coin.stan", "--minibatch", "N=5", "--rows", "N=1-"], "'N=1-' is not like N=1,17,20-29"),
    (["variational", "coin.stan", "--data", "coin.json", "--rows", "N=1"], "rows are drawn of fits by minibatches"),
    (["variational", "coin.stan", "--data", "coin.json", "--minibatch", "N=5", "--rows", "N=1,11"], "go from 1 to 10"),
    (["sample", "coin.stan", "--wramup", "10"], "did you mean --warmup?"), (["sampel"], "did you mean sample?"),
    (["sample", "coin.stan", "--data", "coin.json", "--metric", "dense"], "did you mean 'dense_e'"),
    (["sample", "coin.stan", "--data", "coin.json", "--chains", "0"], "chains must be at least 1"),
    (["sample", "coin.stan", "--data", "coin.json", *FEW, "--output", "no/fit.nc"], "there is no folder no"),
])  # fmt: skip
def test_wrong_usage_ends_with_two(coin, arguments, told, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and told in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "translate", "sample", "info"])
@pytest.mark.parametrize("name, value, options, told", [
    ("backend", "numpro", [], "STANIMPORT_BACKEND: backend must be one of numpyro, pyro, not 'numpro'"),
    ("scheme", "mixd", [], "STANIMPORT_SCHEME: scheme must be one of"),
    ("backend", "", ["--function", "f=g"], "functions must be paths such as 'package.module.f', not 'g'"),
])  # fmt: skip
def test_wrong_settings_end_with_two(coin, monkeypatch, command, name, value, options, told, capsys):
    if options and command == "info":
        pytest.skip("it has no such option")
    monkeypatch.setenv(f"STANIMPORT_{name.upper()}", value)
    with pytest.raises(SystemExit) as caught:
        main([command, "coin.stan", *options])
    assert caught.value.code == 2 and told in capsys.readouterr().err


@pytest.mark.parametrize("arguments, told", [
    (["sample", "coin.stan", "--data", "none.json"], "none.json: can't be read"),
    (["generate", "coin.stan", "--fit", "none.nc"], "none.nc: there is no such file"),
    (["sample", "coin.stan", "--data", "coin.json", "--inits", "none.json", *FEW], "none.json"),
])  # fmt: skip
def test_wrong_input_ends_with_one(coin, arguments, told, capsys):
    assert main(arguments) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_command_has_help_with_examples(name, capsys):
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    shown = capsys.readouterr().out
    assert caught.value.code == 0 and "examples:" in shown and f"stanimport {name}" in shown


def test_the_list_of_commands(capsys):
    assert main(["--help"]) == 0 == main(["help"]) and main([]) == 2
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in commands.COMMANDS)
    with pytest.raises(SystemExit):
        main(["help", "sample"])
    assert "usage: stanimport sample" in capsys.readouterr().out
    assert main(["--version"]) == 0 and capsys.readouterr().out == f"stanimport {stanimport.__version__}\n"


def test_info(coin, capsys):
    assert main(["info", "coin.stan", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] == {"theta": "real<lower=0, upper=1> theta"}
    assert main(["info"]) == 0
    assert rows(capsys)["stanimport"] == [stanimport.__version__]


def test_cache_sizes_and_clear(coin, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("STANIMPORT_JIT_CACHE")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    stanimport.load(tmp_path / "coin.stan")
    jit = tmp_path / "cache" / "jit"
    jit.mkdir()
    (jit / "program").write_bytes(b"x" * 2500)
    assert main(["cache"]) == 0
    told = capsys.readouterr().out
    assert "translations: 2 files" in told and "compiled by XLA: 1 files, 2.5 kB" in told
    assert main(["cache", "--clear"]) == 0
    assert "2 removed" in capsys.readouterr().out and not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]


def test_the_jit_cache_is_chosen_by_the_environment(tmp_path, monkeypatch):
    from stanimport import settings

    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("STANIMPORT_JIT_CACHE", raising=False)
    assert settings.jit_cache() == tmp_path / "jit"
    monkeypatch.setenv("STANIMPORT_JIT_CACHE", "off")
    assert settings.jit_cache() is None
    monkeypatch.setenv("STANIMPORT_JIT_CACHE", str(tmp_path / "mine"))
    assert settings.jit_cache() == tmp_path / "mine"


@pytest.mark.parametrize(("option", "path"), [("--output", "none/fit.nc"), ("--plot", "none/fit.png"), ("--plot", ".")])
def test_files_that_can_not_be_written_are_told_before_a_run(option, path, coin, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["sample", *coin, option, path])
    told = capsys.readouterr()
    assert caught.value.code == 2 and path in told.err and told.out == ""


def test_saved_fits_are_read(coin, tmp_path, capsys):
    """Their table and diagnosis, of NetCDF and of CmdStan's CSV; and no file of another kind is asked for in vain."""
    saved = tmp_path / "fit.nc"
    with pytest.raises(SystemExit) as caught:
        main(["sample", *coin, "--output", "fit.csv"])
    told = capsys.readouterr().err
    assert caught.value.code == 2 and "fits are saved as NetCDF" in told and "--csv FOLDER writes CmdStan's" in told
    assert main(["sample", *coin, *FEW, "--output", str(saved)]) == 0
    capsys.readouterr()
    files = [str(p) for p in stanimport.Fit.load(saved).save_csvfiles(tmp_path)]
    for given in ([str(saved)], files):
        assert main(["summary", *given, "--percentiles", "10,90"]) == 0
        shown = capsys.readouterr().out
        assert "2 x 300 draws" in shown and "theta" in shown and "90%" in shown and "50%" not in shown
        code = main(["diagnose", *given])
        shown = capsys.readouterr().out
        assert (code == 0) == shown.startswith("No problems")
    assert main(["summary", str(tmp_path / "none.nc")]) == 1
    assert "there is no such file" in capsys.readouterr().err


def test_csv_files_of_a_run(coin, tmp_path, capsys):
    assert main(["sample", *coin, *FEW, "--csv", str(tmp_path / "out"), "--output", "fit.nc"]) == 0
    files = sorted((tmp_path / "out").glob("*.csv"))
    assert len(files) == 2 and all(f"saved {f}" in capsys.readouterr().out for f in files[:1])
    np.testing.assert_array_equal(stanimport.from_csv(files).draws(), stanimport.Fit.load("fit.nc").draws())
    with pytest.raises(SystemExit, match="2"):
        main(["sample", *coin, "--csv", str(files[0])])
    assert "can't be written" in capsys.readouterr().err


@pytest.mark.slow
def test_rows_of_a_table_are_chosen(tmp_path, capsys):
    program = """
        data { int K; }
        parameters { matrix[2, 2] a; tuple(real, vector[2]) t; vector[K] none; }
        model { to_vector(a) ~ normal(0, 1); t.1 ~ normal(0, 1); t.2 ~ normal(0, 1); }
    """
    run = {"chains": 2, "iter_warmup": 50, "iter_sampling": 50, "seed": 1}
    fit = stanimport.sample(stanimport.loads(program), {"K": 0}, **run)
    saved = str(fit.save(tmp_path / "fit.nc"))
    whole = fit.summary()
    t = ["t:1", "t:2[1]", "t:2[2]"]
    for names, rows in {"a": ["a[1,1]", "a[2,1]", "a[1,2]", "a[2,2]"], "a[1,2],lp__": ["a[1,2]", "lp__"],
                        "t": t, "t.2,a[2,1]": [*t[1:], "a[2,1]"]}.items():  # fmt: skip
        assert main(["summary", saved, "--variables", names]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in shown[2:]] == rows
        chosen = re.split(r",(?!\d)", names)
        assert fit.summary(vars=chosen).equals(whole.loc[rows])
        assert list(fit.draws_pd(vars=chosen).columns[3:]) == rows
    assert len(fit.summary(vars="none")) == 0 and fit.draws_pd(vars="none").shape == (100, 3)
    with pytest.raises(SystemExit, match="1"):
        main(["summary", saved, "--variables", "b"])
    assert "there is no variable 'b'" in capsys.readouterr().err


LAWS = {"fair": "beta(2, 2)", "skewed": "beta(1, 19)"}


@pytest.mark.slow
def test_saved_fits_are_plotted_and_compared(coin, tmp_path, capsys):
    """Pictures, cross-validation and its ranking, whose figures are ArviZ's of the exact log densities."""
    import arviz

    fits = {}
    for name, law in LAWS.items():
        (tmp_path / f"{name}.stan").write_text(COIN.replace("beta(2, 2)", law))
        assert main(["sample", f"{name}.stan", "--data", "coin.json", *FEW, "--output", f"{name}.nc"]) == 0
        fits[name] = stanimport.Fit.load(f"{name}.nc")
    capsys.readouterr()
    y = np.asarray([1, 1, 0, 1, 1, 1, 0, 1, 0, 1])
    expected = {}
    for name, fit in fits.items():
        theta = fit.variables["theta"][..., None]
        density = np.where(y == 1, np.log(theta), np.log1p(-theta))
        data = arviz.from_dict(posterior={"theta": theta[..., 0]}, log_likelihood={"y": density})
        expected[name] = arviz.loo(data).elpd_loo
        assert main(["loo", f"{name}.nc"]) == 0
        assert float(rows(capsys)["elpd_loo"][0]) == pytest.approx(expected[name], abs=0.006)
    assert main(["compare", "skewed.nc", "fair.nc"]) == 0
    table = rows(capsys)
    assert (table["fair"][0], table["skewed"][0]) == ("0", "1")
    assert float(table["skewed"][3]) == pytest.approx(expected["fair"] - expected["skewed"], abs=1e-4)
    for more in (["--kind", "ppc"], ["--kind", "posterior", "--variables", "theta,y_rep"], []):
        assert main(["plot", "fair.nc", "--output", "picture.png", *more]) == 0
        assert (tmp_path / "picture.png").read_bytes()[:4] == b"\x89PNG"
        (tmp_path / "picture.png").unlink()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("change, arguments, told", [
    ("", ["plot", "*", "--output", "a.png", "--variables", "thta"], "no variable 'thta'; did you mean 'theta'?"),
    ("y ~ bernoulli(theta);", ["plot", "fit.nc", "--output", "a.png", "--kind", "ppc"], "no replicated data"),
    ("y ~ bernoulli(theta);", ["loo", "fit.nc"], "log density of each observation is not known"),
    ("", ["loo", "*"], "log density of each observation is not known"),
    ("", ["loo", "fit.nc", "--variable", "x"], "no observed variable 'x'"),
    ("", ["compare", "fit.nc"], "nothing to compare"),
])  # fmt: skip
def test_what_a_saved_fit_does_not_have(change, arguments, told, coin, tmp_path, capsys):
    """Each is told; CSV files, `*` here, hold no model that could compute log densities."""
    (tmp_path / "coin.stan").write_text(COIN.replace(change, "").replace("y_rep", "shown") if change else COIN)
    fit = stanimport.sample(stanimport.load("coin.stan"), "coin.json", chains=2, iter_warmup=20, iter_sampling=20,
                            seed=1, show_progress=False)  # fmt: skip
    fit.save("fit.nc")
    files = [str(p) for p in fit.save_csvfiles(tmp_path)]
    given = [a for argument in arguments for a in (files if argument == "*" else [argument])]
    try:
        code = main(given)
    except SystemExit as e:
        code = e.code
    assert code in (1, 2) and told in capsys.readouterr().err


@pytest.mark.slow
def test_runs_go_on_and_their_journals_are_read(coin, tmp_path, capsys):
    assert main(["sample", *coin, *FEW, "--journal", "run", "--output", "first.nc"]) == 0
    longer = ["sample", "coin.stan", "--draws", "400", "--no-progress"]
    assert main([*longer, "--resume", "run", "--output", "more.nc"]) == 0
    assert main([*longer, "--resume", "first.nc"]) == 0
    capsys.readouterr()
    assert main(["summary", "run"]) == 0
    from_journal = capsys.readouterr().out
    assert main(["summary", "more.nc"]) == 0
    assert capsys.readouterr().out == from_journal
    first, more = stanimport.Fit.load("first.nc"), stanimport.Fit.load("more.nc")
    assert more.draws_per_chain == 400
    np.testing.assert_array_equal(more.draws()[:300], first.draws())
    with pytest.raises(SystemExit, match="2"):
        main(["sample", *coin, "--resume", "run", "--chains", "3", "--no-progress"])
    assert "chains is 2 in the run" in capsys.readouterr().err

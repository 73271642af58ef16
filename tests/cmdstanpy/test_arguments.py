"""Arguments that would go unheeded beside others are refused, as CmdStanPy refuses them."""
import pytest

from stanimport.cmdstanpy import CmdStanModel
from stanimport.cmdstanpy.model import IgnoredOptionWarning

FEW = dict(chains=1, iter_sampling=3, seed=1, show_progress=False)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("programs") / "plain.stan"
    path.write_text("parameters { real x; } model { x ~ std_normal(); } generated quantities { real y = 2 * x; }")
    return CmdStanModel(stan_file=path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("option", [
    {"max_treedepth": 12}, {"metric": "dense"}, {"inv_metric": [1.0]}, {"step_size": 0.5}, {"adapt_delta": 0.9},
    {"adapt_init_phase": 3}, {"adapt_metric_window": 3}, {"adapt_step_size": 3},
])  # fmt: skip
def test_parameters_that_stay_take_no_steps(model, option):
    with pytest.raises(ValueError, match=f"fixed_param=True, cannot specify.*{next(iter(option))}"):
        model.sample(fixed_param=True, **option, **FEW)
    if next(iter(option)).startswith("adapt_"):
        with pytest.raises(ValueError, match=f"adapt_engaged: False, {next(iter(option))}"):
            model.sample(adapt_engaged=False, **option, **FEW)
    else:
        assert model.sample(adapt_engaged=False, iter_warmup=0, **option, **FEW).draws().shape[0] == 3


def test_adaptation_takes_iterations(model):
    with pytest.raises(ValueError, match="iter_warmup > 0 when adapt_engaged=True"):
        model.sample(iter_warmup=0, **FEW)
    fit = model.sample(iter_warmup=0, adapt_engaged=False, step_size=0.3, **FEW)
    assert fit.step_size == [0.3] and (fit.method_variables()["stepsize__"] == 0.3).all()


def test_arguments_and_their_deprecated_names(model):
    with pytest.raises(ValueError, match="both 'draws' and deprecated argument 'output_samples'"):
        model.variational(draws=10, output_samples=20)
    assert model.variational(output_samples=7, seed=1, require_converged=False).variational_sample.shape[0] == 7
    fit = model.sample(iter_warmup=10, **FEW)
    with pytest.raises(ValueError, match="both 'previous_fit' and deprecated argument 'mcmc_sample'"):
        model.generate_quantities(previous_fit=fit, mcmc_sample=fit)
    assert model.generate_quantities(mcmc_sample=fit).y.tolist() == (2 * fit.x).tolist()


@pytest.mark.parametrize("name", ["tol_obj", "tol_rel_obj", "tol_grad", "tol_rel_grad", "tol_param"])
def test_tolerances_of_paths_are_positive(model, name):
    for wrong in (0, -1, "x"):
        with pytest.raises(ValueError, match=name):
            model.pathfinder(**{name: wrong})


def test_files_that_there_are_not_are_told(model):
    with pytest.warns(IgnoredOptionWarning, match="save_latent_dynamics has no effect"):
        model.sample(iter_warmup=10, save_latent_dynamics=True, **FEW)
    with pytest.warns(IgnoredOptionWarning, match="save_latent_dynamics has no effect"):
        model.variational(save_latent_dynamics=True, seed=1, require_converged=False)

"""CmdStanPy's `CmdStanModel`."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.extras import require

from .. import api, files
from ..inference import advi, laplace_sample, optimize, pathfinder, sample
from ..inference.density import points
from ..inference.running import interrupts
from . import arguments
from .arguments import IgnoredOptionWarning as IgnoredOptionWarning  # where scripts have it from
from .errors import compiling, running
from .folders import ready
from .gradients import named
from .source_info import source_info
from .stanc_options import include_paths, refuse_header, verified, warn_pedantically
from .stanfit import (
    CmdStanFit,
    CmdStanGQ,
    CmdStanLaplace,
    CmdStanMCMC,
    CmdStanMLE,
    CmdStanPathfinder,
    CmdStanVB,
    from_csv,
    generated,
    written,
)
from .utils import cmdstan_path as cmdstan_path  # where scripts have it from too
from .utils import format_stan_file

if TYPE_CHECKING:
    from stanlib.program import Module


_OTHER_SEARCH = "optimize has another line search here than CmdStan's"


class CmdStanModel:
    """A Stan program and the methods of inference on it, as CmdStanPy has them.

    Args:
        model_name: what results are called after; the file's name if None.
        stan_file: the program.
        stanc_options: of these "include-paths" and "warn-pedantic" are heeded.
        exe_file, force_compile, cpp_options: taken for compatibility: nothing is compiled in C++.
        compile: if false, the program is read when it is first used, or by `compile`.
        user_header: can't be used.
        functions: Python's in the place of those in C++, as for `stanimport.load`: {"make_odds": "mine.make_odds"}.

    Raises:
        ValueError: without a program, for a file that is not there or not called `*.stan`, and an empty name.
        StanError: for what is wrong with it.
    """

    def __init__(
        self, model_name: str | None = None, stan_file: str | os.PathLike[str] | None = None, exe_file: object = None,
        force_compile: bool = False, stanc_options: Mapping[str, object] | None = None,
        cpp_options: Mapping[str, object] | None = None, user_header: object = None, *, compile: object = None,
        functions: Mapping[str, str] | None = None,
    ):  # fmt: skip
        refuse_header(user_header)
        path = _program_file(stan_file)
        self.stan_file, self.exe_file = os.fspath(path), exe_file
        self.stanc_options, self.cpp_options = verified(stanc_options), dict(cpp_options or {})
        self.user_header, self.name = "", path.stem if model_name is None else _name(model_name)
        self._functions, self._module = functions, None if compile is False else self._loaded(functions)

    @property
    def module(self) -> Module:
        """The translated module."""
        if self._module is None:
            self._module = self._loaded(self._functions)
        return self._module

    def _loaded(self, functions: Mapping[str, str] | None) -> Module:
        path = Path(self.stan_file)
        with compiling():
            warn_pedantically(path, self.stanc_options, functions)
            return api.load(path, include_paths=include_paths(self.stanc_options, path), functions=functions)

    def __repr__(self) -> str:
        return f"CmdStanModel: name={self.name}\n\t stan_file={self.stan_file}"

    def code(self) -> str:
        """The program's text, as it stands in its file."""
        return files.program_text(files.read_bytes(Path(self.stan_file)))

    def src_info(self) -> dict[str, Any]:
        """Names, types and dimensions of the program's variables, and included files, as `stanc --info` tells them."""
        path = Path(self.stan_file)
        folders = [Path(p) for p in include_paths(self.stanc_options, path)] or [path.parent]
        return source_info(self.module.stan, folders)

    def exe_info(self) -> dict[str, str]:
        """Nothing: there is no executable."""
        return {}

    def compile(
        self, force: bool = False, stanc_options: Mapping[str, object] | None = None, cpp_options: object = None,
        user_header: object = None, override_options: bool = False,
    ) -> None:  # fmt: skip
        """Translate the program anew with the options of stanc, in place of or beside those that there are.

        Functions in C++ are refused as by the constructor.
        """
        refuse_header(user_header)
        self.stanc_options = {**({} if override_options else self.stanc_options), **verified(stanc_options)}
        self._module = self._loaded(self._functions)

    def format(
        self, overwrite_file: bool = False, canonicalize: bool | str | Iterable[str] = False,
        max_line_length: int | None = 78, *, backup: bool = True,
    ) -> None:  # fmt: skip
        """Print the program in stanc's layout, or write it so: see `format_stan_file`."""
        format_stan_file(self.stan_file, overwrite_file=overwrite_file, canonicalize=canonicalize, backup=backup,
                         max_line_length=max_line_length, stanc_options=self.stanc_options)  # fmt: skip

    # --- methods of inference --------------------------------------------------------------------------------------

    def sample(self, data: object = None, chains: int | None = None, parallel_chains: int | None = None,
               threads_per_chain: int | None = None, seed: object = None, chain_ids: object = None,
               inits: object = None, iter_warmup: int | None = None, iter_sampling: int | None = None,
               save_warmup: bool = False, thin: int | None = None, max_treedepth: int | None = None,
               metric: object = None, step_size: object = None, adapt_engaged: bool = True,
               adapt_delta: float | None = None, adapt_init_phase: int | None = None,
               adapt_metric_window: int | None = None, adapt_step_size: int | None = None, fixed_param: bool = False,
               output_dir: object = None, sig_figs: int | None = None, save_latent_dynamics: bool = False,
               save_profile: bool = False, show_progress: bool = True, show_console: bool = False,
               refresh: int | None = None, time_fmt: str = "%Y%m%d%H%M%S", timeout: float | None = None, *,
               force_one_process_per_chain: bool | None = None, inv_metric: object = None,
               save_diagnostics: bool = False) -> CmdStanMCMC:  # fmt: skip
        """Draw from the posterior by NUTS: see `stanimport.sample`."""
        taken = arguments.of_sampler(
            fixed_param, adapt_engaged, iter_warmup,
            dict(metric=metric, inv_metric=inv_metric, step_size=step_size, max_treedepth=max_treedepth),
            dict(adapt_delta=adapt_delta, adapt_init_phase=adapt_init_phase, adapt_metric_window=adapt_metric_window,
                 adapt_step_size=adapt_step_size))  # fmt: skip
        folder = _begun(output_dir, sig_figs, threads_per_chain or 1, save_latent_dynamics or save_diagnostics)
        fit = _within(timeout, sample)(
            self.module, data, chains=1 if chains is None and fixed_param else chains, parallel_chains=parallel_chains,
            threads_per_chain=threads_per_chain, seed=seed, chain_ids=chain_ids, inits=_plain(inits), thin=thin,
            iter_warmup=iter_warmup, save_warmup=save_warmup, iter_sampling=iter_sampling, adapt_engaged=adapt_engaged,
            fixed_param=fixed_param, show_progress=show_progress, **taken)  # fmt: skip
        return CmdStanMCMC(fit, written(fit, folder, sig_figs, time_fmt, save_profile))

    def optimize(self, data: object = None, seed: int | None = None, inits: object = None, output_dir: object = None,
                 sig_figs: int | None = None, save_profile: bool = False, algorithm: str | None = None,
                 init_alpha: float | None = None, tol_obj: float | None = None, tol_rel_obj: float | None = None,
                 tol_grad: float | None = None, tol_rel_grad: float | None = None, tol_param: float | None = None,
                 history_size: int | None = None, iter: int | None = None, save_iterations: bool = False,
                 require_converged: bool = True, show_console: bool = False, refresh: int | None = None,
                 time_fmt: str = "%Y%m%d%H%M%S", timeout: float | None = None,
                 jacobian: bool = False) -> CmdStanMLE:  # fmt: skip
        """Find the mode: see `stanimport.optimize`."""
        arguments.verify_optimizer(algorithm, history_size=history_size, init_alpha=init_alpha, tol_obj=tol_obj,
                                   tol_rel_obj=tol_rel_obj, tol_grad=tol_grad, tol_rel_grad=tol_rel_grad,
                                   tol_param=tol_param)  # fmt: skip
        arguments.tell(_OTHER_SEARCH, init_alpha=init_alpha)
        given = arguments.given(algorithm=algorithm and algorithm.lower(), tol_rel_obj=tol_rel_obj, iter=iter,
                                tol_grad=tol_grad, tol_rel_grad=tol_rel_grad, history_size=history_size,
                                tol_obj=tol_obj, tol_param=tol_param)  # fmt: skip
        folder = ready(output_dir, sig_figs)
        fit = _within(timeout, optimize)(
            self.module, data, seed=seed, inits=_plain(inits), require_converged=require_converged, jacobian=jacobian,
            save_iterations=save_iterations, **given,
        )  # fmt: skip
        return CmdStanMLE(fit, written(fit, folder, sig_figs, time_fmt))

    def variational(self, data: object = None, seed: int | None = None, inits: object = None, output_dir: object = None,
                    sig_figs: int | None = None, save_latent_dynamics: bool = False, save_profile: bool = False,
                    algorithm: str | None = None, iter: int | None = None, grad_samples: int | None = None,
                    elbo_samples: int | None = None, eta: float | None = None, adapt_engaged: bool = True,
                    adapt_iter: int | None = None, tol_rel_obj: float | None = None, eval_elbo: int | None = None,
                    draws: int | None = None, require_converged: bool = True, show_console: bool = False,
                    refresh: int | None = None, time_fmt: str = "%Y%m%d%H%M%S", timeout: float | None = None, *,
                    output_samples: int | None = None, save_diagnostics: bool = False) -> CmdStanVB:  # fmt: skip
        """Fit a normal approximation: see `stanimport.advi`. As in CmdStan `eta` is chosen where that is engaged."""
        arguments.verify_positive(eta=eta)
        given = arguments.given(iter=iter, grad_samples=grad_samples, elbo_samples=elbo_samples, adapt_iter=adapt_iter,
                                eta=None if adapt_engaged else eta, tol_rel_obj=tol_rel_obj, eval_elbo=eval_elbo,
                                draws=arguments.either(draws=draws, output_samples=output_samples))  # fmt: skip
        folder = _begun(output_dir, sig_figs, None, save_latent_dynamics or save_diagnostics)
        fit = _within(timeout, advi)(
            self.module, data, seed=seed, inits=_plain(inits), algorithm=algorithm or "meanfield",
            adapt_engaged=adapt_engaged, require_converged=require_converged, **given,
        )  # fmt: skip
        return CmdStanVB(fit, written(fit, folder, sig_figs, time_fmt))

    def pathfinder(self, data: object = None, *, init_alpha: float | None = None, tol_obj: float | None = None,
                   tol_rel_obj: float | None = None, tol_grad: float | None = None, tol_rel_grad: float | None = None,
                   tol_param: float | None = None, history_size: int | None = None, num_paths: int | None = None,
                   max_lbfgs_iters: int | None = None, draws: int | None = None, num_single_draws: int | None = None,
                   num_elbo_draws: int | None = None, psis_resample: bool = True, calculate_lp: bool = True,
                   seed: int | None = None, inits: object = None, output_dir: object = None,
                   sig_figs: int | None = None, save_profile: bool = False, show_console: bool = False,
                   refresh: int | None = None, time_fmt: str = "%Y%m%d%H%M%S", timeout: float | None = None,
                   num_threads: int | None = None) -> CmdStanPathfinder:  # fmt: skip
        """Draw from an approximation found along optimization paths: see `stanimport.pathfinder`."""
        taken = arguments.of_pathfinder(
            psis_resample and calculate_lp, num_paths=num_paths, draws=draws, num_single_draws=num_single_draws,
            tol_obj=tol_obj, tol_rel_obj=tol_rel_obj, tol_grad=tol_grad, tol_rel_grad=tol_rel_grad, tol_param=tol_param,
            init_alpha=init_alpha, history_size=history_size, max_lbfgs_iters=max_lbfgs_iters,
            num_elbo_draws=num_elbo_draws)  # fmt: skip
        folder = ready(output_dir, sig_figs)
        fit = _within(timeout, pathfinder)(self.module, data, seed=seed, inits=_plain(inits), **taken)
        return CmdStanPathfinder(fit, written(fit, folder, sig_figs, time_fmt))

    def laplace_sample(self, data: object = None, mode: Any = None, draws: int | None = None, *, jacobian: bool = True,
                       seed: int | None = None, output_dir: Any = None, sig_figs: int | None = None,
                       save_profile: bool = False, show_console: bool = False, refresh: int | None = None,
                       time_fmt: str = "%Y%m%d%H%M%S", timeout: float | None = None,
                       opt_args: Mapping[str, Any] | None = None) -> CmdStanLaplace:  # fmt: skip
        """Draw from the normal approximation at the mode: see `stanimport.laplace_sample`."""
        folder = ready(output_dir, sig_figs)
        if mode is not None and opt_args is not None:
            raise ValueError("Cannot specify both 'opt_args' and 'mode' arguments")
        if mode is None:
            beside = {"output_dir": output_dir, "sig_figs": sig_figs, "time_fmt": f"opt-{time_fmt}"}
            mode = self.optimize(data, seed=seed, jacobian=jacobian, **{**beside, **(opt_args or {})})
        elif isinstance(mode, (str, os.PathLike)):
            mode = from_csv(mode, "optimize")
        if isinstance(mode, CmdStanMLE) and mode.fit.settings.get("jacobian", jacobian) != jacobian:
            raise ValueError(f"Jacobian argument to optimize and laplace must match: here it is {jacobian}")
        fit = _within(timeout, laplace_sample)(
            self.module, data, mode=_plain(mode), jacobian=jacobian, seed=seed, **arguments.given(draws=draws)
        )  # fmt: skip
        found = mode if isinstance(mode, CmdStanMLE) else None
        files = written(fit, folder, sig_figs, time_fmt, mode=found.runset if found else None)
        return CmdStanLaplace(fit, found, files)

    def generate_quantities(self, data: object = None, previous_fit: object = None, seed: int | None = None,
                            gq_output_dir: object = None, sig_figs: int | None = None, show_console: bool = False,
                            refresh: int | None = None, time_fmt: str = "%Y%m%d%H%M%S", timeout: float | None = None, *,
                            mcmc_sample: object = None) -> CmdStanGQ:  # fmt: skip
        """Run generated quantities for the draws of a fit or of CSV files: see `stanimport.generate_quantities`."""
        previous = arguments.either(previous_fit=previous_fit, mcmc_sample=mcmc_sample)
        if previous is None:
            raise ValueError("Argument 'previous_fit' is required: a fit, or CSV files")
        if isinstance(previous, (str, os.PathLike, list)) and not str(previous).endswith(".nc"):
            previous = from_csv(previous)
        folder = ready(gq_output_dir, sig_figs)
        fit = _within(timeout, generated)(self.module, data, previous, seed)
        return CmdStanGQ(fit, previous, written(fit, folder, sig_figs, time_fmt))

    def log_prob(
        self, params: object, data: object = None, *, jacobian: bool = True, sig_figs: int | None = None
    ) -> Any:
        """The log density and its gradient as a DataFrame with CmdStan's columns `lp__`, `g_theta`, `g_beta.1`, ..."""
        require("pandas", extra="inference")
        import pandas

        with running():
            density = points.LogProb(self.module, data)
            value, gradient = density(params, jacobian=jacobian)
        names, gradient = named(density, gradient)
        told = [value, *gradient] if sig_figs is None else [float(f"{v:.{sig_figs}g}") for v in (value, *gradient)]
        return pandas.DataFrame([told], columns=["lp__", *names])

    def diagnose(self, inits: object = None, data: object = None, *, epsilon: float | None = None,
                 error: float | None = None, require_gradients_ok: bool = True,
                 sig_figs: int | None = None) -> Any:  # fmt: skip
        """Compare gradients with central differences, on the unconstrained scale.

        Args:
            inits: where: as for `sample`, of one chain.
            data: as for `sample`.
            epsilon: of the differences; 1e-6 if None.
            error: how far they may be apart; 1e-6 if None.
            require_gradients_ok: raise if one is farther.
            sig_figs: has no effect.

        Returns:
            A DataFrame of `param_idx`, `value`, `model`, `finite_diff`, `error`, a row for each parameter.

        Raises:
            RuntimeError: if gradients differ.
        """
        require("pandas", extra="inference")
        import pandas

        from ..inference.density import initial

        step, allowed = 1e-6 if epsilon is None else epsilon, 1e-6 if error is None else error
        with running():
            density = points.LogProb(self.module, data)
            (at,) = initial.starting_points(density.posterior, _plain(inits), 1, 0)
        shifts = step * np.eye(density.size)
        differences = [(density.at(at + s).lp - density.at(at - s).lp) / (2 * step) for s in shifts]
        gradient = density.at(at).gradient
        found = pandas.DataFrame({"param_idx": range(density.size), "value": at, "model": gradient,
                                  "finite_diff": differences, "error": gradient - np.asarray(differences)})  # fmt: skip
        wrong = [name for name, apart in zip(density.names, found["error"]) if not abs(apart) <= allowed]
        if wrong and require_gradients_ok:
            raise RuntimeError(f"gradients of {', '.join(wrong)} differ from finite differences:\n{found}")
        return found


def _program_file(stan_file: str | os.PathLike[str] | None) -> Path:
    """The path of a program. Raises ValueError."""
    if stan_file is None:
        raise ValueError("Missing model file arguments, you must specify a Stan program: stan_file=...")
    path = Path(stan_file).expanduser().resolve()
    if not path.is_file():
        raise ValueError(f"no such file {path}")
    if path.suffix != ".stan":
        raise ValueError(f"invalid stan filename {path}")
    return path


def _name(model_name: str) -> str:
    """What results are called after. Raises ValueError for an empty name."""
    if not model_name.strip():
        raise ValueError(f"Invalid value for argument model name, found {model_name!r}")
    return model_name.strip()


def _begun(output_dir: object, sig_figs: object, threads: int | None, dynamics: bool) -> Path | None:
    """The folder for files; scripts are told what is not kept, and find the number of threads as with CmdStanPy."""
    if threads is not None:
        os.environ["STAN_NUM_THREADS"] = str(threads)
    arguments.tell("there are no files of momenta and gradients", save_latent_dynamics=dynamics)
    return ready(output_dir, sig_figs)


def _plain(value: object) -> Any:
    """Fits as this package has them, also among the inits of several chains."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.fit if isinstance(value, CmdStanFit) else value


def _within(timeout: float | None, function: Callable[..., object]) -> Callable[..., Any]:
    """The function, with errors as CmdStanPy's: TimeoutError where it has not ended after so many seconds."""

    def run(*args: object, **options: object) -> Any:
        with interrupts.deadline(timeout), running():
            return function(*args, **options)

    return run

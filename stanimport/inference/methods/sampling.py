"""`sample`: draws from the posterior by NUTS."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

from stanlib.extras import require

from ...errors import warn
from .. import options
from ..fits.fit import Fit
from ..fits.labels import labelled
from ..io.data import read_data
from ..modules import module_of
from ..running import interrupts
from ..samplers.metric import Kind
from . import background, resumption
from .drawing import drawn
from .metrics import Choice
from .refusals import refuse
from .sampling_options import checked, recorded

__all__ = ["DivergenceWarning", "sample"]
AT_TOP = ["sample"]
Names = Sequence[str] | str | None  # of variables
Place = str | os.PathLike[str] | None


class DivergenceWarning(RuntimeWarning):
    """Transitions of the sampler diverged: its draws may be biased."""


@options.suggesting
@background.optional
@labelled
@resumption.resuming
def sample(
    module: object, data: object = None, *, chains: SupportsIndex | None = 4,
    parallel_chains: SupportsIndex | None = None, seed: object = None, inits: object = None,
    iter_warmup: SupportsIndex | None = 1000, iter_sampling: SupportsIndex | None = 1000, save_warmup: bool = False,
    thin: SupportsIndex | None = 1, max_treedepth: SupportsIndex | None = 10, metric: object = "auto",
    step_size: object = None, adapt_engaged: bool = True, adapt_delta: float | None = 0.8, fixed_param: bool = False,
    show_progress: bool = False, method: str = "nuts", chain_method: str | None = None, restart_stranded: bool = True,
    chain_ids: object = None, inv_metric: object = None, adapt_init_phase: SupportsIndex | None = None,
    adapt_metric_window: SupportsIndex | None = None, adapt_step_size: SupportsIndex | None = None,
    networks: Mapping[str, object] | None = None, resume: object = None, journal: Place = None, blocking: bool = True,
    mesh: object = None, threads_per_chain: SupportsIndex | None = None, keep: Names = None, leave_out: Names = None,
) -> Fit:  # fmt: skip
    """Draw from the posterior by the no-U-turn sampler.

    Args:
        module: a translated module, or the path of a Stan program. For a module of the Pyro backend, Pyro samples.
        data: the program's data: a dict, a path of a JSON or R dump file, or anything with columns.
        chains: how many Markov chains.
        parallel_chains: how many run at the same time; the number of cores if None.
        seed: of all random numbers; a new one, kept in `fit.seed`, if None; a list has one for
            each chain, and random transformed data are those of the first.
        inits: None for uniform(-2, 2) on the unconstrained scale; another radius; a dict of values, which need not
            name all parameters; the path of such a JSON file, or of a saved fit; another fit; a list with one of
            these for each chain; or "pathfinder".
        iter_warmup, iter_sampling: iterations of each chain.
        save_warmup: keep the draws of the warm-up.
        thin: keep every how many-th draw.
        max_treedepth: of a trajectory.
        metric: "auto", "low_rank", or Stan's "diag_e", "dense_e", "unit_e", or the inverse metric to start from: an
            array, a dict with "inv_metric", or the path of such a JSON file; a list has one for each chain, as has
            `fit.metric`. Its parameters are in Stan's order: matrices column by column, arrays of tuples tuple by
            tuple, the imaginary part of a complex number behind its real part. "auto" learns from draws and gradients:
            a matrix for up to 64 parameters where the posterior is nearly normal, else the diagonal, by more windows
            than "diag_e" has. With other samplers it is "diag_e". "low_rank" learns likewise the diagonal and up to 16
            directions: for many correlated parameters.
        step_size: to start from, or to keep if there is no adaptation; a list has one for each chain.
        adapt_engaged: whether warm-up adapts step size and metric.
        adapt_delta: the mean acceptance statistic that the step size is adapted to.
        fixed_param: don't sample: only generated quantities, at the inits. So it is for a program without parameters.
        show_progress: show how far the chains are: a table if rich is installed, else a bar; in a file or a pipe a
            line every half minute.
        method: the sampler: "nuts" or "walnuts", this package's own; NumPyro's NUTS; or if they are installed that of
            "blackjax" or "nutpie", or BlackJAX's "chees" or "meads". WALNUTS divides its steps where the posterior is
            narrow: for funnels, hierarchies with few data and heavy tails, where NUTS diverges or is biased. ChEES and
            MEADS run 64 chains and more as one program, best on a GPU.
        chain_method: how chains run: "parallel" in a thread each, on all devices in turn; "vectorized" in
            one program on each device; "sequential". If None, "parallel" on a CPU, else "vectorized".
        restart_stranded: let chains begin anew, elsewhere, whose steps shrink to nothing during warm-up at densities
            far below the other chains', or that end it in a place that holds next to nothing of the posterior.
            `fit.restarts` tells which. Only chains with random initial values do, of the methods "nuts" and
            "walnuts", and none after warm-up. Chains in another mode stay there.
        chain_ids: numbers of the chains, from 1 if None; the first one, if it is an integer. Chains of one seed with
            other numbers draw other random numbers, so that they may run in several processes; random
            transformed data are the same.
        inv_metric: the same as an array for `metric`, which then only names the kind.
        adapt_init_phase, adapt_metric_window, adapt_step_size: iterations of warm-up before the windows in which the
            metric is learned, in the first of them, and after the last. If None 75, 25 and 50.
        networks: those that the program declares, by name, trained before: their weights stay as they are.
        resume: a fit of the method "nuts" or "walnuts" whose chains go on where they ended, the file that it was saved
            in, or the journal of a run. Data and options that are not given are the run's; others can't be given, but
            for `iter_sampling`, which is that of the whole run, and for how chains run. The draws, those made before
            among them, are to the last bit those of one run that was as long, or was not interrupted.
        journal: a new folder to which the draws of "nuts" or "walnuts" go while they are made, with where each chain
            stands: after a crash `resume` goes on from there, and `Fit.load` reads what is there. Large arrays of
            the fit are maps of files there: memory need not hold them.
        blocking: wait for the fit. If False, a `Sampling` is returned at once, which tells how far the chains are,
            gives the draws so far as a fit, waits, and ends the run.
        mesh: a `jax.sharding.Mesh` whose devices, in this process or several, share the rows of the data: each has its
            part of them, and the log density is summed over all. Draws differ by rounding alone. Chains run one after
            the other.
        threads_per_chain: how many threads share the rows of large data: a mesh of so many CPU devices of JAX, which
            must not run yet, or have as many. Data of few rows, and those of recurrences, have one thread.
        keep, leave_out: the parameters, transformed parameters and generated quantities whose draws the fit has, or has
            not; all if None. What is not kept is not computed. A fit that lacks parameters can't compute from the model
            what needs them, such as log likelihoods.

    An option that is None has its default.

    Returns:
        The fit. After an interrupt (Ctrl-C) it holds the draws made so far.

    Raises:
        StanDataError: for data that are not as declared.
        InitialValueError: if no initial value was found; it names the statement.
        OptionError, TypeError: for options that are wrong.
        NotEnoughMemoryError: if memory, or the disk of a journal, has no room for the draws.
        StanError: if a mesh can't share the rows, for they need the ones before or are too few.
        KeyboardInterrupt: after an interrupt before the first draw.

    Source: Hoffman and Gelman (2014), "The No-U-Turn Sampler", Journal of Machine Learning Research 15; Bou-Rabee,
    Carpenter, Kleppe and Liu (2025), "The Within-Orbit Adaptive Leapfrog No-U-Turn Sampler", arXiv:2506.18746; Hoffman,
    Radul and Sountsov (2021) and Hoffman and Sountsov (2022), AISTATS, for ChEES and MEADS.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> fit = stanimport.sample(coin, data, seed=1)
        >>> round(float(fit.stan_variable("bias").mean()), 1)  # of a beta(8, 4): 2 / 3
        0.7
        >>> fit.draws().shape[:2]
        (1000, 4)
    """
    chosen = checked(dict(
        chains=chains, parallel_chains=parallel_chains, seed=seed, inits=inits, iter_warmup=iter_warmup,
        iter_sampling=iter_sampling, save_warmup=save_warmup, thin=thin, max_treedepth=max_treedepth, metric=metric,
        step_size=step_size, adapt_engaged=adapt_engaged, adapt_delta=adapt_delta, fixed_param=fixed_param,
        show_progress=show_progress, method=method, chain_method=chain_method, restart_stranded=restart_stranded,
        chain_ids=chain_ids, inv_metric=inv_metric, adapt_init_phase=adapt_init_phase,
        adapt_metric_window=adapt_metric_window, adapt_step_size=adapt_step_size, resume=resume, journal=journal,
        mesh=mesh, threads_per_chain=threads_per_chain, keep=keep, leave_out=leave_out,
    ))  # fmt: skip
    translated, given = module_of(module, networks), read_data(data)
    wanted = options.wanted(translated.stan, keep, leave_out)
    by_pyro = translated.stan.backend == "pyro"
    return _warned(_by_pyro(translated, given, chosen, wanted) if by_pyro else Fit.of(drawn(translated, given, chosen)))


def _by_pyro(module: Any, data: Mapping[str, Any], chosen: dict[str, Any], wanted: Any) -> Fit:
    """What Pyro's sampler draws. Raises OptionError for options that it does not have."""
    require("torch", "pyro", extra="pyro")
    from .pyro_methods import sample as sample_by_pyro

    refuse("pyro", chosen, Choice(None, Kind()))
    if chosen["mesh"] is not None or (chosen["threads_per_chain"] or 1) > 1:
        raise options.OptionError("mesh and threads_per_chain: Pyro's sampler runs on one device")
    with interrupts.immediate():
        return sample_by_pyro(module, data, recorded(chosen), wanted)


def _warned(fit: Fit) -> Fit:
    """Warn of transitions that diverged."""
    divergent = 0 if fit.divergences is None else int(fit.divergences.sum())
    if divergent == fit.num_draws > 0:
        warn("every transition diverged: these are no draws from the posterior; fit.diagnose() tells more",
             DivergenceWarning)  # fmt: skip
    elif divergent:
        warn(f"{divergent} of {fit.num_draws} transitions diverged; fit.diagnose() tells what to do",
             DivergenceWarning)  # fmt: skip
    return fit

"""`generate_quantities`: transformed parameters and generated quantities for the draws of a fit, also on new data."""
from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from stanlib.errors import StanDataError

from ...errors import StanWarning, warn
from .. import nested, options, tuples
from ..density import initial, remembered
from ..density.conditioned import remembered_or_new
from ..density.quantities import generated, inside, shapes_of_draw
from ..fits import integers, stan_csv
from ..fits.fit import Fit
from ..fits.labels import labelled, verify_same_entries
from ..fits.result import Result, declared
from ..fits.storage import SUFFIXES
from ..io.data import read_data
from ..io.names import read
from ..modules import for_numpyro, module_of, plain_module_of, with_saved_weights
from . import given_draws

if TYPE_CHECKING:
    from stanlib.metadata import Program, Variable

    from ..density.posterior import Posterior
    from ..density.remembered import Remembered

__all__ = ["from_csv", "generate_quantities"]
AT_TOP = ["from_csv", "generate_quantities"]


@labelled
@options.suggesting
def generate_quantities(
    module: object = None, data: object = None, *, previous_fit: object = None, seed: SupportsIndex | None = None,
    keep: Sequence[str] | str | None = None, leave_out: Sequence[str] | str = (),
    folder: str | os.PathLike[str] | None = None, networks: Mapping[str, object] | None = None,
) -> Fit:  # fmt: skip
    """Run the program's generated quantities for every draw of the parameters, each draw with a random key of its own.

    Discrete parameters of a fit keep their draws if the data are the same. Given others they are drawn anew, from what
    they are likely to be given the parameters and these data.

    Args:
        module: a translated module, or the path of a program: it may differ from that of the fit in its quantities
            and transformed parameters, but needs the same parameters. If None, that of the fit.
        data: the data that the quantities see; those of the fit if None.
        previous_fit: a fit by any method, the path of a saved one, CmdStan's CSV files, or draws of the parameters:
            a dict of arrays (draws, ...), a DataFrame of pandas or polars whose columns are called as those of
            `draws_pd` or of CSV files, `draws_xr`, or what ArviZ holds or extracts.
        seed: of the random numbers; a new one if None.
        keep, leave_out: as for `sample`.
        folder: a new one, where to put the new quantities as they are computed, in NumPy's files, which the fit reads
            when it is asked for them: for more of them than memory holds.
        networks: those that the program declares, by name; else they are those of the fit, as it has trained them.

    Returns:
        A fit with the given draws of the parameters and the new quantities, its method "generate".

    Raises:
        StanDataError: for data that are not as declared, draws that lack a parameter or are outside of its domain, and
            data whose rows have other names than the draws' components, or theirs in another order.
        TypeError: without a `previous_fit`.
        OptionError: for names of variables that there aren't, and a folder that is there already.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> fit = stanimport.sample(coin, data, seed=1)
        >>> again = stanimport.generate_quantities(previous_fit=fit, seed=2)
        >>> sorted(set(again.stan_variable("next_flip").tolist()))
        [0, 1]
    """
    draws = _draws_of(previous_fit)
    chosen = options.seed_or_new(seed)
    inputs = _inputs(draws, data)
    translated = for_numpyro(_module(module, draws, networks))
    verify_same_entries(translated.stan, *_names(draws, previous_fit), data)
    wanted = options.wanted(translated.stan, keep, leave_out)
    if data is None:
        inputs = {n: inputs[n] for n in translated.stan.names("data") if n in inputs}
    posterior = remembered_or_new(translated, inputs, chosen)
    posterior.wanted = wanted
    parameters = _parameters(draws, posterior)
    flat, kept = _of_all_chains(parameters), _of_all_chains(_discrete(draws, translated.stan, posterior.inputs))
    if data is not None or not isinstance(draws, Fit) or draws.program.source != translated.stan.source:
        _verify_inside(posterior, flat)
    made = generated(posterior, flat, chosen, None if folder is None else options.new_folder("folder", folder), kept)
    variables = _variables(parameters, made, wanted)
    stats = {n: v for n, v in draws.stats.items() if n == "lp__"} if isinstance(draws, Fit) else {}
    fit = Fit(translated.stan, "generate", variables, stats, posterior.inputs, {"seed": chosen}, {}, translated)
    remembered.keep(posterior)
    return fit if not isinstance(draws, Fit) else _labelled_as(fit, draws)


def _inputs(draws: object, data: object) -> Mapping[str, Any]:
    """The data that are given, else those of the fit. Raises StanDataError."""
    if not isinstance(draws, Fit):
        return read_data(data)
    return draws.data if data is None else read(draws.program, data)


def _of_all_chains(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {n: v.reshape(v.shape[0] * v.shape[1], *v.shape[2:]) for n, v in arrays.items()}


def _discrete(
    draws: Fit | Mapping[str, object], program: Program, inputs: Mapping[str, object]
) -> dict[str, np.ndarray]:  # fmt: skip
    """The draws of discrete parameters that stay as they are: those of a fit to the same data.

    Given other data they have other values. Draws that come without their data may be of these or not.
    """
    known, names = draws.variables if isinstance(draws, Fit) else draws, program.names("data")
    found = [v for v in program.discrete_parameters if v.name in known]
    if isinstance(draws, Fit) and draws.data.keys() >= set(names):
        are_same = all(_are_equal(inputs.get(n), draws.data[n]) for n in names)
        declared_so = {_declared(v) for v in draws.program.discrete_parameters}
        return {v.name: np.asarray(known[v.name]) for v in found if are_same and _declared(v) in declared_so}
    if found:
        warn(f"draws of {', '.join(v.name for v in found)} are not used, as they come without their data: "
             "discrete parameters are drawn given these", StanWarning)  # fmt: skip
    return {}


def _declared(v: Variable) -> tuple[object, ...]:
    """What a declaration says, wherever it stands."""
    return v.name, v.type, v.shape, v.constraint


def _are_equal(a: object, b: object) -> bool:
    """Whether values of data are the same."""
    ones, others = nested.leaves(a), nested.leaves(b)
    return len(ones) == len(others) and all(map(np.array_equal, ones, others))


def _labelled_as(fit: Fit, other: Fit) -> Fit:
    """A fit, with the names of another one's dimensions and their coordinates."""
    fit.dims, fit.coords = other.dims, other.coords
    return fit


def _module(module: Any, draws: Any, networks: Mapping[str, Any] | None) -> Any:
    """The module that is given, else that of the fit, with the networks that are given, else those of the fit."""
    if module is None and not isinstance(draws, Fit):
        raise TypeError("generate_quantities() needs a module where the draws are no fit")
    if networks or module is None:
        return module_of(draws.module if module is None else module, networks)
    if not isinstance(draws, Fit) or not draws.program.networks:
        return module_of(module)
    found = plain_module_of(module)
    known = {n: v for n, v in draws.networks.items() if n in found.stan.networks}
    return with_saved_weights(found, draws.info.get("params", {}), known)


def _variables(
    parameters: Mapping[str, np.ndarray], made: Mapping[str, np.ndarray], wanted: Collection[str] | None
) -> dict[str, np.ndarray]:
    """The parameters that are wanted, (chains, draws, ...), and what was made at their draws, in the same shape."""
    chains, count = next((v.shape[:2] for v in parameters.values()), (1, 0))
    kept = {n: v for n, v in parameters.items() if wanted is None or n.partition(".")[0] in wanted}
    return kept | {n: v.reshape(chains, count, *v.shape[1:]) for n, v in made.items()}


def _verify_inside(posterior: Posterior, parameters: Mapping[str, np.ndarray]) -> None:
    """Raise StanDataError for draws of another program, or from elsewhere, that can't be this one's parameters'."""
    if not any(v.constraint or v.items for v in posterior.program.parameters) or not all(map(len, parameters.values())):
        return
    for name, are_inside in inside(posterior, parameters).items():
        if not are_inside.all():
            first = int(np.argmin(are_inside))
            error = initial.outside(posterior, name, parameters[name][first])
            raise StanDataError(f"draw {first + 1} of {len(are_inside)}: {error}", name)


def _draws_of(previous: Any) -> Fit | Mapping[str, object]:
    """A fit, or the draws of the parameters, (chains, draws, ...) each."""
    if isinstance(previous, (str, os.PathLike)) and Path(previous).suffix in SUFFIXES and not Path(previous).is_dir():
        with options.read_for("previous_fit"):
            return Fit.load(Path(previous))
    if isinstance(previous, (str, os.PathLike, list, tuple)):
        with options.read_for("previous_fit"):
            return from_csv(previous)
    if isinstance(previous, Fit):
        return previous
    found = given_draws.arrays(previous)
    if found is None:
        told = "a fit, the path of a saved fit or of CSV files, or draws of the parameters"
        raise TypeError(f"previous_fit must be {told}")
    return found


def _names(draws: object, previous: object) -> given_draws.Names:
    """The dimensions of draws and their coordinates."""
    return (draws.dims, draws.coords) if isinstance(draws, Fit) else given_draws.names(previous)


def from_csv(paths: object, *, module: object = None, data: object = None) -> Fit:
    """Read CmdStan's CSV files, CmdStan's own or those that `save_csvfiles` wrote.

    Args:
        paths: the file of one chain, a folder, a pattern such as "out/coin-*.csv", or a list of paths.
        module: the translated module, or the path of the program, for what has to be computed from the model.
        data: its data, likewise. With both the fit has variables without values too, of which files tell nothing.

    Raises:
        StanDataError: for files that can't be read, or do not belong together.

    Examples:
        >>> import tempfile
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> fit = stanimport.sample(coin, data, chains=2, iter_sampling=50, seed=1)
        >>> again = stanimport.from_csv(fit.save_csvfiles(tempfile.mkdtemp()))
        >>> bool((again.draws() == fit.draws()).all())
        True
    """
    if module is None:
        return Fit.of(stan_csv.read(paths, None, {}))
    translated = module_of(module)
    if data is None and translated.stan.data:
        return Fit.of(stan_csv.read(paths, translated.stan, {}))
    posterior = remembered_or_new(for_numpyro(translated), read_data({} if data is None else data), 0)
    found = stan_csv.read(paths, translated.stan, {} if data is None else posterior.inputs)
    return Fit.of(_with_empty(found, posterior))


def _with_empty(found: Result, posterior: Posterior | Remembered) -> Result:
    """With the variables that hold no values, of which files have no columns; quantities alone are not all of them."""
    lacking = set(tuples.leaf_names(declared(found.program))) - set(found.variables)
    if found.method == "generate" or not lacking:
        return found
    empty = {n: one for n, one in shapes_of_draw(posterior).items() if n in lacking and 0 in one.shape}

    def filled(arrays: Mapping[str, np.ndarray], stats: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        of_draws = next(iter(stats.values())).shape
        made = {n: np.zeros(of_draws + one.shape, one.dtype) for n, one in empty.items()}
        return integers.declared(found.program, {**arrays, **made})

    warmup = None if found.warmup is None else (filled(*found.warmup), found.warmup[1])
    return Result(found.program, found.method, filled(found.variables, found.stats), found.stats, found.data,
                  found.settings, found.info, warmup=warmup)  # fmt: skip


def _parameters(draws: Any, posterior: Posterior) -> dict[str, np.ndarray]:
    """The draws of the parameters, (chains, draws, ...) each, by site."""
    values = posterior.of_draws(draws.variables if isinstance(draws, Fit) else draws)
    first = next(iter(values), "")
    for name, shape in posterior.constrained_shapes.items():
        lead, own = values[name].shape[:2], values[name].shape[2:]
        if own != shape:
            raise StanDataError(f"draws of {name} must have shape {shape} for these data, not {own}", name)
        if len(lead) < 2 or lead != values[first].shape[:2]:
            raise StanDataError(f"{name} must have as many draws as {first}, an array (draws, ...) each", name)
        if np.iscomplexobj(values[name]):
            raise StanDataError(f"draws of {name} must be real, not complex", name)
    return {n: np.asarray(v) for n, v in values.items()}

"""What a method of inference found: draws of all the program's variables, its own variables, data and options."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from stanlib.errors import StanError
from stanlib.extras import require
from stanlib.program import Module, Program, Variable

from .. import tuples
from ..kinds import checking
from ..options import seed_or_new, suggestion, whole
from . import columns

if TYPE_CHECKING:
    from ..samplers.stranding import Restart


class Result:
    """What a method found, without what can be asked of it that takes other modules: that is `Fit`.

    It holds no model and pickles without one: where something has to be computed from the model, the program is
    translated again from its source, or `module` is given.

    Attributes:
        program: the Stan program (`module.stan`).
        method: "sample", "optimize", "variational", "pathfinder", "laplace" or "generate".
        variables: arrays (chains, draws, ...) by Stan name, in the order of their declarations; a tuple's items
            each by itself ("a.1").
        stats: arrays (chains, draws) of the method's own variables, by CmdStan's names ("lp__", "divergent__", ...).
        data: data and transformed data.
        settings: the options that the method ran with, among them the seed.
        info: further results: "step_size" and "metric" of a sampler, "mode" of the Laplace approximation, ...
        warmup: variables and stats of the warm-up iterations, or of an optimizer's before the mode, if they were saved.
        dims: names of the dimensions of variables, where the data came with them, as pandas' and xarray's do.
        coords: the coordinates of those dimensions. Both may be set.
    """

    def __init__(
        self, program: Program, method: str, variables: Mapping[str, np.ndarray], stats: Mapping[str, np.ndarray],
        data: Mapping[str, Any], settings: Mapping[str, Any], info: Mapping[str, Any] | None = None,
        module: Module | None = None, warmup: tuple[dict[str, np.ndarray], dict[str, np.ndarray]] | None = None,
    ):  # fmt: skip
        self.program, self.method, self.settings, self.info = program, method, dict(settings), dict(info or {})
        order = tuples.leaf_names(declared(program))
        variables = tuples.joined(variables)
        self.variables = {n: np.asarray(variables[n]) for n in order if n in variables}
        self.stats = {n: np.asarray(v) for n, v in stats.items()}
        self.data = dict(data)
        self.warmup = None if warmup is None else (tuples.joined(warmup[0]), warmup[1])
        self.dims: dict[str, tuple[str, ...]] = {}
        self.coords: dict[str, list[Any]] = {}
        self._module = module
        self._groups: dict[str, Any] = {}  # what was computed for ArviZ before

    def __getstate__(self) -> dict[str, Any]:
        if self._module is None or not self.program.networks:
            return self.__dict__ | {"_module": None}
        from ..modules import weights_of

        weights = weights_of(self._module) | dict(self.info.get("params", {}))
        return self.__dict__ | {"_module": None, "info": {**self.info, "params": weights}}

    @property
    def module(self) -> Module:
        """The translated module; translated anew from the program's source if the fit was loaded or unpickled.

        Raises:
            StanError: for a fit that was read from CSV files without it.
        """
        if self._module is None and not self.program.source:
            raise StanError("the program of this fit is not known: read it with from_csv(..., module=...)")
        # a module that was loaded anew, by importlib.reload or %autoreload, is that of another program
        if self._module is None or self.program.source and self._module.stan.source != self.program.source:
            from ..modules import restored, with_saved_weights

            self._module = restored(self.program)
            if self.program.networks:
                self._module = with_saved_weights(self._module, self.info.get("params", {}))
        return self._module

    @property
    def networks(self) -> dict[str, Any]:
        """The networks of the program as the fit has them, trained where it has trained them.

        A loaded fit has those that it was loaded with, and those that the program finds by itself.
        """
        from ..modules import networks_of

        return networks_of(self.module) if self.program.networks else {}

    @property
    def labels(self) -> columns.Labels:
        """The coordinates of the axes of variables that have dimensions with names; None for axes without."""
        return {n: [self.coords.get(d) for d in dims] for n, dims in self.dims.items()}

    @property
    def axes(self) -> columns.Axes:
        """Of items of tuples, how many axes are those of arrays of these tuples."""
        return tuples.axes(declared(self.program))

    @property
    def chains(self) -> int:
        return self._shape[0]

    @property
    def chain_ids(self) -> list[int]:
        """The numbers of the chains, from 1 unless others were asked for."""
        return list(self.settings.get("chain_ids") or range(1, self.chains + 1))

    @property
    def draws_per_chain(self) -> int:
        return self._shape[1]

    @property
    def num_draws(self) -> int:
        """The number of draws of all chains together."""
        return self.chains * self.draws_per_chain

    @property
    def _shape(self) -> tuple[int, ...]:
        return next((v.shape[:2] for v in (*self.variables.values(), *self.stats.values())), (0, 0))

    @property
    def has_warmup(self) -> bool:
        """Whether the warm-up iterations were saved, which may be none."""
        asked, count = (self.settings.get(n) for n in ("save_warmup", "iter_warmup"))
        return self.warmup is not None or asked is True and count == 0

    def require_draws(self) -> None:
        """Raise ValueError if the fit has none, as one of no iterations but those of the warm-up."""
        if not self.num_draws:
            raise ValueError("the fit has no draws")

    @property
    def has_data(self) -> bool:
        """Whether it holds all data: a fit by minibatches has those that no row belongs to."""
        return set(self.program.names("data")) <= set(self.data)

    def require_data(self) -> None:
        """Raise StanError if the fit does not hold all data."""
        if not self.has_data:
            lacking = ", ".join(n for n in self.program.names("data") if n not in self.data)
            advice = "generate_quantities(program, data, previous_fit=fit) makes one that does"
            raise StanError(f"the fit does not hold the data {lacking}, as one by minibatches: {advice}")

    @property
    def interrupted(self) -> bool:
        """Whether an interrupt ended the method before all draws were made."""
        return bool(self.info.get("interrupted", False))

    @property
    def seed(self) -> int:
        return int(self.settings["seed"])

    @property
    def step_size(self) -> np.ndarray | None:
        """The step size of each chain after adaptation, (chains,); None if the method has none."""
        return self.info.get("step_size")

    @property
    def metric(self) -> np.ndarray | None:
        """The inverse metric of each chain after adaptation, (chains, size) or (chains, size, size), in Stan's order.

        Of low rank it is (chains, size + 1, k + 1), for each chain [0, variances; squared scales, directions].
        """
        return self.info.get("metric")

    @property
    def times(self) -> np.ndarray | None:
        """The seconds that each chain took for warm-up and sampling, (chains, 2), if they are known."""
        return self.info.get("times")

    @property
    def divergences(self) -> np.ndarray | None:
        """The number of divergent transitions of each chain, (chains,)."""
        found = self.stats.get("divergent__")
        return None if found is None else found.astype(bool).sum(axis=1)

    @property
    def max_treedepths(self) -> np.ndarray | None:
        """The number of transitions of each chain that reached the maximum tree depth, (chains,)."""
        found = self.stats.get("treedepth__")
        return None if found is None else (found >= self.settings["max_treedepth"]).sum(axis=1)

    @property
    def restarts(self) -> tuple[Restart, ...]:
        """The chains that began anew during warm-up: `chain`, counted from 1, `iteration` and `reason`."""
        return tuple(self.info.get("restarts", ()))

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns of `draws()`."""
        return tuple(self._columns()[0])

    @checking
    def stan_variable(self, name: str) -> Any:
        """The draws of one variable.

        Returns:
            An array (draws of all chains, ...); for a tuple, a tuple of such arrays.

        Raises:
            ValueError: for a name that the program does not have, with the one that was probably meant.
        """
        if name in self.variables:
            return self._joined(self.variables[name])
        variable = next((v for v in declared(self.program) if v.name == name), None)
        if variable is None or not set(tuples.leaves(variable)) <= set(self.variables):
            raise ValueError(f"there is no variable {name!r}{suggestion(name, list(self.variables))}")
        return tuples.pack(variable, {n: self._joined(v) for n, v in self.variables.items()})

    def stan_variables(self) -> dict[str, Any]:
        """The draws of all variables, by name, as `stan_variable` returns them."""
        present = set(self.variables)
        return {v.name: self.stan_variable(v.name) for v in declared(self.program) if set(tuples.leaves(v)) <= present}

    def method_variables(self) -> dict[str, np.ndarray]:
        """The method's own variables, (draws, chains) each: lp__, accept_stat__, divergent__, ..."""
        return {n: v.T for n, v in self.stats.items()}

    def _joined(self, value: np.ndarray) -> np.ndarray:
        return columns.of_all_chains(value)

    # --- as tables -------------------------------------------------------------------------------------------------

    @checking
    def draws(self, *, concat_chains: bool = False, inc_warmup: bool = False) -> np.ndarray:
        """All columns: (draws, chains, columns), or with `concat_chains` (draws of all chains, columns)."""
        _, values = self._columns(inc_warmup)
        return columns.of_all_chains(values) if concat_chains else values.transpose(1, 0, 2)

    def _columns(self, inc_warmup: bool = False, wanted: Sequence[str] | None = None) -> tuple[list[str], np.ndarray]:
        """All columns, or at least those that are wanted; all too where there are none of them."""
        made = self.with_warmup() if inc_warmup else {**self.stats, **self.variables}
        roots = set(map(columns.root, wanted or ()))
        chosen = {n: v for n, v in made.items() if columns.root(n) in roots}
        return columns.flatten(chosen or made, axes=self.axes)

    def with_warmup(self) -> dict[str, np.ndarray]:
        """Stats and variables, (chains, draws, ...), the warm-up in front. Raises ValueError if it was not saved."""
        if not self.has_warmup:
            raise ValueError("the warm-up was not saved: sample with save_warmup=True")
        now = {**self.stats, **self.variables}
        if self.warmup is None:
            return now
        before = {**self.warmup[1], **self.warmup[0]}
        return {n: np.concatenate([before[n], v], axis=1) for n, v in now.items()}

    @checking
    def draws_pd(self, vars: Sequence[str] | str | None = None, *, inc_warmup: bool = False) -> Any:
        """The draws as a pandas DataFrame, with the columns chain__, iter__ and draw__ in front.

        Args:
            vars: the variables to take, all if None; names of columns ("theta[1]") and of parts ("t.1") are taken too.
        """
        require("pandas", extra="inference")
        import pandas

        wanted = [vars] if isinstance(vars, str) else vars
        names, values = self._columns(inc_warmup, wanted)
        chains, count = values.shape[:2]
        frame = pandas.DataFrame(columns.of_all_chains(values), columns=names, copy=False)  # it is the frame's own
        at = np.arange(1, chains * count + 1)
        frame.insert(0, "chain__", np.repeat(self.chain_ids, count))
        frame.insert(1, "iter__", np.tile(np.arange(1, count + 1), chains))
        frame.insert(2, "draw__", at)
        if wanted is None:
            return frame
        chosen = columns.belonging(wanted, names, [*self.stats, *self.variables])
        return frame[["chain__", "iter__", "draw__", *(names[i] for i in chosen)]]

    @checking
    def create_inits(self, seed: SupportsIndex | None = None, chains: SupportsIndex = 4) -> list[dict[str, np.ndarray]]:
        """Initial values for chains: draws of the parameters chosen at random, without repetition if they suffice."""
        count = whole("chains", chains, 1)
        self.require_draws()
        rng = np.random.default_rng(None if seed is None else seed_or_new(seed))
        chosen = rng.choice(self.num_draws, count, replace=self.num_draws < count)
        names = [n for n in tuples.leaf_names(self.program.parameters) if n in self.variables]
        flat = {n: self._joined(self.variables[n]) for n in names}
        return [{n: v[i] for n, v in flat.items()} for i in chosen]


def declared(program: Program) -> tuple[Variable, ...]:
    """The variables that a draw has, in the order of their declarations."""
    return (*program.parameters, *program.transformed_parameters, *program.generated_quantities)

"""Fits on disk: NetCDF with ArviZ's groups, and beside them what a fit knows beyond those."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from stanlib.arrays import numpy as xp
from stanlib.errors import StanDataError
from stanlib.extras import require
from stanlib.program import Program, Variable

from ...files import is_file
from ..io.files import atomically, readable
from ..io.patient_files import PatientFile
from ..modules import weights_of
from ..options import OptionError
from .entries import LogDensities
from .result import Result

FORMAT = "stanimport fit 2"
SUFFIXES = ("", ".nc", ".nc4", ".netcdf", ".cdf", ".h5", ".hdf5")
_ENGINE = "h5netcdf"
_LARGE = 1000  # components from which on arrays are compressed


def save(fit: Result, path: Path, computed: Sequence[str]) -> Path:
    """Write a fit, whole or not at all, with those of ArviZ's groups that take the model to compute.

    Raises:
        OptionError: for a suffix that names another format.
        OSError, MissingLibraryError: if it can't be written.
    """
    if path.suffix.lower() not in SUFFIXES:
        other = ": save_csvfiles() writes CmdStan's CSV" if path.suffix.lower() == ".csv" else ""
        raise OptionError(f"{path}: fits are saved as NetCDF, in files called *.nc{other}")
    require("xarray", "h5netcdf", "h5py", extra="inference")
    from .groups import dataset, groups_to_save

    groups = groups_to_save(fit, computed)
    kept = {n: v for n, v in fit.variables.items() if n not in groups["posterior"]}
    groups["stanimport_variables"] = dataset(kept)
    groups["stanimport_stats"] = dataset(fit.stats)
    if fit.warmup is not None:
        rest = {n: v for n, v in fit.warmup[0].items() if n not in groups["warmup_posterior"]}
        groups["stanimport_warmup"] = dataset(rest)
        groups["stanimport_warmup_stats"] = dataset(fit.warmup[1])
    groups["stanimport_data"] = dataset(flat(fit.data), sampled=False)
    groups["stanimport_info"] = dataset({n: v for n, v in fit.info.items() if isinstance(v, np.ndarray)}, sampled=False)
    weights = weights_of(fit.module) if fit.program.networks else {}
    groups["stanimport_params"] = dataset(weights | _leaves(fit.info.get("params", {})), sampled=False)
    groups["posterior"].attrs |= {"created_by": "stanimport", "stanimport_fit": json.dumps(_described(fit, computed))}
    atomically(path, lambda place: _write(groups, place))
    return path


def _leaves(params: Any) -> dict[str, np.ndarray]:
    """A guide's parameters and networks' weights by the names of their leaves: "net$params.layer.kernel"."""
    if not any(hasattr(v, "__dict__") or isinstance(v, (dict, list, tuple)) for v in params.values()):
        return {n: np.asarray(v) for n, v in params.items()}
    from stanlib.ppl.numpyro.networks import flat_weights

    return {n: np.asarray(v) for n, v in flat_weights(params).items()}


def _write(groups: Mapping[str, Any], path: Path) -> None:
    """Write the groups into one file, each behind the other, so that memory need not hold the file.

    Raises:
        OSError: if there is no room for it.
    """
    with closing(PatientFile(path)) as file:
        for i, (name, group) in enumerate(groups.items()):
            real = {n: _real(v) for n, v in group.data_vars.items()}
            packed = {n: {"zlib": True, "complevel": 1} for n, v in real.items() if v.size > _LARGE}
            group.assign(real).to_netcdf(file, mode="a" if i else "w", group=name, engine=_ENGINE, encoding=packed)
            if file.error is not None:
                raise file.error


def _real(value: Any) -> Any:
    """Complex numbers as pairs: NetCDF has none."""
    if value.dtype.kind != "c":
        return value
    import xarray

    part = f"{value.name}_part"
    pairs = xarray.concat([value.real, value.imag], part).transpose(..., part)
    return pairs.assign_attrs(stanimport_complex=1)


def _described(fit: Result, computed: Sequence[str]) -> dict[str, object]:
    simple = {n: v for n, v in fit.info.items() if isinstance(v, (bool, int, float, str))}
    settings = {n: v for n, v in fit.settings.items() if isinstance(v, (bool, int, float, str, list, dict, type(None)))}
    return {
        "format": FORMAT, "method": fit.method, "settings": settings, "info": simple,
        "program": asdict(fit.program), "computed": list(computed), "restarts": [asdict(r) for r in fit.restarts],
        "dims": fit.dims, "coords": fit.coords, "entries": _entries(fit, computed),
    }  # fmt: skip


def _entries(fit: Result, computed: Sequence[str]) -> dict[str, list[list[int]]]:
    """Which entries of the data the saved log likelihood has, of variables of which it has a part."""
    terms = fit._groups.get("log_likelihood") if "log_likelihood" in computed else None
    found = terms.entries if isinstance(terms, LogDensities) else {}
    return {n: [at.tolist() for at in axes] for n, axes in found.items()}


def flat(data: Mapping[str, object]) -> dict[str, Any]:
    from ..tuples import unpack

    return {n: np.asarray(v) for n, v in unpack(data).items()}


def load(path: Path) -> Result:
    """Read a fit that `save` wrote.

    Raises:
        StanDataError: for a file that can't be read, or that holds no fit.
    """
    require("xarray", "h5netcdf", "h5py", extra="inference")
    import xarray

    if not is_file(path):
        raise StanDataError(f"{path}: there is no such file")
    try:
        with xarray.open_datatree(readable(path), engine=_ENGINE) as tree:
            groups = {n: _restored(g.to_dataset().load()) for n, g in tree.children.items()}
        described = json.loads(groups["posterior"].attrs["stanimport_fit"])
        program = program_of(described["program"])
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise StanDataError(f"{path}: holds no fit that stanimport saved: {e}") from None
    made = Result(
        program, described["method"], _arrays(groups, *_OF_DRAWS, "stanimport_variables"),
        _arrays(groups, "stanimport_stats"), data_of(program, _arrays(groups, "stanimport_data")),
        described["settings"],
        described["info"] | _arrays(groups, "stanimport_info") | _params(groups) | _restarts(described),
        warmup=_warmup(groups),
    )  # fmt: skip
    made.dims = {n: tuple(v) for n, v in described["dims"].items()}
    made.coords = described["coords"]
    made._groups = _computed(made, groups, described)
    return made


_OF_DRAWS = ("posterior", "posterior_predictive", "log_likelihood")  # where a fit's variables may be


def _params(groups: Mapping[str, object]) -> dict[str, object]:
    found = _arrays(groups, "stanimport_params")
    return {"params": found} if found else {}


def _restarts(described: Mapping[str, Any]) -> dict[str, object]:
    from ..samplers.stranding import Restart

    return {"restarts": tuple(Restart(**r) for r in described["restarts"])} if described["restarts"] else {}


def _warmup(groups: Mapping[str, object]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]] | None:
    """Variables and stats of the warm-up, if they were saved."""
    if "stanimport_warmup_stats" not in groups:
        return None
    variables = _arrays(groups, "warmup_posterior", "stanimport_warmup")
    return variables, _arrays(groups, "stanimport_warmup_stats")


def _computed(fit: Result, groups: Mapping[str, object], described: Mapping[str, Any]) -> dict[str, Any]:
    """What the model was asked for when the fit was saved: so it need not be translated again."""
    found: dict[str, Any] = {n: _arrays(groups, n) for n in described["computed"]}
    own = set(fit.variables)
    found = {g: {n: v for n, v in arrays.items() if n not in own} for g, arrays in found.items()}
    if "log_likelihood" in found:
        entries = {n: tuple(map(np.asarray, axes)) for n, axes in described.get("entries", {}).items()}
        found["log_likelihood"] = LogDensities(found["log_likelihood"], entries)
    return found | {"observed_names": tuple(_arrays(groups, "observed_data"))}


def _restored(group: Any) -> Any:
    for name, value in group.data_vars.items():
        if value.attrs.get("stanimport_complex"):
            part = f"{name}_part"
            re, im = (value.isel({part: i}, drop=True) for i in (0, 1))
            group = group.assign({name: re.copy(data=xp.complex(re.values, im.values))})
    return group


def _arrays(groups: Mapping[str, Any], *names: str) -> dict[str, np.ndarray]:
    return {str(v): groups[n][v].values for n in names if n in groups for v in groups[n].data_vars}


def data_of(program: Program, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    from ..tuples import leaves, pack

    known = [v for v in (*program.data, *program.transformed_data) if set(leaves(v)) <= set(arrays)]
    return {v.name: _scalar(pack(v, arrays)) for v in known}


def _scalar(value: Any) -> object:
    """Single numbers as transformed_data returns them: Python's integers and NumPy's floats."""
    if isinstance(value, tuple):
        return tuple(map(_scalar, value))
    if value.ndim:
        return value
    return int(value) if value.dtype.kind in "iu" else value[()]


def program_of(described: Mapping[str, object]) -> Program:
    """The program from its fields as JSON keeps them: tuples as lists, variables as dicts.

    A file does not say which Python runs: where its functions without a body are is told by who loads it, by settings.
    """
    values: dict[str, Any] = {k: tuple(map(_item, v)) if isinstance(v, list) else v for k, v in described.items()}
    values.pop("functions", None)
    return Program(**{f.name: values[f.name] for f in fields(Program) if f.name in values})


def _item(value: object) -> object:
    if isinstance(value, list):  # a name with its text
        return tuple(value)
    return _variable(value) if isinstance(value, dict) and "declaration" in value else value


def _variable(described: Mapping[str, Any]) -> Variable:
    items = tuple(_variable(i) for i in described["items"])
    return Variable(**{**described, "shape": tuple(described["shape"]), "items": items})

"""What the hooks of build systems share: the options that a package has, and what is written into its wheel."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

LISTS = {  # options that are lists of words, with what they are for
    "backends": "numpyro, pyro or both",
    "schemes": "comprehensive, mixed, generative or several",
    "include_paths": "folders in which #include looks, relative to the project",
}
STUBS, FOR_STUBS = "stubs", "write .pyi files too"  # the one that is true or false


def write_all(
    folder: Path, chosen: Mapping[str, Sequence[str]], stubs: bool, root: Path = Path()
) -> list[Path]:  # fmt: skip
    """Write translations of the programs below a folder, and stubs where they are asked for; the files of both.

    Args:
        folder: what the wheel is made of.
        chosen: the words of each of LISTS.
        stubs: whether stubs are asked for.
        root: the project's folder.

    Raises:
        FileNotFoundError: if there is no program.
        StanError: for the first program that is wrong.
    """
    from .compile import compile_package, find_programs  # not for every project that setuptools builds
    from .stubs import write_stubs

    try:
        find_programs(folder)
    except FileNotFoundError as e:
        raise FileNotFoundError("no Stan program is among the files of the wheel: declare them as package data") from e
    include_paths = [root / p for p in chosen["include_paths"]]
    made = compile_package(
        folder, backends=chosen["backends"], schemes=chosen["schemes"], include_paths=include_paths
    )  # fmt: skip
    return made + write_stubs(folder, include_paths=include_paths) if stubs else made

"""The hook for setuptools: a package's programs are translated while its wheel is built.

A project asks for it in its setup.cfg, and names stanimport in the `requires` of its build system:

    [compile_stan]
    backends = numpyro, pyro
    stubs = true

With the section, the command `compile_stan` runs as a part of `build`, over the folder that the wheel is made of;
without it nothing changes. The `.stan` files themselves are ordinary package data.
"""
from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution
from setuptools.command.build import build

from .wheels import FOR_STUBS, LISTS, STUBS, write_all

COMMAND = "compile_stan"


class CompileStan(Command):
    """Translate the `.stan` files of the packages that are being built."""

    description = "translate Stan programs ahead of time"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = [
        *((f"{name.replace('_', '-')}=", None, what) for name, what in LISTS.items()), (STUBS, None, FOR_STUBS),
    ]  # fmt: skip
    boolean_options: ClassVar[list[str]] = [STUBS]

    def initialize_options(self) -> None:
        self.build_lib: str | None = None
        self.editable_mode = False
        self.stubs = False
        for option in LISTS:
            setattr(self, option, [])

    def finalize_options(self) -> None:
        self.set_undefined_options("build_py", ("build_lib", "build_lib"))
        for option in LISTS:
            self.ensure_string_list(option)

    def run(self) -> None:
        """Translate; an editable install reads its sources, which are translated when they are imported."""
        if self.editable_mode:
            return
        written = write_all(Path(self.build_lib or "."), {name: getattr(self, name) for name in LISTS}, self.stubs)
        self.announce(f"translated {sum(p.suffix == '.stanc' for p in written)} Stan programs", 2)

    def get_source_files(self) -> list[str]:
        """Nothing beyond what the project lists as its package data."""
        return []

    def get_outputs(self) -> list[str]:
        folder = Path(self.build_lib or ".")
        patterns = ["*.stanc", "*.pyi"] if self.stubs else ["*.stanc"]
        return [str(p) for pattern in patterns for p in sorted(folder.rglob(pattern))]

    def get_output_mapping(self) -> dict[str, str]:
        return {}


def finalize(distribution: Distribution) -> None:
    """Called by setuptools for every project: make the command a part of `build`.

    The project's setup.cfg has not been read at that time, so whether it asks for the command is seen later.
    """
    if not any(name == COMMAND for name, _ in build.sub_commands):
        build.sub_commands.append((COMMAND, is_wanted))


def is_wanted(command: Command) -> bool:
    """Whether the project has a section for the command in its setup.cfg (or pyproject.toml)."""
    return COMMAND in command.distribution.command_options

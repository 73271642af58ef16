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
from typing import Any, ClassVar

from setuptools import Command, Distribution
from setuptools.command.build import build

COMMAND = "compile_stan"


class CompileStan(Command):
    """Translate the `.stan` files of the packages that are being built."""

    description = "translate Stan programs ahead of time"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = [
        ("backends=", None, "numpyro, pyro or both"),
        ("schemes=", None, "comprehensive, mixed, generative or several"),
        ("include-paths=", None, "folders in which #include looks, relative to the project"),
        ("stubs", None, "write .pyi files too"),
    ]  # fmt: skip
    boolean_options: ClassVar[list[str]] = ["stubs"]

    def initialize_options(self) -> None:
        self.build_lib: str | None = None
        self.editable_mode = False
        self.backends: Any = []
        self.schemes: Any = []
        self.include_paths: Any = []
        self.stubs = False

    def finalize_options(self) -> None:
        self.set_undefined_options("build_py", ("build_lib", "build_lib"))
        for option in ("backends", "schemes", "include_paths"):
            self.ensure_string_list(option)

    def run(self) -> None:
        """Translate; an editable install reads its sources, which are translated when they are imported."""
        if self.editable_mode:
            return
        from .compile import compile_package

        written = compile_package(
            Path(self.build_lib or "."), backends=self.backends, schemes=self.schemes,
            include_paths=[Path(p) for p in self.include_paths],
        )  # fmt: skip
        self.announce(f"translated {len(written)} Stan programs", 2)
        if self.stubs:
            from .stubs import write_stubs

            write_stubs(Path(self.build_lib or "."), include_paths=[Path(p) for p in self.include_paths])

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

"""The hook for hatchling: a package's programs are translated while its wheel is built.

A project asks for it in its pyproject.toml, and names stanimport in the `requires` of its build system:

    [tool.hatch.build.targets.wheel.hooks.stanimport]
    backends = ["numpyro", "pyro"]
    stubs = true

The translations of the programs that the wheel holds go into the wheel alone: none is left in the project's folders.
"""
from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from .wheels import LISTS, STUBS, write_all

_OF_HATCH = {"dependencies", "require-runtime-dependencies", "require-runtime-features", "enable-by-default"}


class StanBuildHook(BuildHookInterface[Any]):
    """Translates the `.stan` files of a wheel."""

    PLUGIN_NAME = "stanimport"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Translate copies of the programs, and have hatchling put what was made beside the programs.

        An editable wheel reads its sources, which are translated when they are imported.

        Raises:
            ValueError: for options that there aren't, or that are not what they should be.
            FileNotFoundError: if the wheel holds no program.
            StanError: for the first program that is wrong.
        """
        if self.target_name != "wheel" or version == "editable":
            return
        chosen = self._chosen()
        self._folder = tempfile.TemporaryDirectory(prefix="stanimport-")
        folder = Path(self._folder.name)
        for file in self.build_config.builder.recurse_included_files():
            if Path(file.path).suffix.startswith(".stan"):  # programs, and what they include
                copy = folder / file.distribution_path
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.path, copy)
        for path in write_all(folder, chosen, bool(self.config.get(STUBS)), Path(self.root)):
            build_data["force_include"][str(path)] = path.relative_to(folder).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()

    def _chosen(self) -> dict[str, list[str]]:
        """The options that are lists of words."""
        if unknown := self.config.keys() - LISTS.keys() - _OF_HATCH - {STUBS}:
            raise ValueError(f"the hook stanimport has no option {', '.join(sorted(unknown))}: it has "
                             f"{', '.join(sorted({*LISTS, STUBS}))}")  # fmt: skip
        chosen = {name: self.config.get(name, []) for name in LISTS}
        for name, words in chosen.items():
            if not isinstance(words, list) or not all(isinstance(w, str) for w in words):
                raise ValueError(f"the hook stanimport: {name} is a list of strings, not {words!r}")
        if not isinstance(self.config.get(STUBS, False), bool):
            raise ValueError(f"the hook stanimport: {STUBS} is true or false, not {self.config[STUBS]!r}")
        return chosen


@hookimpl
def hatch_register_build_hook() -> type[StanBuildHook]:
    """Called by hatchling, through the entry point."""
    return StanBuildHook

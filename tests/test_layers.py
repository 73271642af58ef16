"""The direction of imports: stanimport on stanlib, never back; frontend and emission meet only in ir."""
from __future__ import annotations

import ast
import functools
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parent.parent

# What each layer may import of the project, besides itself. A layer is a package, or a module of the top level.
ALLOWED = {
    "stanlib": set(),
    "stanimport.source": set(),
    "stanimport.errors": {"stanlib", "stanimport.source"},
    "stanimport.settings": {"stanimport.errors", "stanimport.ir"},
    "stanimport.files": set(),
    "stanimport.room": set(),
    "stanimport.trees": set(),
    "stanimport.versions": set(),
    "stanimport.includes": {"stanimport.errors", "stanimport.source", "stanimport.files"},
    "stanimport.ir": {"stanlib", "stanimport.source", "stanimport.errors"},
    "stanimport.schemes": {"stanlib", "stanimport.source", "stanimport.errors", "stanimport.ir"},
    "stanimport.rows": {"stanlib", "stanimport.source", "stanimport.errors", "stanimport.ir"},
    "stanimport.discrete": {"stanlib", "stanimport.source", "stanimport.errors", "stanimport.ir"},
    "stanimport.frontend": {"stanlib", "stanimport.source", "stanimport.errors", "stanimport.ir"},
    "stanimport.passes": {"stanlib", "stanimport.source", "stanimport.errors", "stanimport.ir"},
    "stanimport.emit": {"stanlib", "stanimport.source", "stanimport.errors", "stanimport.ir"},
    "stanimport.pipeline": {
        "stanlib", "stanimport.files", "stanimport.source", "stanimport.errors", "stanimport.includes", "stanimport.ir",
        "stanimport.frontend", "stanimport.discrete", "stanimport.schemes", "stanimport.passes", "stanimport.emit",
        "stanimport.room",
    },
    "stanimport.questions": {
        "stanlib", "stanimport.pipeline", "stanimport.source", "stanimport.discrete", "stanimport.ir",
        "stanimport.room", "stanimport.rows", "stanimport.schemes", "stanimport.errors", "stanimport.includes",
        "stanimport.frontend",
    },
    "stanimport.ownership": set(),
    "stanimport.permissions": {"stanlib"},
    "stanimport.cache": {"stanimport.settings", "stanimport.files", "stanimport.errors", "stanimport.ownership"},
    "stanimport.shipped": {
        "stanlib", "stanimport.settings", "stanimport.files", "stanimport.cache", "stanimport.trees",
    },
    "stanimport.loading": {
        "stanlib", "stanimport.cache", "stanimport.errors", "stanimport.pipeline", "stanimport.questions",
        "stanimport.settings", "stanimport.source", "stanimport.files", "stanimport.shipped",
    },
    "stanimport.importer": {
        "stanlib", "stanimport.loading", "stanimport.settings", "stanimport.errors", "stanimport.cache",
        "stanimport.files", "stanimport.permissions",
    },
    "stanimport._pyinstaller": set(),
    "stanimport.notebook": {
        "stanimport.api", "stanimport.errors", "stanimport.importer", "stanimport.loading", "stanimport.settings",
    },
    "stanimport.wheels": {"stanimport.compile", "stanimport.stubs"},
    "stanimport.build": {"stanimport.wheels"},
    "stanimport.hatch_hook": {"stanimport.wheels"},
    "stanimport.stubs": {"stanlib", "stanimport.api", "stanimport.compile", "stanimport.files"},
    "stanimport.compile": {
        "stanimport.loading", "stanimport.settings", "stanimport.errors", "stanimport.cache", "stanimport.files",
        "stanimport.shipped", "stanimport.trees",
    },
    "stanimport.api": {
        "stanimport.loading", "stanimport.settings", "stanimport.errors", "stanimport.frontend", "stanimport.importer",
        "stanimport.pipeline", "stanimport.source", "stanimport.cache", "stanimport.permissions", "stanimport.files",
        "stanimport.questions",
    },
    "stanimport.inference": {
        "stanlib", "stanimport.api", "stanimport.cache", "stanimport.errors", "stanimport.files",
        "stanimport.ownership", "stanimport.settings", "stanimport.versions",
    },
    "stanimport.editor": {
        "stanlib", "stanimport.errors", "stanimport.files", "stanimport.frontend", "stanimport.includes",
        "stanimport.pipeline", "stanimport.source",
    },
    "stanimport.commands": {
        "stanlib", "stanimport.api", "stanimport.cache", "stanimport.compile", "stanimport.editor", "stanimport.errors",
        "stanimport.files", "stanimport.inference", "stanimport.ownership", "stanimport.settings", "stanimport.stubs",
    },
    "stanimport.cmdstanpy": {
        "stanlib", "stanimport.api", "stanimport.errors", "stanimport.files", "stanimport.inference",
    },
    "stanimport.deferred": set(),
    "stanimport.__main__": {"stanimport.commands", "stanimport.deferred", "stanimport.errors"},
}
# Array libraries belong to the modules that are named after them or hold one of them; the compiler uses none.
LIBRARIES = {"jax", "numpyro", "torch", "pyro"}


def modules() -> list[pathlib.Path]:
    found = [p for package in ("stanimport", "stanlib") for p in (ROOT / package).rglob("*.py")]
    return [p for p in found if p.name != "parsetab.py"]


def dotted(path: pathlib.Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: pathlib.Path) -> set[str]:
    """Every module that a file imports, relative imports resolved."""
    name = dotted(path)
    return named_in(name if path.name == "__init__.py" else name.rpartition(".")[0], path.read_text())


@functools.cache
def named_in(package: str, text: str) -> set[str]:
    """Every module that a text in a package imports."""
    out = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            out |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*up, *([base] if base else [])])
            out |= {f"{base}.{a.name}" for a in node.names}
    return out


def layer(module: str) -> str | None:
    return next((k for k in sorted(ALLOWED, key=len, reverse=True) if module == k or module.startswith(k + ".")), None)


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_follow_the_direction(path):
    own = layer(dotted(path))
    if own is None:
        assert dotted(path) == "stanimport", f"{dotted(path)} belongs to no layer"
        return
    for imported in imports(path):
        other = layer(imported)
        if other is not None and other != own:
            assert other in ALLOWED[own], f"{dotted(path)} imports {imported}"


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_the_compiler_and_the_functions_use_no_array_library(path):
    name = dotted(path)
    if not name.startswith(("stanimport.", "stanlib.functions", "stanlib.distributions", "stanlib.registry")):
        return
    if name.startswith(("stanimport.inference", "stanimport.commands", "stanimport.cmdstanpy")):
        return  # it runs samplers
    roots = {i.partition(".")[0] for i in imports(path)}
    assert not roots & (LIBRARIES | {"numpy", "scipy"}), f"{name} imports {roots & (LIBRARIES | {'numpy', 'scipy'})}"


def test_a_wrong_arrow_is_noticed(tmp_path, monkeypatch):
    """The check itself fails on an import that runs up."""
    bad = ROOT / "stanlib" / "types.py"
    monkeypatch.setattr(pathlib.Path, "read_text", lambda self, *a: "from stanimport.source import Span\n")
    with pytest.raises(AssertionError):
        test_imports_follow_the_direction(bad)


def arrows() -> dict[str, set[str]]:
    """What every module imports of the project: lazy imports, and those for types alone, too."""
    names = {dotted(p): p for p in modules()}

    def nearest(imported: str) -> str:
        return imported if imported in names else imported.rpartition(".")[0]

    return {n: {nearest(i) for i in imports(p)} & names.keys() - {n} for n, p in names.items()}


def in_circles(graph: dict[str, set[str]]) -> set[str]:
    """The modules that import themselves by way of others, and those between such ones."""
    left = {n: set(edges) for n, edges in graph.items()}
    while True:
        ends = {n for n, edges in left.items() if not edges & left.keys()}
        ends |= {n for n in left if not any(n in edges for m, edges in left.items())}
        if not ends:
            return set(left)
        left = {n: edges - ends for n, edges in left.items() if n not in ends}


def test_no_module_imports_itself_by_way_of_others():
    assert in_circles(arrows()) == set()


def test_circles_are_noticed():
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}


# The folders of inference from the bottom up: each may import itself, those before it, and the modules that all share.
FOLDERS = ("running", "io", "blocks", "density", "samplers", "fits", "methods", "studies")
# What runs up all the same, always inside of a function.
UPWARD = {
    ("density.initial", "fits.stan_csv"), ("density.initial", "fits.storage"),  # a fit may be where chains start
    ("fits.fit", "methods.drawing"),  # the journal of a run may be read as a fit
    ("options", "running.interrupts"), ("programs", "running.interrupts"), ("programs", "running.compilers"),
    ("traced", "running.interrupts"),
    ("programs", "density.kernels"), ("traced", "density.kernels"),  # which is about how XLA compiles
}


def of_inference(name: str) -> str | None:
    return name.removeprefix("stanimport.inference.") if name.startswith("stanimport.inference.") else None


def test_the_folders_of_inference_are_layers():
    up = set()
    for importing, edges in arrows().items():
        for imported in edges:
            names = of_inference(importing), of_inference(imported)
            heights = [FOLDERS.index(f) if n and (f := n.split(".")[0]) in FOLDERS else -1 for n in names]
            if None not in names and heights[1] > heights[0]:
                up.add(names)
    assert up == UPWARD

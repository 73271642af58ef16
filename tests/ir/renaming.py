"""Programs with every identifier under another name: what they become is the same but for the names.

`python tests/ir/renaming.py FOLDER ...` tries all programs in folders, three renamings each, and prints what differs.
"""
from __future__ import annotations

import ast
import pathlib
import random
import re
import sys

from stanimport import pipeline
from stanimport.errors import Diagnostics, StanError
from stanimport.frontend import ast as stan
from stanimport.frontend.parser import parse
from stanimport.includes import Includes
from stanimport.source import Source
from stanlib import registry

# Words of Python, names that generated code has, names of helpers, and names that differ from others by an ending.
STEMS = (
    "lambda", "class", "def", "is", "not", "None", "True", "global", "nonlocal", "yield", "with", "pass", "async",
    "print_", "bool", "float", "len", "range", "dict", "list", "tuple_", "type", "id", "sum_", "min_", "super",
    "self", "args", "kwargs", "cls", "inputs", "name", "values", "key", "seed", "obs", "ppl", "dist", "fn", "stan",
    "random", "backend", "lp", "guide", "site", "step", "each", "loop", "terms", "term", "total", "branch",
    "otherwise", "chosen", "most", "count", "condition", "body", "block", "returned", "result", "broken", "continued",
    "container", "value", "added", "observation", "operand", "target_", "target_before", "old", "i", "sum__2", "unused",
    "mu", "mu_", "mu__2", "mu_now", "mu_before", "mu_2_before", "mu_3", "each_3", "x", "x_", "x__2", "x__prior",
    "y", "y_", "y__2", "y_3", "y_then", "y_before", "model_", "data_", "transformed_data", "generated_quantities",
    "numpy", "jax", "torch", "T_", "E", "e", "O0", "l1",
)  # fmt: skip
SUFFIXES = ("lpdf", "lpmf", "lupdf", "lupmf", "lcdf", "lccdf", "cdf", "ccdf", "log", "lp", "rng", "jacobian")
LAWS = ("lpdf", "lpmf", "lcdf", "lccdf", "cdf", "ccdf", "log", "lupdf", "lupmf")


def parsed(text: str) -> stan.Program:
    source = Source("p.stan", text)
    return parse(source, Includes(source).resolve, Diagnostics())


def walk(node: stan.Node):
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(stan.children(top))


def split(name: str) -> tuple[str, str]:
    """The part of a function's name that may change, and what its ending says."""
    head, _, end = name.rpartition("_")
    return (head, f"_{end}") if end in SUFFIXES and head else (name, "")


def renaming(program: stan.Program, seed: int) -> dict[str, str]:
    """Another name for every identifier that a program declares; functions and laws by their stems."""
    variables, functions = {}, {}
    for node in walk(program):
        if isinstance(node, (stan.Declarator, stan.Argument)) and isinstance(node.name, stan.Name):
            variables[node.name.text] = None
        elif isinstance(node, (stan.For, stan.ForEach)):
            variables[node.variable.text] = None
        elif isinstance(node, stan.FunctionDefinition):
            functions[split(node.name.text)[0]] = None
    for stem in [s for s in functions if any(registry.is_known(f"{s}{e}") for e in ("", *(f"_{x}" for x in SUFFIXES)))]:
        del functions[stem]  # an overload of the library's
    rng, wanted = random.Random(seed), list(dict.fromkeys([*variables, *functions]))
    pool = list(STEMS)
    rng.shuffle(pool)
    endings = ("_", "_3", "_now", "__2", "_before", "_old", "_then")
    waiting = [*pool, *(f"{s}{e}" for e in endings for s in STEMS)]
    out: dict[str, str] = {}
    for old in wanted:
        free = (n for n in waiting if not _is_taken(n, set(out.values())))
        made = next(n for n in free if old not in functions or not registry.is_known(n))  # else it is an overload
        out[old] = made
        waiting.remove(made)
    return out


def _is_taken(name: str, others: set[str]) -> bool:
    """Whether a name can't be one, or is what a second site of another variable is called."""
    if name in others or name.endswith("__"):
        return True
    base = re.sub(r"__(\d+|prior)$", "", name)
    return base != name and base in others or any(re.sub(r"__(\d+|prior)$", "", o) == name for o in others)


def renamed(text: str, program: stan.Program, names: dict[str, str]) -> str:
    """The text with those names in place of its own."""
    functions = {split(n.name.text)[0] for n in walk(program) if isinstance(n, stan.FunctionDefinition)} & names.keys()
    changes: dict[int, tuple[int, str]] = {}

    def put(name: stan.Name, stem: str, rest: str = "") -> None:
        if stem in names:
            changes[name.span.start] = (name.span.end, names[stem] + rest)

    for node in walk(program):
        if isinstance(node, (stan.Call, stan.CallStatement)):
            stem, rest = split(node.function.text)
            if stem in functions:
                put(node.function, stem, rest)
        elif isinstance(node, stan.Tilde):
            if node.distribution.text in functions:
                put(node.distribution, node.distribution.text)
        elif isinstance(node, stan.FunctionDefinition):
            put(node.name, *split(node.name.text))
        elif isinstance(node, (stan.Declarator, stan.Argument, stan.Variable)) and isinstance(node.name, stan.Name):
            stem, rest = split(node.name.text)
            if isinstance(node, stan.Variable) and node.name.text not in names and stem in functions:
                put(node.name, stem, rest)  # a function as an argument
            else:
                put(node.name, node.name.text)
        elif isinstance(node, (stan.For, stan.ForEach)):
            put(node.variable, node.variable.text)
    out, at = [], 0
    for start, (end, new) in sorted(changes.items()):
        out += [text[at:start], new]
        at = end
    return "".join([*out, text[at:]])


# --- generated code without the choice of names -----------------------------------------------------------------------


def skeleton(tree: ast.Module, back: dict[str, str]) -> str:
    """A module's code with identifiers by the order in which they come, and Stan's names as they were."""
    functions = {s.name: f"f{i}" for i, s in enumerate(tree.body) if isinstance(s, ast.FunctionDef)}
    parts = []
    for s in tree.body[3:]:
        clean = _Clean(dict(functions), back)
        parts.append(ast.unparse(ast.fix_missing_locations(clean.visit(s))))
    return "\n".join(parts)


class _Clean(ast.NodeTransformer):
    def __init__(self, known: dict[str, str], back: dict[str, str]):
        self.known, self.back = known, back

    def _name(self, name: str) -> str:
        if name in ("ppl", "dist", "fn", "stan", "data", "range", "int", "bool", "__doc__", "random"):
            return name
        return self.known.setdefault(name, f"v{len(self.known)}")

    def visit_FunctionDef(self, node):
        stan_names = {}
        for d in node.decorator_list:
            stan_names |= {k.arg: k.value.value for k in d.keywords}
            d.keywords = []
        for a in node.args.kwonlyargs:
            node.body.insert(0, ast.Expr(ast.Constant(stan_names.get(a.arg, a.arg))))
        node.name = self._name(node.name)
        return self.generic_visit(node)

    def visit_arg(self, node):
        node.arg = self._name(node.arg)
        return node

    def visit_Name(self, node):
        node.id = self._name(node.id)
        return node

    def visit_Nonlocal(self, node):
        node.names = [self._name(n) for n in node.names]
        return node

    def visit_Call(self, node):
        """What quotes the text is left out."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("Variable", "Program"):
            quoted = ("declaration", "shape", "constraint", "line", "source")
            node.keywords = [k for k in node.keywords if k.arg not in quoted]
        # what the parameters of a network's module are called is no name of the program
        lifted = [k for k in node.keywords if k.arg == "lifted"]
        node.keywords = [k for k in node.keywords if k.arg != "lifted"]
        self.generic_visit(node)
        node.keywords += lifted
        return node

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            node.value = self._stan(node.value)
        return node

    def _stan(self, text: str) -> str:
        """A site or variable under the name that it had."""
        if text in self.back:
            return self.back[text]
        for rest in reversed(list(re.finditer(r"__(prior|density|constraint|\d+)|\.", text))):
            if text[: rest.start()] in self.back:
                return self.back[text[: rest.start()]] + text[rest.start() :]
        return text


def difference(text: str, seed: int, options: pipeline.Options) -> str:
    """How the translation of a program under other names differs; nothing where it does not."""
    program = parsed(text)
    names = renaming(program, seed)
    other = renamed(text, program, names)
    first, second = (pipeline.translate(Source("p.stan", t), "p", options).tree for t in (text, other))
    here, there = skeleton(first, {n: n for n in names}), skeleton(second, {new: n for n, new in names.items()})
    if here == there:
        return ""
    pairs = zip(here.splitlines(), there.splitlines())
    return "\n".join([str(names), *next(([a, b] for a, b in pairs if a != b), ["", "one is longer"])])


def main(folders: list[str]) -> int:
    tried = differ = 0
    for path in sorted(p for f in folders for p in pathlib.Path(f).rglob("*.stan")):
        text = path.read_text()
        for seed in range(3):
            for backend, scheme in (("numpyro", "mixed"), ("pyro", "comprehensive")):
                options = pipeline.Options(backend, scheme)
                try:
                    pipeline.translate(Source("p.stan", text), "p", options)
                except (StanError, NotImplementedError):
                    continue
                try:
                    found = difference(text, seed, options)
                except StanError as e:
                    found = f"{type(e).__name__}: {e}"
                tried += 1
                if found:
                    differ += 1
                    print(f"{path} ({backend}, {scheme}, {seed})\n{found}", flush=True)
    print(f"{tried} renamings, {differ} differ")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

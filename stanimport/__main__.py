"""The shell: `python -m stanimport check|translate|sample`."""
from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from . import api
from .errors import Diagnostic, StanError, render
from .settings import BACKENDS, SCHEMES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code: 0, or 1 for a program or data that are wrong."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except StanError as e:
        print(e if str(e) else repr(e), file=sys.stderr)
        return 1
    except OSError as e:
        print(f"{e.filename}: {e.strerror}" if e.filename else e, file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stanimport", description="Stan models as Python modules.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_check(commands)
    _add_translate(commands)
    _add_sample(commands)
    return parser


def _command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, example: str,
             run: object) -> argparse.ArgumentParser:  # fmt: skip
    parser = commands.add_parser(
        name, help=text, description=text, epilog=f"example: python -m stanimport {example}",
    )  # fmt: skip
    parser.set_defaults(run=run)
    parser.add_argument("--include-path", action="append", default=[], type=Path, metavar="DIR",
                        help="a folder in which #include looks")  # fmt: skip
    return parser


def _add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    p = _command(commands, "check", "check programs without translating them", "check models/*.stan", _check)
    p.add_argument("files", nargs="+", type=Path, metavar="FILE")
    p.add_argument("--strict", action="store_true", help="accept the language of Stan 2.39 and nothing else")


def _add_translate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    p = _command(commands, "translate", "print the Python that a program becomes", "translate coin.stan", _translate)
    p.add_argument("file", type=Path, metavar="FILE")
    p.add_argument("--backend", choices=BACKENDS)
    p.add_argument("--scheme", choices=SCHEMES)


def _add_sample(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    p = _command(commands, "sample", "draw from the posterior by NUTS, in double precision",
                 "sample models/coin.stan --data models/coin.json", _sample)  # fmt: skip
    p.add_argument("file", type=Path, metavar="FILE")
    p.add_argument("--data", type=Path, metavar="FILE.json", help="the program's data")
    p.add_argument("--chains", type=int, default=4)
    p.add_argument("--warmup", type=int, default=1000, help="iterations of warm-up in each chain")
    p.add_argument("--draws", type=int, default=1000, help="draws kept of each chain")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--scheme", choices=SCHEMES)
    p.add_argument("--no-progress", action="store_true", help="no progress bar")


def _check(options: argparse.Namespace) -> int:
    failed = False
    for file in options.files:
        try:
            _show(api.check(file, include_paths=options.include_path, strict=options.strict))
        except StanError as e:
            failed = True
            print(e)
        else:
            print(f"{file}: ok")
    return int(failed)


def _show(diagnostics: Sequence[Diagnostic]) -> None:
    for d in diagnostics:
        print(render(d))


def _translate(options: argparse.Namespace) -> int:
    text = api.translate(
        options.file, backend=options.backend, scheme=options.scheme, include_paths=options.include_path
    )
    print(text, end="")
    return 0


def _sample(options: argparse.Namespace) -> int:
    from . import inference

    module = api.load(options.file, backend="numpyro", scheme=options.scheme, include_paths=options.include_path)
    data = inference.read_data(options.data) if options.data is not None else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        draws = inference.sample(
            module, data, chains=options.chains, iter_warmup=options.warmup, iter_sampling=options.draws,
            seed=options.seed, show_progress=not options.no_progress,
        )  # fmt: skip
        print(inference.summary(draws))
        divergent = int(draws.sample_stats.diverging.sum())
    if divergent:
        print(f"{divergent} of {draws.sample_stats.diverging.size} transitions diverged")
    return 0


if __name__ == "__main__":
    sys.exit(main())

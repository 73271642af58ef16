"""The formatter: stanc's layout, the same program with the same comments, and a text that formats to itself."""
from __future__ import annotations

import importlib.util
import itertools
import os
import random
import subprocess
from pathlib import Path

import pytest
from test_printer import PROGRAMS, parse

import stanimport
from stanimport.__main__ import main
from stanimport.errors import Diagnostics
from stanimport.frontend.formatting.canonical import shape
from stanimport.frontend.lexer import TokenStream
from stanimport.source import Source

CONSTRUCTS = [p for p in PROGRAMS if p.parent.name == "programs"]

ROUGH = """\
/* what this is
 * for */
functions { real f(real x,array[,]int k /* sizes */){ return x^2 ; }   // below
  real much_longer_name_of_a_function(vector first_argument, array[] vector second_argument, matrix third);}


data{int<lower=0>N; // how many



  array[N] vector<lower=0,upper=1>[3]y,z; }
model { if(N>0)target+=f(1,{{1}}); // yes
  else if (N<-1) { print("few",N); } else;
  for(n in 1:N){y[n,1:]~normal(some_function_with_a_name_of_its_own(y[n], z[n]), another_function(z[n] + y[n]))T[0,];}
  // the end
}
"""
SMOOTH = """\
/* what this is
 * for */
functions {
  real f(real x, array[,] int k /* sizes */) {
    return x ^ 2;
  } // below
  real much_longer_name_of_a_function(
         vector first_argument,
         array[] vector second_argument,
         matrix third
       );
}
data {
  int<lower=0> N; // how many

  array[N] vector<lower=0, upper=1>[3] y, z;
}
model {
  if (N > 0)
    target += f(1, {{1}}); // yes
  else if (N < -1) {
    print("few", N);
  } else
    ;
  for (n in 1 : N) {
    y[n, 1 : ] ~ normal(some_function_with_a_name_of_its_own(y[n], z[n]),
                        another_function(z[n] + y[n])) T[0, ];
  }
  // the end
}
"""


def formatted(text, **options):
    return stanimport.format("p.stan", source=text, **options)


def test_the_layout():
    assert formatted(ROUGH) == SMOOTH
    assert formatted(SMOOTH) == SMOOTH


@pytest.mark.parametrize("path", CONSTRUCTS, ids=lambda p: p.stem)
def test_programs_look_as_stanc_prints_them(path):
    if importlib.util.find_spec("httpstan") is None:
        pytest.skip("httpstan, which has stanc, is not installed")
    stanc = Path(importlib.util.find_spec("httpstan").origin).with_name("stanc")
    printed = subprocess.run([stanc, "--auto-format", path], capture_output=True, text=True, check=True).stdout
    assert stanimport.format(path).splitlines() == [line.rstrip() for line in printed.rstrip().splitlines()]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_programs_stay_the_same(path):
    text = stanimport.format(path)
    assert shape(parse(text)) == shape(parse(path.read_text()))
    assert formatted(text) == text
    assert all(len(line) <= 79 or " " not in line.strip() or "//" in line for line in text.splitlines())


def tokens(text):
    stream = TokenStream(Source("p.stan", text), lambda *_: None, Diagnostics(), False)
    return [t.value.span for t in iter(stream.token, None)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(12))
def test_comments_at_any_place_stay(seed):
    """Comments of all kinds between any two tokens: all are there once, in a program that is the same."""
    choose = random.Random(seed)
    text = choose.choice(PROGRAMS).read_text()
    parts, last, said = [], 0, []
    for number, span in enumerate(tokens(text)):
        parts.append(text[last : span.start])
        if choose.random() < 0.2 and not text[last : span.start].endswith("/") and text[last - 1 : last] != "/":
            said.append(f"c{number}.")
            kinds = ("/*{}*/", "// {}\n", "/* {}\n    more */", "\n\n// {}\n")
            parts.append(choose.choice(kinds).format(said[-1]))
        parts.append(span.text)
        last = span.end
    noted = "".join(parts) + text[last:]
    made = formatted(noted)
    assert [made.count(c) for c in said] == [1] * len(said)
    assert shape(parse(made)) == shape(parse(text))
    assert formatted(made) == made


def test_the_old_syntax_becomes_todays():
    old = "functions { real[] f(int[,] x); } model { real a[2], b; # why\n a[1] <- 2; increment_log_prob(b); }"
    assert formatted(old) == (
        "functions {\n  array[] real f(array[,] int x);\n}\nmodel {\n  array[2] real a;\n  real b; // why\n"
        "  a[1] = 2;\n  target += b;\n}\n"
    )
    with pytest.raises(stanimport.StanSyntaxError, match="removed"):
        formatted(old, strict=True)


FEWER = {
    "parentheses": (
        "matrix[(2 + (1)), (1)] x; x ~ normal((f(((1 + 2)) * 3)[(1)]), -(((1))[2])); "
        "if (((1 < 2) == 3)) ; else if ((1)) {if ((2)) x = (x')[(1)];}",
        "matrix[2 + 1, 1] x; x ~ normal(f((1 + 2) * 3)[1], -1[2]); "
        "if ((1 < 2) == 3) ; else if (1) {if (2) x = (x')[1];}",
    ),
    "braces": ("for (i in 1 : 2) while (1) x = ((1));", "for (i in 1 : 2) {while (1) {x = ((1));}}"),
    "deprecations": ("real f(real x); real g(real x); real f(real x) {return x;}",
                     "real g(real x); real f(real x) {return x;}"),
    "strip-comments": ("/* a */ x = 1; // b\n", "x = 1;"),
}  # fmt: skip


@pytest.mark.parametrize("canonicalize", FEWER)
def test_fewer_forms(canonicalize):
    """Each rewrites what it is for, and nothing else."""
    given, expected = FEWER[canonicalize]
    block = "functions" if canonicalize == "deprecations" else "model"
    made = formatted(f"{block} {{ {given} }}", canonicalize=canonicalize)
    assert made == formatted(f"{block} {{ {expected} }}") and "/*" not in made


@pytest.mark.parametrize("canonicalize", [[], *([name] for name in stanimport.api.CANONICALIZATIONS), True])
def test_variables_of_one_declaration_stay_together(canonicalize):
    """As bodies of loops and branches too, which two declarations would leave; those of old in types of their own
    get a block there."""
    text = "model {\n  array[2 + 1] real a, b = {1, 2, 3};\n  while (1) {\n    real q, r;\n  }\n}\n"
    assert formatted(text, canonicalize=canonicalize) == text
    body = "while (1) real q, r; if (1) vector[2] x, y; else for (i in 1 : 2) matrix[1, 1] z, u;"
    made = formatted(f"model {{ {body} }}", canonicalize=canonicalize)
    assert [made.count(pair) for pair in ("q, r;", "x, y;", "z, u;")] == [1, 1, 1]
    old = "model { while (1) real a[2], b; if (1) int c, d[3]; else real e[1], f; }"
    assert formatted(old, canonicalize=canonicalize) == (
        "model {\n  while (1) {\n    array[2] real a;\n    real b;\n  }\n  if (1) {\n    int c;\n    array[3] int d;\n"
        "  } else {\n    array[1] real e;\n    real f;\n  }\n}\n"
    )


def test_sizes_of_square_matrices_are_written_once():
    text = "parameters {\n  cov_matrix[2 + 1] x;\n  cholesky_factor_cov[3, 2] y;\n}\n"
    assert formatted(text) == formatted(text, canonicalize=True) == text


def test_an_unknown_canonicalization_is_told():
    with pytest.raises(ValueError, match="no canonicalization 'brace'; did you mean 'braces'?"):
        formatted("model { }", canonicalize=["brace"])


def test_includes_stay_or_are_put_in_place(tmp_path):
    (tmp_path / "sizes.stan").write_text("int N; // of the file\n")
    (tmp_path / "part.stan").write_text(" = 3;")
    program = tmp_path / "p.stan"
    program.write_text("data{ // first\n#include sizes.stan\n  real y ;}\nmodel{}")
    assert stanimport.format(program) == (
        "data {\n  // first\n  #include sizes.stan\n  real y;\n}\nmodel {\n\n}\n"
    )
    assert stanimport.format(program, canonicalize=["includes"]) == (
        "data {\n  // first\n\n  int N; // of the file\n\n  real y;\n}\nmodel {\n\n}\n"
    )
    program.write_text("model { int k\n#include part.stan\n}")
    with pytest.raises(stanimport.StanSyntaxError, match="part of a statement"):
        stanimport.format(program)
    assert stanimport.format(program, canonicalize=["includes"]) == "model {\n  int k = 3;\n}\n"


def test_long_lines_break_at_the_length_asked_for():
    text = "model { x = " + " + ".join(f"term_{i}" for i in range(30)) + "; }"
    for length in (30, 60, 120):
        lines = formatted(text, max_line_length=length).splitlines()
        assert all(len(line) <= length for line in lines)
        first = lines[1]
        assert len(first) > length - len(" + term_10")


def test_deep_and_long_programs():
    chain = "model { x = " + " + ".join("1" for _ in range(900)) + "; }"
    nested = "model { x = " + "(" * 120 + "1" + ")" * 120 + "; }"
    ladder = "model { " + " else ".join(f"if (x == {i}) y = {i};" for i in range(300)) + " }"
    for text in (chain, nested, ladder):
        assert [t.text for t in tokens(formatted(text))] == [t.text for t in tokens(text)]


def test_the_command(tmp_path, monkeypatch, capsys):
    """Prints, tells what would change with exit code 1, or writes, keeping the file's permissions."""
    monkeypatch.chdir(tmp_path)
    Path("a.stan").write_text("model{}")
    Path("b.stan").write_text("model {\n\n}\n")
    os.chmod("a.stan", 0o640)
    assert main(["format", "a.stan"]) == 0 and capsys.readouterr().out == "model {\n\n}\n"
    assert main(["format", "--check", "a.stan", "b.stan"]) == 1
    assert "-model{}" in capsys.readouterr().out and Path("a.stan").read_text() == "model{}"
    assert main(["format", "--overwrite", "a.stan", "b.stan"]) == 0 and capsys.readouterr().out == "a.stan\n"
    assert Path("a.stan").read_text() == "model {\n\n}\n" and os.stat("a.stan").st_mode & 0o777 == 0o640
    assert main(["format", "--check", "a.stan", "b.stan"]) == 0
    Path("c.stan").write_text("model { x = ; }")
    assert main(["format", "--overwrite", "c.stan"]) == 1
    assert "c.stan:1:13: error" in capsys.readouterr().err and Path("c.stan").read_text() == "model { x = ; }"
    with pytest.raises(SystemExit) as caught:
        main(["format", "--canonicalize", "brace", "a.stan"])
    assert caught.value.code == 2 and "did you mean 'braces'?" in capsys.readouterr().err


def suite():
    """The folder of programs that are right in stanc3's own tests, if $STANC3 names a checkout."""
    root = os.environ.get("STANC3")
    return Path(root, "test/integration/good") if root else None


def test_stancs_own_programs():
    """Every one formats, to itself, as the same program; nearly all as the newest stanc prints them."""
    if suite() is None or not suite().is_dir():
        pytest.skip("$STANC3 names no checkout of stanc3")
    for path in sorted(suite().rglob("*.stan")):
        text = stanimport.format(path)
        assert stanimport.format(path, source=text) == text, path
        assert shape(parse(text)) == shape(parse(path.read_text(errors="replace"))), path
    found = list(itertools.chain.from_iterable(map(printed, sorted(suite().rglob("pretty.expected")))))
    equal = sum(stanimport.format(path).split("\n") == lines for path, lines in found)
    assert len(found) > 300 and equal >= 0.99 * len(found)


def printed(record: Path):
    """The programs of a record of stanc's, and the lines that it printed for them."""
    for part in record.read_text().split("\n  $ "):
        command, _, output = part.removeprefix("  $ ").partition("\n")
        path = record.parent / command.split()[-1]
        text = output.partition("\nWarning")[0].replace("[exit 0]", "").strip()
        if path.is_file():
            yield path, [line.rstrip() for line in f"{text}\n".split("\n")]

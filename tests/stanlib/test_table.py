"""The documentation's table of functions is that of the registry."""
import pathlib

import pytest
import stanc_signatures

from stanlib import registry, table

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "functions.md"


def test_the_page_is_up_to_date():
    text = PAGE.read_text(encoding="utf-8")
    assert table.updated(text) == text, "run `python -m stanlib.table docs/functions.md`"


def test_every_function_of_stanc_that_has_a_record_stands_in_it():
    text = table.tables()
    laws = {f.name for f in registry.SYMBOLS.values() if f.distribution is not None and f.is_named}
    for name in set(stanc_signatures.read()) - laws:
        assert f"| `{name}` |" in text or not registry.is_known(name)
    for law in {n.rpartition("_")[0] for n in laws}:
        assert f"| `{law}` |" in text


def test_a_page_without_the_mark_is_refused():
    with pytest.raises(ValueError, match="no line"):
        table.updated("# Functions\n")

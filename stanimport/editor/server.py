"""The language server: the protocol's messages, by pygls. What is said in them is made in the other modules.

Source: Language Server Protocol 3.17.
"""
from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

from .. import pipeline
from ..errors import Diagnostic, StanSyntaxError
from ..frontend import ast
from ..source import Source, Span
from . import completion, library, names
from .documents import Documents, Examined, place_in
from .examination import Settings

DELAY = 0.1  # seconds without a change until a text is examined
_ITEM_KINDS = {
    completion.BLOCK: lsp.CompletionItemKind.Module, completion.KEYWORD: lsp.CompletionItemKind.Keyword,
    completion.TYPE: lsp.CompletionItemKind.Class, completion.CONSTRAINT: lsp.CompletionItemKind.Property,
    completion.LAW: lsp.CompletionItemKind.Function, completion.LIBRARY: lsp.CompletionItemKind.Function,
    names.FUNCTION: lsp.CompletionItemKind.Function, names.NETWORK: lsp.CompletionItemKind.Function,
}  # fmt: skip
_SYMBOL_KINDS = {names.FUNCTION: lsp.SymbolKind.Function, names.NETWORK: lsp.SymbolKind.Function}


class Server(LanguageServer):
    """A server with the documents of one editor."""

    def __init__(self, settings: Settings):
        from .. import __version__

        super().__init__("stanimport", __version__)
        self.documents = Documents(settings, self.texts)
        self.changes = 0
        self.published: dict[str, Examined] = {}

    def texts(self) -> dict[str, str]:
        """The texts that are open, by resolved path."""
        return {str(path_of(uri)): d.source for uri, d in self.workspace.text_documents.items()}

    def source(self, uri: str) -> Source:
        return Source(str(path_of(uri)), self.workspace.get_text_document(uri).source)

    def uri(self, file: str) -> str:
        """The address of a file, as the editor writes it if it is open there."""
        opened = (u for u in self.workspace.text_documents if str(path_of(u)) == file)
        return next(opened, None) or Path(file).as_uri()

    def offset(self, source: Source, at: lsp.Position) -> int:
        """The offset of a position, whose columns count the units that client and server agreed on."""
        offset, units = source.offset(at.line + 1), 0
        while units < at.character and offset < len(source.text) and source.text[offset] not in "\r\n":
            units += self.workspace.position_codec.client_num_units(source.text[offset])
            offset += 1
        return offset

    def range(self, span: Span) -> lsp.Range:
        return lsp.Range(self.position(span.source, span.start), self.position(span.source, span.end))

    def position(self, source: Source, offset: int) -> lsp.Position:
        line, column = source.position(offset)
        return lsp.Position(line - 1, self.workspace.position_codec.client_num_units(source.line(line)[: column - 1]))

    def location(self, span: Span) -> lsp.Location:
        return lsp.Location(self.uri(span.source.name), self.range(span))

    async def examine_later(self, uri: str) -> None:
        """Publish what is wrong once the text has not been changed for a moment."""
        self.documents.changed(path_of(uri))
        self.changes += 1
        mine = self.changes
        await asyncio.sleep(DELAY)
        if mine == self.changes:
            self.publish()

    def publish(self) -> None:
        """Tell the diagnostics of the open documents whose programs were examined anew."""
        for uri, document in self.workspace.text_documents.items():
            program = self.documents.program_of(path_of(uri))
            if self.published.get(uri) is not program:
                self.published[uri] = program
                found = list(self.diagnostics(program, str(path_of(uri))))
                self.text_document_publish_diagnostics(
                    lsp.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=document.version)
                )

    def diagnostics(self, program: Examined, file: str) -> Iterator[lsp.Diagnostic]:
        """What is wrong in one file of a program, or in what it includes."""
        for d in program.examination.diagnostics:
            place = place_in(d.span, file)
            if place is not None:
                source = lsp.DiagnosticRelatedInformation(self.location(d.span), d.message)
                yield lsp.Diagnostic(
                    self.range(place), f"{d.message}\n{d.hint}".rstrip(), _severity(d, program), d.code or None,
                    source="stanimport", related_information=None if place is d.span else [source],
                    tags=[lsp.DiagnosticTag.Deprecated] if d.severity == "deprecation" else None,
                )  # fmt: skip

    def place(self, given: Any) -> tuple[Examined, Source, int]:
        """The program, text and offset that a request is about."""
        source = self.source(given.text_document.uri)
        return self.documents.program_of(Path(source.name)), source, self.offset(source, given.position)


def path_of(uri: str) -> Path:
    return Path(uris.to_fs_path(uri) or uri).resolve()


def _severity(d: Diagnostic, program: Examined) -> lsp.DiagnosticSeverity:
    if d.severity == "error":
        return lsp.DiagnosticSeverity.Error
    if d.severity == "deprecation":
        return lsp.DiagnosticSeverity.Hint
    pedantic = d in program.examination.pedantic
    return lsp.DiagnosticSeverity.Information if pedantic else lsp.DiagnosticSeverity.Warning


def serve(settings: Settings) -> None:
    """Answer an editor over standard input and output until it ends the session."""
    new_server(settings).start_io()


def new_server(settings: Settings) -> Server:
    """A server with all that it answers."""
    server = Server(settings)
    for name, (answer, *options) in _ANSWERS.items():
        server.feature(name, *options)(answer)
    return server


async def _changed(server: Server, given: Any) -> None:
    await server.examine_later(given.text_document.uri)


async def _closed(server: Server, given: lsp.DidCloseTextDocumentParams) -> None:
    server.published.pop(given.text_document.uri, None)
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=given.text_document.uri, diagnostics=[]))
    await server.examine_later(given.text_document.uri)


def _files_changed(server: Server, given: object) -> None:
    """Files that are not open, which programs may include, differ."""
    server.documents.forget_all()
    server.publish()


def _hover(server: Server, given: lsp.HoverParams) -> lsp.Hover | None:
    """What is told of the word at a place: a declaration of the program, else the library's documentation."""
    program, source, offset = server.place(given)
    word = _word_at(source, offset)
    if word is None:
        return None
    use = program.names.at(source.name, offset)
    told = _of_library(word) if use is None else "\n\n".join(_of_own(d, program) for d in use.definitions)
    if not told:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, told), server.range(word))


def _of_library(word: Span) -> str:
    if word.source.text[: word.start].rstrip().endswith("~"):
        return library.law(word.text)
    return library.function(word.text) or library.constrained_type(word.text)


def _of_own(d: names.Definition, program: Examined) -> str:
    """What a hover tells of a name of the program: its declaration, where that stands, the comment on it."""
    where = _WHERE.get(d.kind, d.block)
    comment = names.comment_on(d, program.examination.trivia)
    return f"```stan\n{d.text}\n```\n\n*{where}*" + (f"\n\n{comment}" if comment else "")


_WHERE = {names.ARGUMENT: "argument", names.LOOP: "loop variable", names.LOCAL: "local variable"}


def _word_at(source: Source, offset: int) -> Span | None:
    text, start, end = source.text, offset, offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return Span(source, start, end) if start < end else None


def _completion(server: Server, given: lsp.CompletionParams) -> lsp.CompletionList:
    program, source, offset = server.place(given)
    own = source.name == str(program.path)
    found = completion.proposals(program.names, program.examination.program, source.text, offset, own)
    items = {p.text: _item(p) for p in reversed(list(found))}  # the program's own names hide the library's
    return lsp.CompletionList(is_incomplete=False, items=list(items.values()))


def _item(p: completion.Proposal) -> lsp.CompletionItem:
    kind = _ITEM_KINDS.get(p.kind, lsp.CompletionItemKind.Variable)
    from_library = p.kind in (completion.LAW, completion.LIBRARY, completion.TYPE)
    return lsp.CompletionItem(
        p.text, kind=kind, detail=p.detail or None, data={"kind": p.kind} if from_library else None,
        sort_text=f"{int(from_library or p.kind == completion.KEYWORD)}{p.text}",
    )  # fmt: skip


def _completion_resolve(server: Server, item: lsp.CompletionItem) -> lsp.CompletionItem:
    """The documentation of the one item that an editor shows."""
    kind = item.data["kind"] if isinstance(item.data, dict) else getattr(item.data, "kind", "")
    told = _TOLD[kind](item.label) if kind in _TOLD else ""
    if told:
        item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, told)
    return item


_TOLD = {
    completion.LAW: library.law, completion.LIBRARY: library.function, completion.TYPE: library.constrained_type,
}  # fmt: skip


def _definition(server: Server, given: lsp.DefinitionParams) -> list[lsp.Location] | None:
    program, source, offset = server.place(given)
    included = program.included_at(source.name, offset)
    if included is not None:
        start = lsp.Position(0, 0)
        return [lsp.Location(server.uri(str(included.resolve())), lsp.Range(start, start))]
    use = program.names.at(source.name, offset)
    return None if use is None else [server.location(d.span) for d in use.definitions]


def _references(server: Server, given: lsp.ReferenceParams) -> list[lsp.Location] | None:
    """Where the name at a place is used, declarations only if asked for; None if it is not the program's."""
    program, source, offset = server.place(given)
    use = program.names.at(source.name, offset)
    if use is None:
        return None
    found = [u.span for u in program.names.uses_of(use.definitions)]
    if not given.context.include_declaration:
        declared = {(d.span.source.name, d.span.start) for d in use.definitions}
        found = [s for s in found if (s.source.name, s.start) not in declared]
    return [server.location(s) for s in found]


def _symbols(server: Server, given: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    source = server.source(given.text_document.uri)
    program = server.documents.program_of(Path(source.name))
    tree = program.examination.program
    here = [d for d in program.names.definitions if d.span.source.name == source.name and d.kind in _SHOWN]
    blocks = [] if tree is None else [b for b in tree.blocks if b.span.source.name == source.name]
    out = [_block_symbol(server, b, here) for b in blocks]
    inside = {id(d) for b in blocks for d in here if _holds(b.span, d.span)}
    return [*out, *(_symbol(server, d) for d in here if id(d) not in inside)]


_SHOWN = (names.FUNCTION, names.NETWORK, names.VARIABLE, names.LOCAL)


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _block_symbol(server: Server, b: ast.ProgramBlock, here: Iterable[names.Definition]) -> lsp.DocumentSymbol:
    around = server.range(b.span)
    children = [_symbol(server, d) for d in here if _holds(b.span, d.span)]
    head = Span(b.span.source, b.span.start, b.span.start + len(b.name))
    return lsp.DocumentSymbol(b.name, lsp.SymbolKind.Module, around, server.range(head), children=children)


def _symbol(server: Server, d: names.Definition) -> lsp.DocumentSymbol:
    kind = _SYMBOL_KINDS.get(d.kind, lsp.SymbolKind.Variable)
    whole = d.whole if _holds(d.whole, d.span) else d.span
    return lsp.DocumentSymbol(d.name, kind, server.range(whole), server.range(d.span), detail=d.text)


def _formatting(server: Server, given: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    """The whole text anew; nothing for a text with errors, and for one that is a part of a program."""
    source, settings = server.source(given.text_document.uri), server.documents.settings
    try:
        made = pipeline.formatted(source, settings.include_paths, strict=settings.strict)
    except StanSyntaxError:
        return None
    if made == source.text:
        return []
    return [lsp.TextEdit(server.range(Span(source, 0, len(source.text))), made)]


_ANSWERS: dict[str, tuple[Any, ...]] = {
    lsp.TEXT_DOCUMENT_DID_OPEN: (_changed,), lsp.TEXT_DOCUMENT_DID_CHANGE: (_changed,),
    lsp.TEXT_DOCUMENT_DID_CLOSE: (_closed,), lsp.TEXT_DOCUMENT_DID_SAVE: (_files_changed,),
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: (_files_changed,),
    lsp.TEXT_DOCUMENT_HOVER: (_hover,),
    lsp.TEXT_DOCUMENT_COMPLETION: (
        _completion, lsp.CompletionOptions(trigger_characters=["~"], resolve_provider=True),
    ),
    lsp.COMPLETION_ITEM_RESOLVE: (_completion_resolve,),
    lsp.TEXT_DOCUMENT_DEFINITION: (_definition,), lsp.TEXT_DOCUMENT_REFERENCES: (_references,),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (_symbols,), lsp.TEXT_DOCUMENT_FORMATTING: (_formatting,),
}  # fmt: skip

"""An editor for the tests: pygls's client and a server in a process of its own, over standard input and output."""
from __future__ import annotations

import asyncio
import os
import pathlib
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

ROOT = pathlib.Path(__file__).parent.parent.parent
PATIENCE = 60  # seconds for one answer, on a machine that does other things


class Editor:
    """A client whose calls wait for their answers; `diagnostics` holds the latest of every document by address."""

    def __init__(self, folder: pathlib.Path, *options: str):
        self.folder, self.options = folder, options
        self.versions: dict[str, int] = defaultdict(int)
        self.diagnostics: dict[str, lsp.PublishDiagnosticsParams] = {}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self) -> Editor:
        self.thread.start()
        self._wait(self._start())
        return self

    def __exit__(self, *error: object) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        self._wait(self._ended())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def _start(self) -> None:
        self.client = LanguageClient("tests", "1")

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(given: lsp.PublishDiagnosticsParams) -> None:
            self.diagnostics[given.uri] = given

        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        await self.client.start_io(
            sys.executable, "-m", "stanimport", "lsp", "--stdio", *self.options, cwd=self.folder, env=environment
        )
        self.capabilities = await self.client.initialize_async(
            lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=self.folder.as_uri())
        )
        self.client.initialized(lsp.InitializedParams())

    async def _ended(self) -> None:
        self.code = await self.client._server.wait()  # the client keeps its process to itself
        await self.client.stop()

    def _wait(self, made: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(made, self.loop).result(PATIENCE)

    def ask(self, method: str, given: Any) -> Any:
        async def asked() -> Any:
            return await self.client.protocol.send_request_async(method, given)

        return self._wait(asked())

    def tell(self, method: str, given: Any) -> None:
        async def told() -> None:
            self.client.protocol.notify(method, given)

        self._wait(told())

    def open(self, name: str, text: str) -> str:
        uri = (self.folder / name).as_uri()
        self.versions[uri] += 1
        self.tell(lsp.TEXT_DOCUMENT_DID_OPEN, lsp.DidOpenTextDocumentParams(
            lsp.TextDocumentItem(uri, "stan", self.versions[uri], text)))  # fmt: skip
        return uri

    def edit(self, uri: str, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Change a part of a document, lines and columns from 0."""
        self.versions[uri] += 1
        change = lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(*start), lsp.Position(*end)), text)
        self.tell(lsp.TEXT_DOCUMENT_DID_CHANGE, lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(self.versions[uri], uri), [change]))  # fmt: skip

    def wrong(self, uri: str) -> list[lsp.Diagnostic]:
        """The diagnostics of a document as it is now."""
        return self.until(lambda: uri in self.diagnostics and self.diagnostics[uri].version == self.versions[uri]
                          and list(self.diagnostics[uri].diagnostics) or None) or []  # fmt: skip

    def at(self, uri: str, line: int, column: int) -> dict[str, Any]:
        return dict(text_document=lsp.TextDocumentIdentifier(uri), position=lsp.Position(line, column))

    def until(self, found: Callable[[], Any], seconds: float = 10.0) -> Any:
        """What a function gives once it is something; None after some seconds."""
        done = threading.Event()
        for _ in range(int(seconds / 0.02)):
            made = found()
            if made is not None:
                return made
            done.wait(0.02)
        return None

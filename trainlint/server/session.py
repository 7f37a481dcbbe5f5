"""What the server knows between two messages: what is open, and what was last found."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from trainlint import __version__
from trainlint.server.diagnostics import Places, diagnostics
from trainlint.server.documents import Document, file
from trainlint.server.engine import Engine, Judged, Snapshot
from trainlint.server.notebooks import SYNC, CellText, notebook
from trainlint.server.worker import Worker

if TYPE_CHECKING:
    from pygls.server import ServerErrors

Message = TypeVar("Message")

_PATIENCE = 10
"""Seconds that a request waits for the check of the text that it is about."""


class Session(LanguageServer):
    """One editor's server."""

    def __init__(self) -> None:
        super().__init__(
            "trainlint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=SYNC,
        )
        self.engine = Engine(self.complain)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Worker | None = None
        self._documents: dict[str, Document] = {}
        self._judged: Judged | None = None
        self._news = asyncio.Event()
        self._shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        """By URI, what the client was told last."""
        self._said: set[str] = set()
        self.has_ended = False

    def begin(self) -> None:
        """To be called once, in the loop that handles messages."""
        self._loop = asyncio.get_running_loop()
        self._worker = Worker(self.engine, partial(self._in_loop, self._publish), self.log)

    @property
    def worker(self) -> Worker:
        assert self._worker is not None, "a client initializes first"
        return self._worker

    def end(self) -> None:
        """To be called when the client says that it needs nothing more."""
        self.has_ended = True
        if self._worker is not None:
            self._worker.end()

    # What is open

    @property
    def folders(self) -> tuple[str, ...]:
        """Those of the workspace, by path."""
        uris = [one.uri for one in self.workspace.folders.values()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        return tuple(os.path.abspath(path) for path in map(to_fs_path, uris) if path is not None)

    def look_again(self) -> None:
        """Check what is open now."""
        folders = self.folders
        before = dict(self._documents)
        self._documents = {
            one.path: before[one.path] if before.get(one.path) == one else one for one in self._open(folders)
        }  # one that has not changed keeps all that was worked out for it
        self.worker.check(Snapshot(tuple(self._documents.values()), folders))

    def _open(self, folders: tuple[str, ...]) -> Iterator[Document]:
        texts, notebooks = self.workspace.text_documents, self.workspace.notebook_documents.values()
        cells = {unquote(cell.document) for one in notebooks for cell in one.cells}
        yield from filter(None, (file(one, folders) for uri, one in texts.items() if uri not in cells))
        yield from filter(None, (notebook(one, texts, folders) for one in notebooks))

    def document(self, uri: str) -> Document | None:
        """What a text belongs to."""
        documents = self._documents.values()
        return next((one for one in documents if any(text.uri == uri for text in one.texts)), None)

    def cell_opened(
        self, item: types.TextDocumentItem, changes: Iterable[types.TextDocumentContentChangeEvent]
    ) -> None:
        """Hold the text of a cell with what has changed in it since, which clients do not send as a whole."""
        cell = CellText(item, self.workspace.position_codec)
        for change in changes:
            cell.apply_change(change)
        self.workspace.text_documents[unquote(item.uri)] = cell

    # What is found

    async def judged(self, document: Document) -> Judged | None:
        """What was found with the present text of a document; None if that takes too long."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._until_judged(document), _PATIENCE)
        return self._judged if self._is_judged(document) else None

    async def _until_judged(self, document: Document) -> None:
        while not self._is_judged(document):
            self._news.clear()
            await self._news.wait()

    def _is_judged(self, document: Document) -> bool:
        return self._judged is not None and any(one is document for one in self._judged.snapshot.documents)

    def places(self, judged: Judged) -> Places:
        return Places(judged, self.workspace.position_codec)

    def _publish(self, judged: Judged) -> None:
        """Tell the client what has changed for it."""
        versions = {text.uri: text.version for one in judged.snapshot.documents for text in one.texts}
        told = {
            uri: (versions.get(uri), found) for uri, found in diagnostics(judged, self.places(judged)).items()
        }
        told |= {uri: (None, []) for uri in self._shown.keys() - told.keys()}
        for uri, (version, found) in told.items():
            if self._shown.get(uri) != (version, found):
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))
        self._shown = {uri: one for uri, one in told.items() if one != (None, [])}
        self._judged = judged
        self._news.set()
        for failure in judged.failures:
            self._log_once(f"{failure.path}: {failure.message}")

    # What goes wrong

    def log(self, message: str) -> None:
        """Into the client's log, from any thread."""
        said = types.LogMessageParams(types.MessageType.Error, message)
        self._in_loop(self.window_log_message, said)

    def complain(self, message: str) -> None:
        """Where the user sees it, from any thread."""
        said = types.ShowMessageParams(types.MessageType.Warning, f"trainlint: {message}")
        self._in_loop(self.window_show_message, said)

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """What pygls itself stumbles over, such as a message that is no JSON."""
        self.log(f"{type(error).__name__}: {error}")

    def _log_once(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self.log(message)

    def _in_loop(self, do: Callable[[Message], object], message: Message) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(do, message)

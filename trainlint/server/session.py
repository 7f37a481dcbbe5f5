"""What the server knows between two messages: what is open, and what was last found."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from trainlint import __version__
from trainlint.finding import Finding
from trainlint.server.diagnostics import Places, diagnostics
from trainlint.server.documents import Document, document
from trainlint.server.engine import Engine, Judged, Snapshot
from trainlint.server.worker import Worker

_PATIENCE = 10
"""Seconds that a request waits for the check of the text that it is about."""


class Session(LanguageServer):
    """One editor's server."""

    def __init__(self) -> None:
        super().__init__(
            "trainlint", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.engine = Engine(self.complain)
        self.worker: Worker | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._documents: dict[str, Document] = {}
        self._judged: Judged | None = None
        self._is_judged = asyncio.Event()
        self._shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self._said: set[str] = set()

    # What is open

    def begin(self) -> None:
        """To be called in the loop that messages are handled in."""
        self._loop = asyncio.get_running_loop()
        self.worker = Worker(self.engine, self._in_loop_publish, self.log)

    @property
    def folders(self) -> tuple[str, ...]:
        """Those of the workspace, by path."""
        uris = [one.uri for one in self.workspace.folders.values()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        return tuple(path for path in map(to_fs_path, uris) if path is not None)

    def look_again(self) -> None:
        """Check what is open now."""
        folders = self.folders
        before = {one.uri: one for one in self._documents.values()}
        found = (self._document(one, before, folders) for one in self.workspace.text_documents.values())
        self._documents = {one.path: one for one in found if one is not None}
        assert self.worker is not None
        self.worker.check(Snapshot(tuple(self._documents.values()), folders))

    def _document(
        self, open_one: TextDocument, before: dict[str, Document], folders: Iterable[str]
    ) -> Document | None:
        """The same as before where nothing has changed, with all that was worked out for it."""
        known = before.get(open_one.uri)
        new = document(open_one, folders)
        return known if known == new else new

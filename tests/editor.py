"""An editor, as far as a language server can tell: a client that talks to the real command."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.workspace import PositionCodec, TextDocument
from pytest_lsp import LanguageClient

ROOT = Path(__file__).parent.parent
PATIENCE = 60
SERVER = ("-m", "trainlint", "server")
Diagnostics = Sequence[types.Diagnostic]


class Editor:
    """What is open, and what the server says of it. Files are named from the first folder, or by URI."""

    def __init__(self, client: LanguageClient, folders: Sequence[Path], encoding: str) -> None:
        self.client = client
        self._folder = folders[0] if folders else Path.cwd()
        self._codec = PositionCodec(encoding)
        self._texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._said: dict[str, tuple[int | None, Diagnostics]] = {}
        self._news = asyncio.Condition()
        self.logged: list[str] = []
        self.told: list[str] = []
        """What the user was shown."""

        async def published(params: types.PublishDiagnosticsParams) -> None:
            async with self._news:
                self._said[params.uri] = params.version, params.diagnostics
                self._news.notify_all()

        listen: Any = client.feature
        listen(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
        listen(types.WINDOW_LOG_MESSAGE)(lambda params: self.logged.append(params.message))
        listen(types.WINDOW_SHOW_MESSAGE)(lambda params: self.told.append(params.message))

    def uri(self, name: str) -> str:
        return name if ":" in name else (self._folder / name).as_uri()

    def open(self, name: str, text: str | None = None, language: str = "python") -> None:
        uri = self.uri(name)
        if text is None:
            text = (self._folder / name).read_bytes().decode()
        self._texts[uri], self._versions[uri] = text, 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def write(self, name: str, text: str) -> None:
        """Change the text, and do not save it."""
        uri = self.uri(name)
        self._texts[uri] = text
        self._versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self._versions[uri], uri=uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def save(self, name: str) -> None:
        (self._folder / name).write_bytes(self._texts[self.uri(name)].encode())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self._identifier(name)))

    def close(self, name: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self._identifier(name)))

    def changed_on_disk(self, *names: str) -> None:
        changes = [types.FileEvent(self.uri(name), types.FileChangeType.Changed) for name in names]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))

    def text(self, name: str) -> str:
        return self._texts[self.uri(name)]

    async def shows(self, name: str, *codes: str) -> Diagnostics:
        """What is shown for the present text, once it is exactly this; anything else in the end is an error."""
        return await self.until(name, lambda found: sorted(str(one.code) for one in found) == sorted(codes))

    async def until(self, name: str, is_right: Callable[[Diagnostics], bool]) -> Diagnostics:
        uri = self.uri(name)

        def is_there() -> bool:
            version, found = self._said.get(uri, (-1, ()))
            return version == self._versions.get(uri) and is_right(found)

        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(is_there), PATIENCE)
            except asyncio.TimeoutError:
                raise AssertionError(f"{name}: at last {self._said.get(uri)}") from None
        return self._said[uri][1]

    def has_been_told(self, name: str) -> bool:
        """Whether the server has said anything of a file, be it nothing."""
        return self.uri(name) in self._said

    async def hover(self, name: str, at: types.Position) -> types.Hover | None:
        return await self.client.text_document_hover_async(types.HoverParams(self._identifier(name), at))

    async def actions(self, name: str, at: types.Range, *only: str) -> Mapping[str, types.CodeAction]:
        """By title."""
        context = types.CodeActionContext([], only=list(only) or None)
        params = types.CodeActionParams(self._identifier(name), at, context)
        found = await self.client.text_document_code_action_async(params)
        actions = [one for one in found or () if isinstance(one, types.CodeAction)]
        return {one.title: one for one in actions}

    def after(self, name: str, action: types.CodeAction) -> str:
        """The text with an action's edits."""
        uri = self.uri(name)
        assert action.edit is not None
        if action.edit.document_changes is not None:
            (change,) = action.edit.document_changes
            assert isinstance(change, types.TextDocumentEdit)
            assert (change.text_document.uri, change.text_document.version) == (uri, self._versions[uri])
            edits = [one for one in change.edits if isinstance(one, types.TextEdit)]
        else:
            edits = list((action.edit.changes or {})[uri])
        document = TextDocument(uri, self._texts[uri], position_codec=self._codec)
        text = self._texts[uri]
        where = document.offset_at_position
        places = [(where(one.range.start), where(one.range.end), one.new_text) for one in edits]
        for start, end, new in sorted(places, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def _identifier(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))


@asynccontextmanager
async def editor(
    *folders: Path,
    encoding: str = "utf-16",
    versioned: bool = True,
    server: Sequence[str] = SERVER,
) -> AsyncIterator[Editor]:
    """An editor with these folders open. At the end it asks the server to end, which it has to do cleanly."""
    client = LanguageClient()
    await client.start_io(sys.executable, *server, env={**os.environ, "PYTHONPATH": str(ROOT)})
    process = client._server
    assert process is not None
    one = Editor(client, folders, encoding)
    await client.initialize_session(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(
                general=types.GeneralClientCapabilities(position_encodings=[encoding]),
                workspace=types.WorkspaceClientCapabilities(
                    workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=versioned)
                ),
            ),
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders],
        )
    )
    try:
        yield one
        await client.shutdown_session()
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    finally:
        if process.returncode is None:
            process.kill()
        stop: Any = client.stop
        await stop()

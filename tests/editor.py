"""An editor, as far as a language server can tell: a client that talks to the real command."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_type_hints

from cattrs import Converter
from lsprotocol import types
from pygls.protocol import default_converter
from pygls.workspace import PositionCodec, TextDocument
from pytest_lsp import LanguageClient

from tests.warm import executable

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
        self._cells: dict[str, list[str]] = {}
        """The URIs of cells, by that of their notebook."""
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

    def open_notebook(self, name: str, *cells: str) -> Sequence[str]:
        """Open a notebook whose cells are all Python, but for those that begin with `#md`; their URIs."""
        uri = self.uri(name)
        self._versions[uri] = 1
        self._cells[uri] = []
        items = [self._new_cell(uri, text) for text in cells]
        self.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(
                    uri,
                    "jupyter-notebook",
                    1,
                    [types.NotebookCell(_kind(one.text), one.uri) for one in items],
                ),
                items,
            )
        )
        self._cells[uri] = [one.uri for one in items]
        return self._cells[uri]

    def put_cells(self, name: str, start: int, delete: int, *cells: str) -> Sequence[str]:
        """Put new cells in the place of some; the URIs of all."""
        uri = self.uri(name)
        items = [self._new_cell(uri, text) for text in cells]
        new = [types.NotebookCell(_kind(one.text), one.uri) for one in items]
        gone = self._cells[uri][start : start + delete]
        self._cells[uri][start : start + delete] = [one.uri for one in items]
        self._change_notebook(
            name,
            types.NotebookDocumentCellChanges(
                structure=types.NotebookDocumentCellChangeStructure(
                    types.NotebookCellArrayChange(start, delete, new),
                    did_open=items,
                    did_close=[types.TextDocumentIdentifier(one) for one in gone],
                )
            ),
        )
        return self._cells[uri]

    def type_in_cell(self, name: str, cell: str, at: types.Range, new: str) -> None:
        """Change a part of a cell, as clients tell it whatever the server asks for."""
        self._texts[cell] = self._with_edits(cell, [types.TextEdit(at, new)])
        self._versions[cell] += 1
        change = types.TextDocumentContentChangePartial(at, new)
        self._cell_changed(name, cell, change)

    def write_cell(self, name: str, cell: str, text: str) -> None:
        self._texts[cell] = text
        self._versions[cell] += 1
        self._cell_changed(name, cell, types.TextDocumentContentChangeWholeDocument(text))

    def close_notebook(self, name: str) -> None:
        uri = self.uri(name)
        self.client.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(
                types.NotebookDocumentIdentifier(uri),
                [types.TextDocumentIdentifier(one) for one in self._cells.pop(uri)],
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

    async def shows_at_last(self, name: str) -> Diagnostics:
        """What is shown where nothing is open any more, once that is nothing; something in the end is an error."""
        self._versions.pop(self.uri(name), None)
        return await self.until(name, lambda found: not found)

    async def logs(self, words: str) -> None:
        """Wait until the server has logged something: logs and findings arrive in no fixed order."""
        for _ in range(int(PATIENCE * 20)):
            if any(words in said for said in self.logged):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{words!r} is not among {self.logged}")

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
        """The text with an action's edits, which are all in it."""
        ((uri, text),) = self.all_after(action).items()
        assert uri == self.uri(name)
        return text

    def all_after(self, action: types.CodeAction) -> dict[str, str]:
        """All texts that an action changes, by URI."""
        assert action.edit is not None
        edits = {uri: list(some) for uri, some in (action.edit.changes or {}).items()}
        for change in action.edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.version == self._versions[change.text_document.uri]
            edits[change.text_document.uri] = [one for one in change.edits if isinstance(one, types.TextEdit)]
        return {uri: self._with_edits(uri, some) for uri, some in edits.items()}

    def _with_edits(self, uri: str, edits: Sequence[types.TextEdit]) -> str:
        text = self._texts[uri]
        where = TextDocument(uri, text, position_codec=self._codec).offset_at_position
        places = [(where(one.range.start), where(one.range.end), one.new_text) for one in edits]
        for start, end, new in sorted(places, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def _new_cell(self, notebook: str, text: str) -> types.TextDocumentItem:
        uri = f"{notebook.replace('file:', 'vscode-notebook-cell:')}#W{len(self._texts)}sZmlsZQ%3D%3D"
        self._texts[uri], self._versions[uri] = text, 1
        return types.TextDocumentItem(uri, "markdown" if text.startswith("#md") else "python", 1, text)

    def _cell_changed(self, name: str, cell: str, change: types.TextDocumentContentChangeEvent) -> None:
        identifier = types.VersionedTextDocumentIdentifier(version=self._versions[cell], uri=cell)
        content = types.NotebookDocumentCellContentChanges(identifier, [change])
        self._change_notebook(name, types.NotebookDocumentCellChanges(text_content=[content]))

    def _change_notebook(self, name: str, change: types.NotebookDocumentCellChanges) -> None:
        uri = self.uri(name)
        self._versions[uri] += 1
        self.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self._versions[uri], uri),
                types.NotebookDocumentChangeEvent(cells=change),
            )
        )

    def _identifier(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))


def _kind(text: str) -> types.NotebookCellKind:
    return types.NotebookCellKind.Markup if text.startswith("#md") else types.NotebookCellKind.Code


def _converter() -> Converter:
    """The client's, that can also read of which notebooks a server wants to hear."""
    default: Any = default_converter
    converter: Converter = default()
    for kind in (types.NotebookDocumentFilterWithNotebook, types.NotebookDocumentFilterWithCells):
        converter.register_structure_hook(get_type_hints(kind)["notebook"], lambda value, _: value)
    return converter


@asynccontextmanager
async def editor(
    *folders: Path,
    encoding: str = "utf-16",
    versioned: bool = True,
    server: Sequence[str] = SERVER,
) -> AsyncIterator[Editor]:
    """An editor with these folders open. At the end it asks the server to end, which it has to do cleanly."""
    client = LanguageClient(converter_factory=_converter)
    await client.start_io(*executable(), *server, env={**os.environ, "PYTHONPATH": str(ROOT)})
    process = client._server
    assert process is not None
    one = Editor(client, folders, encoding)
    await client.initialize_session(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(
                general=types.GeneralClientCapabilities(position_encodings=[encoding]),
                notebook_document=types.NotebookDocumentClientCapabilities(
                    types.NotebookDocumentSyncClientCapabilities()
                ),
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

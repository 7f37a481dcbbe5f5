"""The messages of the protocol, one function each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from trainlint.catalogue import page
from trainlint.finding import Finding
from trainlint.server.actions import FIX_ALL, KINDS, Actions
from trainlint.server.diagnostics import Places
from trainlint.server.session import Session

_WATCHED = (
    "**/*.py",
    "**/pyproject.toml",
    "**/trainlint.toml",
    "**/requirements.txt",
    "**/setup.cfg",
    "**/environment.y*ml",
    "**/.gitignore",
    "**/*.json",
)
_RULE = "\n\n---\n\n"


def server() -> Session:
    """A server that is ready to be started."""
    session = Session()
    for name, handler in _HANDLERS.items():
        session.feature(name)(handler)
    options = types.CodeActionOptions(code_action_kinds=list(KINDS))
    session.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_code_actions)
    return session


def _initialize(session: Session, _: types.InitializeParams) -> None:
    session.begin()


def _initialized(session: Session, _: types.InitializedParams) -> None:
    """Ask to be told of changes on disk, of clients that can."""
    workspace = session.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    if watching is not None and watching.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        session.client_register_capability(
            types.RegistrationParams([types.Registration("watched-files", method, options)]),
            lambda _: None,
        )


def _opened_or_saved(session: Session, _: object) -> None:
    session.engine.neighbours.files_have_changed()
    session.look_again()


def _changed(session: Session, _: object) -> None:
    session.look_again()


def _notebook_opened(session: Session, params: types.DidOpenNotebookDocumentParams) -> None:
    for cell in params.cell_text_documents:
        session.cell_opened(cell, ())
    _opened_or_saved(session, params)


def _notebook_changed(session: Session, params: types.DidChangeNotebookDocumentParams) -> None:
    cells = params.change.cells
    if cells is not None and cells.structure is not None:
        changes = {one.document.uri: one.changes for one in cells.text_content or ()}
        for cell in cells.structure.did_open or ():
            session.cell_opened(cell, changes.get(cell.uri, ()))
    session.look_again()


def _changed_on_disk(session: Session, params: types.DidChangeWatchedFilesParams) -> None:
    paths = [path for path in (to_fs_path(one.uri) for one in params.changes) if path is not None]
    if any(
        not path.endswith(".json") or session.engine.is_known_baseline(os.path.abspath(path))
        for path in paths
    ):
        _opened_or_saved(session, params)


def _configured(session: Session, _: types.DidChangeConfigurationParams) -> None:
    """The editor has no settings that matter: all of them stand in files."""


def _shut_down(session: Session, _: None) -> None:
    session.end()


async def _hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """The pages of the rules that have found something here."""
    document = session.document(params.text_document.uri)
    judged = await session.judged(document) if document is not None else None
    if document is None or judged is None:
        return None
    uri, at = params.text_document.uri, types.Range(params.position, params.position)
    found = _located(judged.findings.get(document.path, ()), uri, session.places(judged))
    here = [(one, range) for one, range in found if _meet(range, at)]
    if not here:
        return None
    pages = _RULE.join(dict.fromkeys(page(one.code).strip() for one, _ in here))
    text_document = session.client_capabilities.text_document
    hover = text_document.hover if text_document is not None else None
    formats = (hover.content_format if hover is not None else None) or [types.MarkupKind.Markdown]
    kind = types.MarkupKind.Markdown if types.MarkupKind.Markdown in formats else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, pages), here[0][1])


async def _code_actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Fixes, and comments that silence findings."""
    document = session.document(params.text_document.uri)
    judged = await session.judged(document) if document is not None else None
    if document is None or judged is None:
        return None
    places = session.places(judged)
    found = _located(judged.findings.get(document.path, ()), params.text_document.uri, places)
    here = [one for one, range in found if _meet(range, params.range)]
    if not found:
        return None
    actions = Actions(
        judged.sound[document.path], places, versioned=_is_versioned(session.client_capabilities)
    )
    only = params.context.only

    def wanted() -> list[types.CodeAction]:
        made: list[types.CodeAction] = []
        if only is None or _includes(only, types.CodeActionKind.QuickFix):
            made += actions.for_findings(here)
        if only is not None and _includes(only, FIX_ALL):
            made += actions.fix_all([one for one, _ in found])
        return made

    return await asyncio.wrap_future(session.worker.ask(wanted))


def _located(findings: Iterable[Finding], uri: str, places: Places) -> list[tuple[Finding, types.Range]]:
    """What is shown under a URI, and where."""
    located = ((one, places.location(one.at)) for one in findings)
    return [(one, at.range) for one, at in located if at is not None and at.uri == uri]


def _includes(only: Sequence[types.CodeActionKind | str], kind: str) -> bool:
    """Whether a kind of action is asked for, or one that it belongs to."""
    return any(
        f"{kind}.".startswith(f"{asked}.") for asked in (str(getattr(one, "value", one)) for one in only)
    )


def _is_versioned(client: types.ClientCapabilities) -> bool:
    edit = client.workspace.workspace_edit if client.workspace is not None else None
    return bool(edit is not None and edit.document_changes)


def _meet(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges overlap or touch."""
    return one.start <= other.end and other.start <= one.end


_HANDLERS: Mapping[str, Callable[[Session, Any], Any]] = {
    types.INITIALIZE: _initialize,
    types.INITIALIZED: _initialized,
    types.SHUTDOWN: _shut_down,
    types.TEXT_DOCUMENT_DID_OPEN: _opened_or_saved,
    types.TEXT_DOCUMENT_DID_CHANGE: _changed,
    types.TEXT_DOCUMENT_DID_SAVE: _opened_or_saved,
    types.TEXT_DOCUMENT_DID_CLOSE: _changed,
    types.NOTEBOOK_DOCUMENT_DID_OPEN: _notebook_opened,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE: _notebook_changed,
    types.NOTEBOOK_DOCUMENT_DID_SAVE: _opened_or_saved,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE: _changed,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: _changed_on_disk,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: _opened_or_saved,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: _configured,
    types.TEXT_DOCUMENT_HOVER: _hover,
}

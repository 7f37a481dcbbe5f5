"""What can be done about a finding, as code actions: its fix, and comments that silence it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from trainlint.catalogue import names
from trainlint.check.ignore import UNUSED_CODE
from trainlint.finding import Edit, Finding
from trainlint.fixing.proposals import Fixes, with_fixes, without_idle
from trainlint.fixing.rounds import together
from trainlint.notebook.program import SUFFIX
from trainlint.server.diagnostics import SOURCE, Places, diagnostic
from trainlint.server.documents import Document, Text
from trainlint.server.ignoring import ignore_here, ignore_in_file

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


class Actions:
    """Code actions for one document.

    Args:
        versioned: the client can be told which version of a document edits are for.
    """

    def __init__(self, document: Document, places: Places, *, versioned: bool) -> None:
        self._document = document
        self._places = places
        self._versioned = versioned

    def for_findings(self, findings: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """A fix first, and then what silences a finding."""
        for one in self._with_fixes(findings):
            if one.fix is not None:
                is_safe = one.fix.applicability == "safe"
                title = one.fix.title[:1].upper() + one.fix.title[1:]
                title = f"{title} ({one.code})" if is_safe else f"{title} ({one.code}, unsafe: review it)"
                yield from self._action(title, one.fix.edits, one, is_preferred=is_safe)
            if one.code == UNUSED_CODE:
                continue
            source, lines = self._document.source, self._document.lines
            here = ignore_here(one, source, lines, names())
            if here is not None:
                yield from self._action(f"Ignore {one.code} on this line", [here], one)
            everywhere = ignore_in_file(one, source, lines, self._document.takes)
            if everywhere is not None:
                kind = "notebook" if one.at.path.endswith(SUFFIX) else "file"
                yield from self._action(f"Ignore {one.code} in this {kind}", [everywhere], one)

    def fix_all(self, findings: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """All safe fixes that can be made at once."""
        fixed, _ = Fixes().added(findings, lambda _: self._document.raw)
        found = [(one, one.fix) for one in fixed if one.fix is not None]
        chosen = together(one for one in found if one[1].applicability == "safe")
        if not chosen:
            return
        edits = dict.fromkeys(edit for _, fix in chosen for edit in fix.edits)
        edit = self._edit(without_idle(chosen[0][0].at.path, self._document.raw, edits))
        if edit is not None:
            yield types.CodeAction("Apply all safe fixes of trainlint", kind=FIX_ALL, edit=edit)

    def _with_fixes(self, findings: Sequence[Finding]) -> list[Finding]:
        fixed, _ = with_fixes(findings, lambda _: self._document.raw)
        return fixed

    def _action(
        self, title: str, edits: Iterable[Edit], about: Finding, *, is_preferred: bool | None = None
    ) -> Iterator[types.CodeAction]:
        """None where the edits cannot be made in what is there now."""
        edit, location = self._edit(edits), self._places.location(about.at)
        if edit is not None and location is not None:
            yield types.CodeAction(
                title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(about, location.range, self._places)],
                is_preferred=is_preferred,
                edit=edit,
            )

    def _edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit | None:
        changes: dict[Text, list[types.TextEdit]] = {}
        for one in edits:
            edited = self._places.edited(one)
            if edited is None:
                return None
            changes.setdefault(edited[0], []).append(edited[1])
        if not self._versioned:
            return types.WorkspaceEdit(changes={text.uri: made for text, made in changes.items()})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(text.uri, text.version), list(made)
                )
                for text, made in changes.items()
            ]
        )

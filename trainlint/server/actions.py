"""What can be done about a finding, as code actions: its fix, and comments that silence it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from trainlint.catalogue import names
from trainlint.finding import Edit, Finding
from trainlint.fixes import with_fixes
from trainlint.fixing import together
from trainlint.ignore import UNUSED_CODE
from trainlint.server.diagnostics import SOURCE, Places, diagnostic
from trainlint.server.documents import Document
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
            about = [diagnostic(one, self._places)]
            if one.fix is not None:
                is_safe = one.fix.applicability == "safe"
                title = one.fix.title[:1].upper() + one.fix.title[1:]
                yield self._action(
                    f"{title} ({one.code})" if is_safe else f"{title} ({one.code}, unsafe: look at it)",
                    one.fix.edits,
                    about,
                    is_preferred=is_safe,
                )
            if one.code == UNUSED_CODE:
                continue
            raw, lines = self._document.raw, self._document.lines
            here = ignore_here(one, raw, lines, names())
            if here is not None:
                yield self._action(f"Ignore {one.code} on this line", [here], about)
            yield self._action(f"Ignore {one.code} in this file", [ignore_in_file(one, raw, lines)], about)

    def fix_all(self, findings: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """All safe fixes that can be made at once."""
        found = [(one, one.fix) for one in self._with_fixes(findings) if one.fix is not None]
        chosen = together(one for one in found if one[1].applicability == "safe")
        edits = list(dict.fromkeys(edit for _, fix in chosen for edit in fix.edits))
        if edits:
            yield types.CodeAction(
                "Fix all safely fixable findings of trainlint", kind=FIX_ALL, edit=self._edit(edits)
            )

    def _with_fixes(self, findings: Sequence[Finding]) -> list[Finding]:
        fixed, _ = with_fixes(findings, lambda _: self._document.raw)
        return fixed

    def _action(
        self,
        title: str,
        edits: Iterable[Edit],
        about: list[types.Diagnostic],
        *,
        is_preferred: bool | None = None,
    ) -> types.CodeAction:
        return types.CodeAction(
            title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=about,
            is_preferred=is_preferred,
            edit=self._edit(edits),
        )

    def _edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        document = self._document
        made = [
            types.TextEdit(
                self._places.range(one.at),
                one.replacement.replace("\r\n", "\n").replace("\n", document.line_end),
            )
            for one in edits
        ]
        if not self._versioned:
            return types.WorkspaceEdit(changes={document.uri: made})
        identifier = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, list(made))])

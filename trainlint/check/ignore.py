"""Comments that silence findings, and the ones among them that silence nothing.

`# trainlint: ignore[TL101, TL2] why` silences what is found on its line, or in the statement that it
ends; `# trainlint: ignore-file[TL101]` in the whole file. Without brackets either silences every rule.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from trainlint.check.explained import explained
from trainlint.check.select import code_prefix, nearest_rule
from trainlint.check.statements import commented
from trainlint.finding import Finding, Place
from trainlint.project.suggestion import did_you_mean

UNUSED_CODE, UNUSED_NAME = "TL000", "unused-ignore"

_COMMENT = re.compile(r"#\s*trainlint:\s*(?P<verb>[\w-]+)\s*(?:\[(?P<rules>[^\]]*)\])?(?P<rest>[^#]*)")
_BARE_CODE = re.compile(r"[\s:=(]*([a-z]+\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Comment:
    """One comment that asks to silence rules: those written, or every rule where `rules` is None."""

    at: Place
    verb: str
    rules: tuple[str, ...] | None
    rest: str
    """What stands after it: the reason."""
    statement: tuple[int, int]
    """First and last line of the statement that it stands in."""
    alone: bool
    """Nothing but the comment is on its line."""

    def covers(self, place: Place) -> bool:
        if self.verb == "ignore-file":
            return True
        first, last = self.statement
        if not first <= place.line <= last:
            return False
        return self.at.line in (place.line, place.end_line, last)

    def silencing(self, finding: Finding, names: Mapping[str, str]) -> Iterator[str]:
        """Those of its rules, as written, that silence this finding."""
        if not self.mistake(names) and self.covers(finding.at):
            for rule in self.rules or ("ALL",):
                prefix = code_prefix(rule, names)
                if prefix is not None and finding.code.startswith(prefix):
                    yield rule

    def mistake(self, names: Mapping[str, str]) -> str | None:
        """Why it silences nothing, whatever is found."""
        if self.verb not in ("ignore", "ignore-file"):
            return (
                f"`trainlint: {self.verb}` is not a "
                f"directive{did_you_mean(self.verb, ('ignore', 'ignore-file'))}"
            )
        if self.rules == ():
            return "this ignore has no rule in its brackets"
        bare = _BARE_CODE.match(self.rest)
        if self.rules is None and bare and (bare[1][:2].upper() == "TL" or code_prefix(bare[1], names)):
            return f"a rule to ignore must be in brackets: write `{self.verb}[{bare[1]}]`"
        return None


def silence(
    findings: Iterable[Finding],
    paths: Iterable[str],
    read: Callable[[str], bytes],
    names: Mapping[str, str],
    idle: Collection[str] = (),
) -> list[Finding]:
    """The findings, marked where a comment silences them, at level info where one explains them, and one more for each comment that silences nothing.

    `findings` are of every rule and sorted by path; `paths` are the files whose comments are judged;
    `names` holds each code's name; `idle` are codes of rules that did not run, whose comments may be needed.
    """
    by_path = {path: list(found) for path, found in groupby(findings, lambda finding: finding.at.path)}
    judged = set(paths)
    result: list[Finding] = []
    for path in sorted(judged | by_path.keys()):
        found = by_path.get(path, [])
        raw = read(path)
        found = explained(found, raw)
        if b"trainlint:" in raw:
            asking = list(comments(path, raw))
            used = {use for finding in found for use in _uses(finding, asking, names)}
            found = [
                replace(one, suppressed=True) if any(_uses(one, asking, names)) else one for one in found
            ]
            if path in judged:
                found = sorted([*found, *_unused(asking, used, names, idle)], key=lambda finding: finding.at)
        result += found
    return result


def comments(path: str, raw: bytes) -> Iterator[Comment]:
    """The comments of a source file that speak to trainlint; those before the error, if Python cannot read it."""
    for statement in commented(raw):
        for comment in statement.comments:
            yield from _read(path, comment, statement.first, statement.last)


def _read(path: str, token: tokenize.TokenInfo, first: int, last: int) -> Iterator[Comment]:
    for match in _COMMENT.finditer(token.string):
        line, column = token.start
        start = column + match.start() + 1
        rules = match["rules"]
        yield Comment(
            at=Place(path, line, start, line, start + len(match[0].rstrip())),
            verb=match["verb"],
            rules=None if rules is None else tuple(filter(None, map(str.strip, rules.split(",")))),
            rest=match["rest"],
            statement=(first, last),
            alone=not token.line[:column].strip(),
        )


def _uses(
    finding: Finding, asking: Iterable[Comment], names: Mapping[str, str]
) -> Iterator[tuple[Comment, str]]:
    """The comments that silence a finding, each with the rule in it that does."""
    return ((comment, rule) for comment in asking for rule in comment.silencing(finding, names))


def _unused(
    asking: Iterable[Comment],
    used: Container[tuple[Comment, str]],
    names: Mapping[str, str],
    idle: Collection[str],
) -> Iterator[Finding]:
    for comment in asking:
        unused = [
            rule
            for rule in comment.rules or ("ALL",)
            if (comment, rule) not in used and not _stands_for(rule, idle, names)
        ]
        message = comment.mistake(names) or _uselessness(comment, unused, names)
        if message:
            yield Finding(
                comment.at, message, code=UNUSED_CODE, name=UNUSED_NAME, level="warning", confidence="certain"
            )


def _stands_for(rule: str, codes: Collection[str], names: Mapping[str, str]) -> bool:
    """Whether a selector stands for one of these codes."""
    prefix = code_prefix(rule, names) if codes else None
    return prefix is not None and any(code.startswith(prefix) for code in codes)


def _uselessness(comment: Comment, unused: Sequence[str], names: Mapping[str, str]) -> str | None:
    """What to say of a well-formed comment of which these rules silence nothing."""
    for rule in unused:
        if comment.rules and code_prefix(rule, names) is None:
            return f"no rule is called `{rule}`{nearest_rule(rule, names)}"
    if unused and comment.alone and comment.verb == "ignore":
        return (
            "this ignore is on a line of its own, so it silences nothing: put it at the end of the line with "
            "the finding, or use `ignore-file` for the whole file"
        )
    if len(unused) == len(comment.rules or ("ALL",)):
        return "this ignore matches nothing: remove it"
    if unused:
        listed = " and ".join(f"`{rule}`" for rule in unused)
        return f"{listed} in this ignore matches nothing: remove it"
    return None

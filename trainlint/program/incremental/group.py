"""One group of files: what is known of its entry points is taken, and the rest is worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b

from trainlint.program.incremental.cache import Cache, Checked
from trainlint.program.incremental.evaluating import check_group
from trainlint.program.incremental.helpers import can_help
from trainlint.program.incremental.project_files import Project
from trainlint.program.incremental.results import Account, Ledger, State
from trainlint.program.source import syntax as s
from trainlint.program.source.edited import Edited, edited
from trainlint.program.source.outline import outline
from trainlint.program.source.packing import drop_bodies
from trainlint.program.source.reading import Read
from trainlint.program.source.room import with_room

_NOT_WORTH_KEEPING = 10
"""So many entry points are sooner evaluated again than written down, with all others, after each change."""


class Modules(Mapping[str, s.Module]):
    """The modules of a group, each read when it is first asked for."""

    def __init__(self, paths: list[str], module: Callable[[str], s.Module | None]) -> None:
        self._paths = dict.fromkeys(paths)
        self._module = module
        self._read: dict[str, s.Module] = {}

    def __getitem__(self, path: str) -> s.Module:
        if path not in self._read:
            self._read[path] = self._module(path) or s.Module((), (0,), (), frozenset())
        return self._read[path]

    def drop_bodies(self) -> None:
        """Forget the bodies of functions that can be unpacked again."""
        for module in self._read.values():
            drop_bodies(module)

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


@with_room
def check(
    key: str,
    reads: list[Read],
    module: Callable[[str], s.Module | None],
    cache: Cache,
    *,
    lasts: bool,
    copies: int = 0,
    entered: frozenset[str] | None = None,
) -> Checked:
    """Check a group, and keep its findings under a key; if the cache `lasts`, with an account of how they came about.

    Args:
        copies: how many copies of this process help where little is known.
        entered: files whose classes and functions are entered; None for all.
    """
    paths = [one.path for one in reads]
    modules = Modules(paths, module)
    name = cache.key((path, "") for path in paths)
    account = cache.load_account(name) if lasts else None
    contents = {one.path: f"{one.key} {one.meaning}" for one in reads}
    outlines = {
        path: account.outlines[path]
        if account is not None and account.state.contents.get(path) == contents[path]
        else outline(modules[path])
        for path in paths
    }
    project = Project(modules, outlines, modules.drop_bodies)
    names = {path: _digest(sorted(project.names(path))) for path in paths}
    state = State(contents, names, project.frameworks, project.reads)
    known = Ledger()
    if account is not None:
        known = account.holding(state, outlines, _edits(account.state, state, modules, cache))
    copies = copies if not known.outcomes and can_help() else 0
    checked, ledger = check_group(project, known, copies, entered)
    cache.save_findings("groups", key, checked)
    learned = 0 if ledger is None else len(ledger.outcomes) - len(known.outcomes)
    if lasts and ledger is not None and (account is None or learned > _NOT_WORTH_KEEPING):
        cache.save_account(name, Account(ledger, state, outlines))
    return checked


def _edits(before: State, now: State, modules: Modules, cache: Cache) -> dict[str, Edited]:
    """Files in which only the bodies of functions have changed, as far as it is known what they were."""
    found = {}
    for path, content in now.contents.items():
        (key, _, meaning), (_, _, means) = (
            one.partition(" ") for one in (before.contents.get(path, content), content)
        )
        old = cache.load_module(key) if before.contents.get(path) != content and meaning == means else None
        edit = edited(old, modules[path]) if old is not None else None
        if edit is not None:
            found[path] = edit
    return found


def _digest(names: list[str]) -> str:
    return blake2b(" ".join(names).encode(errors="surrogatepass"), digest_size=8).hexdigest()

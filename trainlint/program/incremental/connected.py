"""Which files import each other, directly or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def connected(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Files in groups, by what each of them imports; what stands under no key belongs to no group."""
    near: dict[str, set[str]] = {path: set() for path in imports}
    for path, targets in imports.items():
        for target in targets:
            if target in near:
                near[path].add(target)
                near[target].add(path)
    groups: list[list[str]] = []
    seen: set[str] = set()
    for path in sorted(near):
        if path in seen:
            continue
        group, pending = [], [path]
        seen.add(path)
        while pending:
            one = pending.pop()
            group.append(one)
            pending.extend(near[one] - seen)
            seen |= near[one]
        groups.append(sorted(group))
    return groups

"""A cold check that fills the cache, a warm one, and one after a file has changed.

    python bench/warm.py TREE --jobs 2 --rounds 3 --change pkg/models/one.py pkg/train.py

Files are changed one at a time: one from a group of median size (files that import each other, directly or not,
are a group), one from the largest group, and those that are named.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import trees
from measured import Cost, median, run, table, trainlint

from trainlint.program.incremental.project_files import Files
from trainlint.program.source import prefilter
from trainlint.program.source.loading import load
from trainlint.program.source.syntax import Module
from trainlint.project.bytes_on_disk import Contents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--change", nargs="*", default=[], help="files to change too, relative to the tree")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree, cache = Path(folder, "tree"), Path(folder, "cache")
        files = trees.copy(given.tree, tree)
        groups = sorted(_groups([str(file) for file in files]), key=len)
        typical, worst = groups[len(groups) // 2], groups[-1]
        check = trainlint("check", "-q", "--jobs", str(given.jobs), "--cache-dir", str(cache), str(tree))
        run(trainlint("rules"))  # so that the first cold run does not compile trainlint itself
        costs: dict[str, list[Cost]] = {}
        for _ in range(given.rounds):
            shutil.rmtree(cache, ignore_errors=True)
            costs.setdefault("cold", []).append(run(check))
            costs.setdefault("warm", []).append(run(check))
            for group in (typical, worst):
                _touch(Path(group[len(group) // 2]))
                costs.setdefault(f"one changed, in a group of {len(group)}", []).append(run(check))
            for name in given.change:
                _touch(tree / name)
                costs.setdefault(f"{name} changed", []).append(run(check))
        print(f"{len(files)} files in {len(groups)} groups, {given.jobs} processes, ", end="")
    print(
        f"medians of {given.rounds}\n\n{table({name: median(all_) for name, all_ in costs.items()}, 'warm')}"
    )


def _touch(file: Path) -> None:
    with file.open("a") as text:
        text.write("\n# changed\n")


def _groups(paths: list[str]) -> list[list[str]]:
    """Files that import each other, as the linter sees them."""
    contents, files = Contents({}), Files(dict.fromkeys(paths))
    near: dict[str, set[str]] = {}
    for path in prefilter.worth_reading(paths, contents, files):
        module = load(path, contents.get(path))
        if isinstance(module, Module):
            near.setdefault(path, set())
            for target in files.imported(path, module.imports):
                near[path].add(target)
                near.setdefault(target, set()).add(path)
    groups, seen = [], set[str]()
    for path in sorted(near):
        waiting, group = [path], []
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                group.append(one)
                waiting.extend(near[one])
        if group:
            groups.append(sorted(group))
    return groups


if __name__ == "__main__":
    main()

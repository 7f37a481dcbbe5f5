"""Puts bugs into programs over frameworks by others, and counts how many a check finds, and a run of those it misses.

    python bench/framework_detection/measure.py --clones CLONES [--only WORD] [--diffs]
    python bench/framework_detection/measure.py --clones CLONES --runs PYTHON --write docs/detection.md

Each program's repository is a folder OWNER+NAME of CLONES. PYTHON has the extra `dev-frameworks`. What was found is kept in
a file, by the change, so that what has been tried is not tried again; `--again` does.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from operators import OPERATORS, Operator
from programs import PROGRAMS, Program
from table import table

from trainlint.check.checking import Request, run_check
from trainlint.project.files import shown_path

HERE = Path(__file__).resolve().parent
MARKS = ("<!-- frameworks: begin -->\n", "<!-- frameworks: end -->\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--only", default="", help="programs and bugs that hold this text")
    parser.add_argument("--diffs", action="store_true", help="only show the changes")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--kept", type=Path, default=Path("framework_detection.json"))
    parser.add_argument("--runs", type=Path, help="the Python that runs what a check has missed")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    kept: dict[str, Any] = json.loads(given.kept.read_text()) if given.kept.exists() else {}
    for program in PROGRAMS:
        names = [one for one in program.bugs if given.only in f"{program.name}: {one}"]
        path = given.clones / program.source / program.file
        text = path.read_text(encoding="utf-8")
        if given.diffs:
            for name in names:
                _show(program, name, text, changed(program, OPERATORS[name], text))
            continue
        _check(program, names, path, text, kept if not given.again else {}, kept)
        given.kept.write_text(json.dumps(kept, indent=1))
    if given.runs is not None:
        _run(given.clones, given.runs, given.only, kept, given.kept)
    if given.write is not None:
        before, _, rest = given.write.read_text(encoding="utf-8").partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        given.write.write_text(f"{before}{MARKS[0]}{table(kept)}{MARKS[1]}{after}", encoding="utf-8")
    elif not given.diffs:
        print(table(kept))


def changed(program: Program, operator: Operator, text: str) -> str:
    after = operator.applied(text)
    for word, meaning in program.words:
        after = after.replace(word, meaning)
    return after


def _show(program: Program, name: str, before: str, after: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    print(f"--- {program.name}: {name}\n" + "\n".join([*lines][2:]))


def _check(
    program: Program, names: list[str], path: Path, text: str, known: dict[str, Any], kept: dict[str, Any]
) -> None:
    """Keep which rules a check has more findings of in each changed program, and what it says of the unchanged one."""
    new = [one for one in names if f"{program.name}: {one}" not in known]
    if not new:
        return
    clean = _found(path)
    kept[program.name] = {"source": sorted(clean)}
    for name in new:
        found = _found(path, changed(program, OPERATORS[name], text)) - clean
        said = kept.setdefault(f"{program.name}: {name}", {})
        said["source"] = _speaking(OPERATORS[name], found)
        print("check" if said["source"] else "  -  ", program.name, name, said["source"], flush=True)


def _found(path: Path, text: str | None = None) -> Counter[tuple[str, str]]:
    texts = {} if text is None else {shown_path(str(path)): text.encode()}
    request = Request((str(path),), cached=False, importers=False, jobs=1, texts=texts, quiet=True)
    return Counter((one.code, str(one.level)) for one in run_check(request)[0].findings)


def _speaking(operator: Operator, found: Any) -> list[str]:
    return sorted({code for code, level in found if level != "info" and code in operator.codes.split()})


def _run(clones: Path, python: Path, only: str, kept: dict[str, Any], file: Path) -> None:
    """Ask the server of runs for each unchanged program, and for each bug that a check has missed."""
    environment = {
        **os.environ, "PYTHONPATH": str(HERE.parents[1]), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1", "WANDB_MODE": "disabled",
    }  # fmt: skip
    with subprocess.Popen(
        [str(python), "runs.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE,
        env=environment,
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdout.readline()
        for program in PROGRAMS:
            for name in ("", *program.bugs) if program.run is not None else ():
                key = f"{program.name}: {name}" if name else program.name
                said = kept.setdefault(key, {})
                if only not in key or "run" in said or (name and said.get("source")):
                    continue
                server.stdin.write(json.dumps(_job(clones, program, name)) + "\n")
                server.stdin.flush()
                answer = json.loads(server.stdout.readline())
                found = [(code, level) for code, level in answer["codes"]]
                said["ending"] = answer["how"]
                said["run"] = _speaking(OPERATORS[name], found) if name else sorted(found)
                print(
                    "run" if said["run"] else " - ",
                    key,
                    said["run"],
                    answer["how"],
                    answer.get("error", ""),
                    flush=True,
                )
                file.write_text(json.dumps(kept, indent=1))
        server.stdin.close()


def _job(clones: Path, program: Program, name: str) -> dict[str, Any]:
    assert program.run is not None
    text = (clones / program.source / program.file).read_text(encoding="utf-8")
    if name:
        text = changed(program, OPERATORS[name], text)
    for old, new in program.run.adapt:
        if old not in text:
            raise SystemExit(f"{program.name}: {old!r} is not there")
        text = text.replace(old, new)
    files = {"program.py": text}
    if program.run.driver:
        files["drive.py"] = program.run.driver
    script = "drive.py" if program.run.driver else "program.py"
    return {"files": files, "script": script, "arguments": program.run.arguments.split()}


if __name__ == "__main__":
    main()

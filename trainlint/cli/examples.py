"""What `--help` shows below the options: commands to copy."""

from __future__ import annotations

from collections.abc import Mapping

_ALL = {
    "trainlint check": "check the code in this folder",
    "trainlint run train.py": "record one real training step",
    "trainlint explain TL101": "what a rule means, and what to do",
}
_CHECK = {
    "trainlint check src/ train.py": "folders and files, read as one program",
    "trainlint check --select TL1,TL301": "some rules only; `trainlint rules` lists them",
    "trainlint check --diff": "show the safe fixes ...",
    "trainlint check --fix": "... and apply them",
    "trainlint check --watch": "again after every change",
    "trainlint check --changed-only main...": "only what this branch changed",
    "trainlint check --baseline known.json --write-baseline": "write all current findings to a baseline ...",
    "trainlint check --baseline known.json": "... and report only new ones",
    "trainlint check --output-format sarif --output-file out.sarif": "for code scanning",
    "cat net.py | trainlint check - --stdin-filename net.py": "code from standard input",
}
_RUN = {
    "trainlint run train.py --epochs 1": "options after the script are passed to it",
    "trainlint run --steps 20 train.py": "record more steps",
    "trainlint run -m package.train": "as `python -m` would",
    "trainlint run --report step.html train.py": "the step as one HTML file to look at",
    "trainlint run --save-trace step.json train.py": "save the recording ...",
    "trainlint run --from-trace step.json": "... and judge it again, without torch",
}
_COMPARE = {
    "trainlint compare good.json bad.json": "two recordings of `run --save-trace`",
    "trainlint compare good.json bad.json --report both.html": "side by side, to look at",
}
_EXPLAIN = {
    "trainlint explain TL301": "a rule's page, by its code",
    "trainlint explain missing-zero-grad": "and by its name",
}
_RULES = {
    "trainlint rules": "every rule, with a summary",
    "trainlint rules TL3": "those about the training loop",
    "trainlint rules --seen nan": "those that explain a loss of nan",
    "trainlint rules --output-format concise | grep gradient": "one line each",
}
_NEW_RULE = {
    "trainlint new-rule ACME101 full-dropout": "in the folder lint",
    "trainlint new-rule ACME101 full-dropout --folder tools/lint": "in another",
}
_TEST_RULES = {
    "trainlint test-rules": "all rules of the project's own",
    "trainlint test-rules lint/acme101_full_dropout": "one of them",
    "trainlint test-rules --no-run": "without running their programs",
}
_DOCTOR = {
    "trainlint doctor": "why is there no finding?",
    "trainlint doctor --output-format json src": "the same of a folder, for programs",
}
_CONFIG = {
    "trainlint config": "the settings for this folder",
    "trainlint config --output-format json": "the same, and which rules are on, for programs",
}


def _shown(examples: Mapping[str, str]) -> str:
    """Each command under what it is for; no line is wrapped or joined."""
    lines = [f"  # {about}\n  {command}" for command, about in examples.items()]
    return "\b\nExamples:\n" + "\n".join(lines)


ALL, CHECK, RUN, COMPARE, EXPLAIN, RULES, NEW_RULE, TEST_RULES, DOCTOR, CONFIG = map(
    _shown, (_ALL, _CHECK, _RUN, _COMPARE, _EXPLAIN, _RULES, _NEW_RULE, _TEST_RULES, _DOCTOR, _CONFIG)
)

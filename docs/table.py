"""The tables of rules and of symptoms: `python docs/table.py [symptoms]` prints one, and the site shows both."""

from __future__ import annotations

import sys

from trainlint.catalogue import described, symptoms


def table() -> str:
    """One row per rule, by code, each with a link to its page on the site."""
    rows = ["| code | name | level | fix | what is wrong |", "|---|---|---|---|---|"]
    for rule in described():
        fix = "yes" if rule.fixable else ""
        summary = rule.summary.replace("|", "\\|")
        page = f"rules/{rule.code.lower()}.md"
        rows.append(f"| [{rule.code}]({page}) | {rule.name} | {rule.level} | {fix} | {summary} |")
    return "\n".join(rows) + "\n"


def table_of_symptoms() -> str:
    """One row for each symptom, by the first rule that has it, with links to the pages of all that do."""
    found: dict[str, list[str]] = {}
    for rule in described():
        for seen in symptoms(rule.code):
            found.setdefault(seen, []).append(f"[{rule.code}](rules/{rule.code.lower()}.md)")
    rows = [f"| {seen.replace('|', chr(92) + '|')} | {', '.join(codes)} |" for seen, codes in found.items()]
    return "\n".join(["| what you see | look at |", "|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    print(table_of_symptoms() if sys.argv[1:] == ["symptoms"] else table(), end="")

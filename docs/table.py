"""The table of rules: `python docs/table.py` prints it, and the site shows it."""

from __future__ import annotations

from trainlint.catalogue import described


def table() -> str:
    """One row per rule, by code, each with a link to its page on the site."""
    rows = ["| code | name | level | fix | what is wrong |", "|---|---|---|---|---|"]
    for rule in described():
        fix = "yes" if rule.fixable else ""
        summary = rule.summary.replace("|", "\\|")
        page = f"rules/{rule.code.lower()}.md"
        rows.append(f"| [{rule.code}]({page}) | {rule.name} | {rule.level} | {fix} | {summary} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")

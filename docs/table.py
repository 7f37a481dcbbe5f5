"""Print the table of rules that stands in README.md: `python docs/table.py`."""

from trainlint.catalogue import described
from trainlint.rules import entries


def table() -> str:
    """One row per rule, by code, each with a link to its page."""
    pages = {entry.code: f"rules/{entry.folder.name}/README.md" for entry in entries()}
    rows = ["| code | name | level | fix | what is wrong |", "|---|---|---|---|---|"]
    for rule in described():
        page = pages.get(rule.code, "trainlint/unused_ignore.md")
        fix = "yes" if rule.fixable else ""
        summary = rule.summary.replace("|", "\\|")
        rows.append(f"| [{rule.code}]({page}) | {rule.name} | {rule.level} | {fix} | {summary} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")

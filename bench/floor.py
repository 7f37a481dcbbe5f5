"""The least that a linter built on libcst must do: parse the files that mention torch, and nothing more."""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path

import libcst


def main() -> None:
    warnings.simplefilter("ignore")
    for file in Path(sys.argv[1]).read_text().splitlines():
        data = Path(file).read_bytes()
        if b"torch" in data:
            try:
                ast.parse(data)
                libcst.parse_module(data)
            except (SyntaxError, ValueError, libcst.ParserSyntaxError):
                continue


if __name__ == "__main__":
    main()

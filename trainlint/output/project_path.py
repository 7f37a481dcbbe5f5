"""Paths as a service sees them that has checked the repository out."""

from __future__ import annotations

import os


def project_path(path: str, variable: str) -> str:
    """`path` from the folder that an environment variable names, where it is inside; else as it is."""
    root = os.environ.get(variable)
    if not root:
        return path
    absolute = os.path.abspath(path)
    inside = os.path.join(os.path.abspath(root), "")
    return absolute.removeprefix(inside).replace(os.sep, "/") if absolute.startswith(inside) else path

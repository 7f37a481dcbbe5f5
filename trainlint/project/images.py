"""Which torch the images bring that a project is built on, as its Dockerfiles say. Nothing of it is run."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ARG = re.compile(r"^\s*(?:ARG|ENV)\s+(?P<name>\w+)[= ]\"?(?P<value>[\w.+-]+)\"?\s*$", re.IGNORECASE)
_USE = re.compile(r"\$\{?(?P<name>\w+)(?::-(?P<default>[\w.+-]+))?\}?")
_FROM = re.compile(r"^\s*FROM\s+(?:--platform=\S+\s+)?(?P<image>\S+)", re.IGNORECASE)
_PYTORCH = re.compile(r"(?:.*/)?pytorch/pytorch:v?(?P<version>\d+\.\d+(?:\.\d+)?)(?:[-_].*)?")
_NVIDIA = re.compile(r"nvcr\.io/nvidia/pytorch:(?P<year>\d\d)\.(?P<month>\d\d)(?:[-_].*)?")

_NVIDIA_SINCE = {
    (18, 1): "0.4",
    (18, 11): "1.0",
    (19, 6): "1.1",
    (19, 8): "1.2",
    (19, 10): "1.3",
    (20, 1): "1.4",
    (20, 2): "1.5",
    (20, 6): "1.6",
    (20, 8): "1.7",
    (20, 11): "1.8",
    (21, 3): "1.9",
    (21, 7): "1.10",
    (21, 11): "1.11",
    (22, 3): "1.12",
    (22, 6): "1.13",
    (23, 3): "2.0",
    (23, 6): "2.1",
    (23, 11): "2.2",
    (24, 2): "2.3",
    (24, 5): "2.4",
    (24, 8): "2.5",
    (24, 11): "2.6",
    (25, 2): "2.7",
    (25, 5): "2.8",
}
"""The first release (year, month) of NVIDIA's image that brings a version of torch, by NVIDIA's release notes."""


def requirements_of_dockerfile(text: str) -> Iterator[str]:
    """The torch of each image that a Dockerfile begins from, in the notation of pip."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        if (given := _ARG.match(line)) is not None:
            values[given["name"]] = given["value"]
        if (begun := _FROM.match(line)) is not None:
            image = _USE.sub(lambda use: values.get(use["name"], use["default"] or ""), begun["image"])
            version = _version(image)
            if version:
                yield f"torch=={version}"


def _version(image: str) -> str:
    plain = _PYTORCH.fullmatch(image)
    if plain is not None:
        return plain["version"]
    nvidia = _NVIDIA.fullmatch(image)
    if nvidia is None:
        return ""
    release = (int(nvidia["year"]), int(nvidia["month"]))
    known = [version for since, version in _NVIDIA_SINCE.items() if since <= release]
    return known[-1] if known else ""

"""The formats that a command can write."""

from enum import Enum


class OutputFormat(str, Enum):
    text = "text"
    concise = "concise"
    json = "json"

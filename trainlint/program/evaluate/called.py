"""What a program calls its data loaders: `val_loader = DataLoader(...)` says what it is for before anybody draws from it."""

from __future__ import annotations

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.loaders import says_purpose
from trainlint.facts.model.values import Object, Value
from trainlint.program.source import syntax as s


def note(value: Value, name: object) -> None:
    """Keep the first name of a loader: it is made where it gets one; or the first that says what it is for."""
    if not isinstance(value, Object) or not isinstance(name, str) or not value.is_a(LOADER):
        return
    if not value.called or (says_purpose(name) and not says_purpose(value.called)):
        value.called = name


def note_dataset(value: Object, node: s.Call) -> None:
    """Keep what the program calls the dataset of a loader that this call has made: `DataLoader(val_set)`."""
    if value.reads or value.called or not value.is_a(LOADER):
        return
    given = next((one.value for one in node.args if one.keyword in (None, "dataset")), None)
    if isinstance(given, (s.Name, s.Attribute)):
        value.reads = given.name

"""The resources of a FHIR file: one, those of bundles in bundles, or one a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auscult.readers.contract import UnreadableError
from auscult.readers.records.fhir_resources import Resource
from auscult.readers.records.strict_json import strict_json

Problems = list[tuple[str, UnreadableError]]
"""What could not be read: where it stands, and why."""


def resources_of(text: str, lines: bool, problems: Problems) -> Iterator[Resource]:
    """Every resource of a file but bundles, in order, numbered from 1.

    Args:
        text: Of the file.
        lines: Whether it is called a file of lines. One that is not may still be: its first line is an object.
        problems: Lines that are no resource are told here.

    Raises:
        UnreadableError: It is neither JSON nor lines of JSON.
    """
    number = 0
    for where, value in _objects(text, lines, problems):
        held = [Resource(value)]
        while held:
            resource = held.pop()
            if resource.kind == "Bundle":
                inner = [
                    Resource(dict(each.values), full_url=entry.text("fullUrl"))
                    for entry in resource.each("entry")
                    for each in entry.each("resource")
                ]
                held += reversed(inner)
            elif resource.kind:
                number += 1
                yield replace(resource, number=number)
            else:
                problems.append((where, _no_resource("none")))


def _objects(text: str, lines: bool, problems: Problems) -> Iterator[tuple[str, dict[str, object]]]:
    """The objects of a file, and where each stands."""
    if not lines:
        try:
            value = strict_json(text)
        except UnreadableError:
            if not _is_object(text.lstrip().partition("\n")[0]):
                raise
        else:
            if isinstance(value, dict):
                yield "the file", value
            return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = strict_json(line)
        except UnreadableError as problem:
            problems.append((f"line {number}", problem))
            continue
        if isinstance(value, dict):
            yield f"line {number}", value
        else:
            problems.append((f"line {number}", _no_resource("another value")))


def _no_resource(got: str) -> UnreadableError:
    return UnreadableError("no resource", "a resource with its type", got, "leave it out, or export it again")


def _is_object(line: str) -> bool:
    try:
        return isinstance(strict_json(line), dict)
    except UnreadableError:
        return False


__all__ = ["Problems", "resources_of"]

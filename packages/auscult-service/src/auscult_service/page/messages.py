"""Sentences that Python code gives to templates. They are put into words of a language when a page is rendered.

The English text identifies a message, as usual with gettext. `babel.cfg` names the functions here, so that their texts
are collected into the catalogues like those of templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence or label.

    Attributes:
        text: In English, with `%(name)s` in the place of values.
        values: Values by name.
        context: Distinguishes messages with one English text; empty for most.
        plural: English text for several; empty where there is no number.
        number: Chooses the plural form; its value is `num`.
    """

    text: str
    values: Mapping[str, Said]
    context: str = ""
    plural: str = ""
    number: int = 0


class Either(tuple["Said", ...]):
    """Alternatives, which are listed with "or"."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class LanguageName:
    """The name of a language.

    Attributes:
        code: Its code of ISO 639-1.
    """

    code: str


Said: TypeAlias = Message | LanguageName | str | int | tuple["Said", ...]
"""What can be put into words: messages, names as they are, names of languages, numbers, and lists of these."""


def message(text: str, /, **values: Said) -> Message:
    """Return a message."""
    return Message(text, values)


def message_in(context: str, text: str, /, **values: Said) -> Message:
    """Return a message whose English text has another meaning elsewhere."""
    return Message(text, values, context)


def counted(one: str, several: str, number: int, /, **values: Said) -> Message:
    """Return a message about a number of things, which is `%(num)s` in the text."""
    return Message(one, {"num": number, **values}, plural=several, number=number)

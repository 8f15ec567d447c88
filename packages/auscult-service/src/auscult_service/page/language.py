"""Languages of the page: the one that a request is answered in, and the words, numbers and dates of each.

A cookie keeps the language that was chosen on the page. Without it, the browser's `Accept-Language` decides. The API,
the command line and the documentation are in English.
"""

from __future__ import annotations

import gettext
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from babel import Locale, negotiate_locale
from babel.dates import format_date, format_datetime, format_skeleton
from babel.lists import format_list
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from fastapi import Request

from auscult_service.page.messages import Either, LanguageName, Said

LANGUAGES: Final = MappingProxyType({"en": "English", "fr": "Français", "es": "Español", "de": "Deutsch"})
"""Languages of the page by code, each in its own words; the first is for requests that name none of them."""
COOKIE: Final = "language"
_LONGEST: Final = 500
_ACCEPTED: Final = re.compile(r"\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*|\*)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?")
_FORMS: Final = (("%Y-%m-%d", "date"), ("%Y-%m-%d %H:%M", "time"), ("%Y-%m", "month"))
"""Forms of dates that are put into words; others, such as a year, stay as they are."""


def language_of(request: Request) -> str:
    """Return the language to answer in: the chosen one, else the browser's first that the page has."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else _accepted_language(request.headers.get("accept-language", "")[:_LONGEST])


@lru_cache(maxsize=1024)
def _accepted_language(header: str) -> str:
    found = [each for part in header.split(",") if (each := _ACCEPTED.fullmatch(part))]
    weights = [(float(each[2] or 1), each[1]) for each in found]
    wanted = [tag.lower() for weight, tag in sorted(weights, key=lambda pair: -pair[0]) if weight > 0]
    return negotiate_locale(wanted, [*LANGUAGES], sep="-") or next(iter(LANGUAGES))


class Wording:
    """Words, numbers and dates of one language.

    Args:
        language: One of `LANGUAGES`.

    Attributes:
        translations: Its catalogue; English has none, as English texts identify messages.
    """

    def __init__(self, language: str) -> None:
        self._locale = Locale.parse(language)
        self._is_english = language == "en"
        self.translations = gettext.NullTranslations() if self._is_english else _read_catalogue(language)
        # Pages repeat small numbers, and the library takes longer than a template for each; as do dates.
        self.number = lru_cache(maxsize=4096)(self._format_number)
        self.date = lru_cache(maxsize=4096)(self._format_date)

    def say(self, said: Said) -> str:
        """Return something in words; a string, which is a name, as it is."""
        if isinstance(said, str):
            return said
        if isinstance(said, int):
            return self.number(said)
        if isinstance(said, tuple):
            return self._list(said)
        if isinstance(said, LanguageName):
            return self.language_name(said.code)
        if said.plural:
            text = self.translations.ngettext(said.text, said.plural, said.number)
        elif said.context:
            text = self.translations.pgettext(said.context, said.text)
        else:
            text = self.translations.gettext(said.text)
        return text % {name: self.say(value) for name, value in said.values.items()} if said.values else text

    def _format_date(self, text: str) -> str:
        """Return a date as the language writes it; English and incomplete dates as they are.

        English dates stay in ISO 8601: day and month change places between countries.
        """
        if self._is_english or not text[:4].isdigit():
            return text
        for form, kind in _FORMS:
            with suppress(ValueError):
                moment = datetime.strptime(text, form)
                if kind == "date":
                    return format_date(moment, "medium", locale=self._locale)
                if kind == "time":
                    return format_datetime(moment, "short", locale=self._locale)
                return format_skeleton("yMMM", moment, locale=self._locale)
        return text

    def language_name(self, code: str) -> str:
        """Return the name of a language by its code; an unknown code as it is."""
        return str(self._locale.languages.get(code.lower().partition("-")[0], code))

    def _format_number(self, number: int) -> str:
        return format_decimal(number, locale=self._locale)

    def _list(self, items: Sequence[Said]) -> str:
        said = [self.say(item) for item in items]
        return format_list(said, "or" if isinstance(items, Either) else "standard", self._locale)


@cache
def wording(language: str) -> Wording:
    """Return the wording of a language."""
    return Wording(language)


def _read_catalogue(language: str) -> gettext.GNUTranslations:
    """Read the catalogue of a language: some 20 ms, once."""
    path = files("auscult_service.page") / "translations" / language / "LC_MESSAGES" / "page.po"
    compiled = io.BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file, locale=language, abort_invalid=True))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)

"""Render templates in a language.

Values are escaped, and pages have no inline script or style. Each language has its own compiled templates, so that
their texts are looked up once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

from auscult_service.page.language import LANGUAGES, wording
from auscult_service.page.messages import counted
from auscult_service.page.problems import problem_of
from auscult_service.page.words import ASSERTIONS, LABELS, aspect_name, field_name

_PACKAGE: Final = "auscult_service.page"
_FOLDED: Final = {
    ("_", ("name", "lparen", "string", "rparen")): "gettext",
    ("pgettext", ("name", "lparen", "string", "comma", "string", "rparen")): "pgettext",
}
"""Calls whose arguments are constant, by function and kinds of tokens, with the method of the catalogue."""


class FoldedTexts(Extension):
    """Replaces calls with constant texts by their translation when a template is compiled.

    A page of hits has a hundred such calls; without this, rendering it takes twice as long.
    """

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Yield the tokens of a template, with one string in the place of each such call."""
        translations = self.environment.globals["translations"]
        tokens = list(stream)
        at = 0
        while at < len(tokens):
            for (function, kinds), method in _FOLDED.items():
                call = tokens[at : at + len(kinds)]
                if call[0].value == function and tuple(token.type for token in call) == kinds:
                    texts = [token.value for token in call if token.type == "string"]
                    yield Token(call[0].lineno, "string", getattr(translations, method)(*texts))
                    at += len(kinds)
                    break
            else:
                yield tokens[at]
                at += 1


def render(template: str, values: Mapping[str, Any]) -> str:
    """Render a template in the language of its page.

    Args:
        template: Its file's name.
        values: Its variables, `page` among them; a missing one is an error.
    """
    return _make_environment(values["page"].language).get_template(template).render(values)


@cache
def _make_environment(language: str) -> Environment:
    """Return the templates of a language. Filters put messages, numbers and dates into its words."""
    words = wording(language)
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    environment.policies["ext.i18n.trimmed"] = True
    # The newer style escapes values.
    environment.install_gettext_translations(words.translations, newstyle=True)  # type: ignore[attr-defined]
    environment.globals |= {
        "labels": LABELS,
        "languages": LANGUAGES,
        "static": _static_url,
        "translations": words.translations,
    }
    environment.add_extension(FoldedTexts)
    environment.filters |= {
        "said": words.say,
        "joined": lambda items: "; ".join(map(words.say, items)),
        "grouped": words.number,
        "dated": words.date,
        "documents": lambda number: words.say(counted("document", "documents", number)),
        "problem": lambda kind: words.say(problem_of(kind)),
        "percent": lambda share: f"{100 * share:.0f}\u202f%",
        "language": words.language_name,
        "assertion": lambda assertion: words.say(ASSERTIONS[assertion]),
        "field": lambda name: words.say(field_name(name)),
        "aspect": lambda name: words.say(aspect_name(name)),
        "capitalised": lambda text: text[:1].upper() + text[1:],
    }
    return environment


@cache
def _static_url(name: str) -> str:
    """Return the URL of a static file. It changes with the content, so browsers may store the file."""
    content = (files(_PACKAGE) / "static" / name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"

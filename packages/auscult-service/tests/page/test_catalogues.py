"""The catalogues of the page: complete, with the same values in each language; no text of a template is outside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, get_args

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po
from jinja2 import Environment, nodes

from auscult.schema import Assertion, JobTold
from auscult.search.certainty import Label
from auscult.understanding.aspects import QUESTIONS
from auscult_service.page.language import LANGUAGES, wording
from auscult_service.page.words import ASPECTS, ASSERTIONS, FIELDS, HEADINGS, LABELS, STANDINGS
from places import ROOT

SERVICE = ROOT / "packages" / "auscult-service"
PAGE = SERVICE / "src" / "auscult_service" / "page"
TEMPLATES = sorted(path.name for path in (PAGE / "templates").iterdir())
TRANSLATED = [language for language in LANGUAGES if language != "en"]
KEYWORDS: dict[str, Any] = {
    "_": None, "gettext": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2), "message": None,
    "message_in": ((1, "c"), 2), "counted": (1, 2),
}  # fmt: skip
#: What is called so in every language.
NAMES = {"Auscult", "CSV", "JSON"}
#: Attributes that people read.
READ = {"title", "alt", "placeholder", "aria-label", "aria-description", "label"}
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_VALUE = re.compile(r"%\(\w+\)s|%%|\{\}")
_TAG = re.compile(r"<[^>]+>")


def written() -> set[tuple[str | None, str | tuple[str, ...]]]:
    """All texts of the page: templates, and messages of its Python."""
    with (SERVICE / "babel.cfg").open(encoding="utf-8") as file:
        methods, options = parse_mapping_cfg(file)
    found = extract_from_dir(PAGE, methods, options, KEYWORDS)
    return {(context, text) for _, _, text, _, context in found}


def catalogue(language: str) -> Catalog:
    with (PAGE / "translations" / language / "LC_MESSAGES" / "page.po").open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


def messages(language: str) -> Iterator[tuple[Message, list[str], list[str]]]:
    """Each message with its English texts and its translations."""
    for each in catalogue(language):
        if each.id:
            english = [each.id] if isinstance(each.id, str) else [*each.id]
            yield each, english, [each.string] if isinstance(each.string, str) else [*each.string]


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_text_is_translated_and_none_else(language: str) -> None:
    assert {(each.context, each.id) for each, _, _ in messages(language)} == written()
    empty = [each.id for each, _, said in messages(language) if each.fuzzy or not all(said)]
    assert empty == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_have_the_same_values_and_tags(language: str) -> None:
    for each, english, said in messages(language):
        assert len(said) == (1 if len(english) == 1 else 2), each.id
        for form, translated in enumerate(said):
            source = english[min(form, len(english) - 1)]
            for pattern in (_VALUE, _TAG):
                assert sorted(pattern.findall(translated)) == sorted(pattern.findall(source)), (each.id, translated)
            assert translated.strip() == translated
            assert (translated[-1] in ".:") == (source[-1] in ".:"), (each.id, translated)


@pytest.mark.parametrize("language", TRANSLATED)
def test_punctuation_is_that_of_the_language(language: str) -> None:
    quotes = {"fr": "«»", "es": "«»", "de": "„“"}[language]
    for each, english, said in messages(language):
        for translated in said:
            text = _TAG.sub("", translated)
            assert not set(text) & (set("«»„“”\"'") - set(quotes)), (each.id, translated)
            if language == "fr":
                assert not re.search(r"[^\u00a0\u202f][:;?!»](?!\w|/)", re.sub(r"\w+:\d+", "", text)), translated
            assert ("?" in text) == ("?" in english[0]), translated


def test_words_of_the_product_are_all_there() -> None:
    assert set(ASPECTS) == set(QUESTIONS)
    assert set(LABELS) == set(get_args(Label))
    assert set(ASSERTIONS) == set(get_args(Assertion))
    standings = set(get_args(JobTold.__annotations__["standing"])) or {
        "waiting", "reading", "done", "failed", "interrupted",
    }  # fmt: skip
    assert set(STANDINGS) == set(HEADINGS) == standings


@pytest.mark.parametrize("names", [ASPECTS, LABELS, ASSERTIONS, FIELDS, STANDINGS])
def test_english_words_are_those_of_the_api(names: dict[str, Any]) -> None:
    assert {name: wording("en").say(said) for name, said in names.items()} == {
        name: name.replace("_", " ") for name in names
    }


class Literals(HTMLParser):
    """Collects the words of a page that people read."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        self.words += [value for name, value in attrs if name in READ and value]

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside != "kbd":
            self.words.append(data)


PLAIN = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)


def printed(node: nodes.Node) -> Iterator[str]:
    """The constant texts that an expression may print; a zero character for values."""
    if isinstance(node, nodes.TemplateData):
        yield node.data
    elif isinstance(node, nodes.Const):
        yield str(node.value)
    elif isinstance(node, (nodes.CondExpr, nodes.Or, nodes.And, nodes.Concat)):
        for child in node.iter_child_nodes(exclude=("test",)):
            yield from printed(child)
    elif isinstance(node, nodes.Filter) and node.node is not None:
        yield from printed(node.node)
    else:
        yield "\x00"


def literals(source: str) -> list[str]:
    """The texts of a template that no catalogue has."""
    tree = PLAIN.parse(source)
    classes = {
        each
        for block in tree.find_all(nodes.Block)
        if block.name == "body_class"
        for each in block.find_all(nodes.Output)
    }
    outputs = (each for each in tree.find_all(nodes.Output) if each not in classes)
    parser = Literals()
    parser.feed("".join(part for output in outputs for node in output.nodes for part in printed(node)))
    parser.close()
    texts = [text for words in parser.words for text in words.replace("\x00", " ").split()]
    return [text for text in texts if _LETTERS.search(text) and text.strip("·:+") not in NAMES]


def test_literals_of_a_template_are_found() -> None:
    assert literals('<p class="note" title="Hello {{ name }}">{{ _("said") }} there</p>') == ["Hello", "there"]
    assert literals('<i>{{ "Light" if dark else " Dark" }}</i>{{ x or "none"|upper }}') == ["Light", "Dark", "none"]
    assert literals('<p title="{{ _("x") }}"><kbd>Tab</kbd>{% trans %}all <b>said</b>{% endtrans %}</p>') == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_text_of_a_template_is_outside_catalogues(name: str) -> None:
    assert literals((PAGE / "templates" / name).read_text(encoding="utf-8")) == []

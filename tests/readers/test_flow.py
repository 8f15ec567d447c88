from __future__ import annotations

from auscult.readers.flow import Flow, has_words
from auscult.readers.tree import Piece, written


def piece(source: str, words: str) -> Piece:
    start = source.index(words)
    return Piece(words, start, start + len(words))


def test_adjacent_pieces_share_a_run_wide_whitespace_splits() -> None:
    source = "one two\n  three"
    flow = Flow()
    flow.add(piece(source, "one "))
    flow.add(piece(source, "two\n  three"))
    assert flow.text == "one two three"
    assert flow.runs.tolist() == [(0, 7, 0, 7), (7, 8, 7, 10), (8, 13, 10, 15)]


def test_a_single_whitespace_becomes_a_space_within_runs() -> None:
    flow = Flow()
    flow.add(Piece("a\tb\nc", 0, 5))
    assert flow.text == "a b c"
    assert flow.runs.tolist() == [(0, 5, 0, 5)]


def test_inserted_text_belongs_to_no_run() -> None:
    flow = Flow()
    flow.marker("- ")
    flow.add(Piece("a", 4, 5))
    flow.block()
    flow.add(written("of ours"))
    flow.line()
    flow.add(Piece("&", 7, 12))
    assert flow.text == "- a\n\nof ours\n&"
    assert flow.runs.tolist() == [(2, 3, 4, 5), (13, 14, 7, 12)]


def test_sections_know_the_headings_above() -> None:
    flow = Flow()
    for level, words in ((1, "Gout"), (3, "Deep"), (2, "Signs"), (3, "Skin"), (2, "Care")):
        flow.begin_heading(level)
        flow.add(written(words))
        flow.end_heading()
        flow.add(written(f"On {words}."))
    sections, paths = flow.sections(flow.headings[0])
    assert [(section.heading, section.text) for section in sections] == [
        ("", "On Gout."),
        ("Deep", "On Deep."),
        ("Signs", "On Signs."),
        ("Skin", "On Skin."),
        ("Care", "On Care."),
    ]
    assert paths == [(), (), (), ("Signs",), ()]
    assert flow.sections()[1] == [(), ("Gout",), ("Gout",), ("Gout", "Signs"), ("Gout",)]


def headed(*headings: tuple[int, str, str]) -> Flow:
    flow = Flow()
    for level, words, below in headings:
        flow.begin_heading(level)
        flow.add(written(words))
        flow.end_heading()
        flow.add(written(below))
    return flow


def test_a_heading_without_text_becomes_its_own_section() -> None:
    flow = headed(
        (1, "Warfarin", ""),
        (2, "Dose", "5 mg."),
        (2, "Do NOT give with fluconazole", ""),
        (2, "Treatment", ""),
        (3, "INR above 8: give vitamin K 5 mg", "\u2014"),
        (3, "Bleeding", ""),
        (4, "* * *", ""),
        (1, "Last", ""),
    )
    sections, paths = flow.sections()
    assert [(section.heading, section.text, path) for section, path in zip(sections, paths, strict=True)] == [
        ("Dose", "5 mg.", ("Warfarin",)),
        ("Do NOT give with fluconazole", "Do NOT give with fluconazole", ("Warfarin",)),
        ("INR above 8: give vitamin K 5 mg", "INR above 8: give vitamin K 5 mg", ("Warfarin", "Treatment")),
        ("Bleeding", "Bleeding", ("Warfarin", "Treatment")),
        ("Last", "Last", ()),
    ]
    assert all(flow.text[each.start : (each.start or 0) + len(each.text)] == each.text for each in sections)


def test_a_title_without_text_becomes_an_unheaded_section() -> None:
    flow = headed((1, "Do NOT give with fluconazole", ""), (1, "Dose", "5 mg."))
    sections, paths = flow.sections(flow.headings[0])
    assert [(each.heading, each.text) for each in sections] == [("", "Do NOT give with fluconazole"), ("Dose", "5 mg.")]
    assert paths == [(), ()]


def test_no_word_of_a_heading_is_lost() -> None:
    levels = [1, 2, 2, 3, 1, 3, 2, 4, 4, 1]
    for bare in range(1 << len(levels)):
        words = [(level, f"head{place}", "" if bare >> place & 1 else "Words.") for place, level in enumerate(levels)]
        sections, paths = headed(*words).sections()
        told = {word for section, path in zip(sections, paths, strict=True) for word in (section.heading, *path)}
        assert told == {name for _, name, _ in words}


def test_words_have_a_letter_or_a_digit() -> None:
    assert has_words("… 7")
    assert not has_words(" —\u200b…")

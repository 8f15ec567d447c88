"""Texts that break splitters and offsets, made by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

# Anything, with what breaks splitters made likely: line ends, NUL, RTL, emoji, marks, lone surrogates.
LIKELY = [
    "\r\n",
    "\n- ",
    "\n1. ",
    "\0",
    "\u202e",
    "שלום.",
    "😀",
    ". ",
    "? ",
    '"',
    "”",
    ")",
    "(",
    "p.o. ",
    "Dr. ",
    "\u2028",
]
ANY_TEXT = st.lists(
    st.one_of(st.sampled_from(LIKELY), st.text(max_size=6), st.characters(categories=["Cs"])), max_size=40
).map("".join)


def visible(text: str) -> str:
    return "".join(text.split())

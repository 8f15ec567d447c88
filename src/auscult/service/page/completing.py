"""What goes on from the words in the box: names of diseases, drugs and titles, and questions about the first."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from auscult.concepts.names import FUNCTION_WORDS
from auscult.service.caller import Asking, allowed
from auscult.service.completing import Names
from auscult.service.routes.answers import Stated, audited
from auscult.understanding.aspect_words import question_about

router = APIRouter(include_in_schema=False)
_MOST: Final = 8
_QUESTIONS: Final = ("symptoms", "treatment", "causes", "diagnosis")
_TAIL: Final = 4
_SHORTEST: Final = 2


@router.get("/complete")
def complete(request: Request, caller: Asking, state: Stated, q: str = "", index: str = "") -> Response:
    """Suggestions for the box, best first: `text` is what it then holds."""
    audited(request, "complete", index=index)
    allowed(caller, "read", index or None)
    names = state.served(index or None, caller).opened.names_for(caller.groups)
    return JSONResponse({"options": options(names, q[:200])}, headers={"Cache-Control": "no-store"})


def options(names: Names, typed: str) -> list[dict[str, str]]:
    """What a box may hold next: names that begin with all that was typed, else with its last words."""
    begun, found = _found(names, typed)
    told = [
        {
            "text": f"{begun}{each.name}",
            "name": each.name,
            "how": f"also called {each.matched}" if each.matched.casefold() != each.name.casefold() else "",
            "code": each.code if not each.code.startswith("title:") else "",
        }
        for each in found
    ]
    if told and not begun:
        questions = (question_about(aspect, found[0].name) for aspect in _QUESTIONS)
        told += [{"text": question, "name": question, "how": "", "code": ""} for question in questions]
    return told[:_MOST]


def _found(names: Names, typed: str) -> tuple[str, list[Any]]:
    """The words before those that are completed, and what completes them."""
    words = typed.split(" ")
    for number in (len(words), *range(min(_TAIL, len(words) - 1), 0, -1)):
        tail = " ".join(words[len(words) - number :])
        inside = number < len(words)
        if len(tail.strip()) >= (_SHORTEST if inside else 1) and not (
            inside and words[-number].lower() in FUNCTION_WORDS
        ):
            found = names.complete(tail, _MOST if number < len(words) else _MOST - 3).entities
            if found:
                return " ".join((*words[: len(words) - number], "")) if number < len(words) else "", list(found)
    return "", []

"""List the aspects that questions may ask for: the words that ask for each, and an example question.

Words that are often part of a name ("Diabetes and pregnancy", "Farm safety") count only in a longer phrase. To add
an aspect, add a row here and name it as headings name it. A test reads every example.
"""

# ruff: noqa: E501 - one aspect a line, however long
from __future__ import annotations

import re
from dataclasses import dataclass

from auscult.concepts.aspects import INFORMATION
from auscult.concepts.names import normalise_name


@dataclass(frozen=True, slots=True)
class AspectWords:
    """An aspect, a pattern of the words that ask for it, and an example question that asks for nothing else."""

    aspect: str
    pattern: re.Pattern[str]
    example: str


# Left: the aspect. Middle: words that ask for it. Right: an example.
_TABLE = (
    # illnesses
    ("symptoms", r"symptoms?|signs?|know if|(?:feels?|looks?) like|presentation|manifestations?", "What are the symptoms of gout?"),
    ("treatment", r"treat(?:ed|ment|ments|ing)?|therap(?:y|ies)|cures?|cured|get rid of|medications?|medicines?|meds|drugs?|remed(?:y|ies)|surgery", "How is gout treated?"),
    ("diagnosis", r"diagnos(?:is|e|ed|ing|tic)(?! (?:\w+ )?(?:with|as)\b)|tests?|exams?|detect(?:ed|ion)?|screening", "Which tests are done for gout?"),
    ("causes", r"causes?|caused|reasons?|triggers?|a?etiology|pathogenesis|why", "What causes gout?"),
    ("diet", r"(?:diets?|dietary|foods?)(?: (?:to|(?:should|can|must) (?:i|we|you)) (?:eat|avoid|drink))?|(?:to|should i|can i) (?:eat|drink)", "What should I eat if I have gout?"),
    ("prevention", r"prevent(?:ion|ed|ing)?|avoid(?:ed|ing)?|vaccines?|vaccination|protect(?:ion)?", "How can I prevent gout?"),
    ("prognosis", r"outlook|prognosis|life (?:expectancy|span)|lifespan|how long (?:can|do|does|will)(?= .{1,60}?\b(?:live\b|have(?! to (?!live))))|survival|survive|curable|fatal|deadly|recover(?:y|ed|s)?|get(?:s|ting)? worse|(?:it|this) (?:serious|dangerous)|mortality", "What is the outlook for gout?"),
    ("inheritance", r"inherit(?:ed|ance)?|hereditary|runs? in (?:the )?famil(?:y|ies)|pass(?:ed|es|ing)? (?:it |this )?(?:on|down)(?: to)?", "Does gout run in families?"),
    ("genetics", r"genetics?(?: (?:changes?|mutations?|causes?))?|genes?(?: that)? causes?|genes?|mutations?|chromosomes?", "Which genes cause gout?"),
    ("risk factors", r"risks?(?: factors?)?|(?:chances?|odds|likelihood) of (?:getting|developing)|susceptib(?:le|ility)|likely to get", "Who is at risk for gout?"),
    ("frequency", r"how (?:many|common|rare|often)|prevalence|incidence|frequen(?:cy|t)|epidemiology|statistics", "How common is gout?"),
    ("complications", r"complications?|consequences|long[- ]term effects", "What are the complications of gout?"),
    ("staging", r"stages?|staging|grades?|phases?", "What are the stages of gout?"),
    ("research", r"clinical trials?|research|studies", "Are there clinical trials for gout?"),
    ("transmission", r"contagious|transmi(?:ssion|tted|ssible)|spread(?:s|ing)?|catching|catch (?:it|this|that)", "Is gout contagious?"),
    ("management", r"manag(?:e|ed|es|ement|ing)|liv(?:e|ing) with|cop(?:e|ing)|self[- ]care|lifestyle|what (?:to|(?:can|could|should) (?:i|we|you)) do (?:for|about)", "How do I live with gout?"),
    ("when to see a doctor", r"(?:see|call|visit|contact) (?:a|the|my) (?:doctor|physician|specialist)", "When should I see a doctor about gout?"),
    ("support groups", r"support groups?", "Where can I find support groups for people with gout?"),
    # tests and operations
    ("procedure", r"how (?:is|are)(?= .{1,60}? (?:done|performed|carried out)\b)|how the test is performed", "How is a biopsy done?"),
    ("preparation", r"prepar(?:e|ing) (?:myself )?for|preparations? for|get ready for", "How do I prepare for a biopsy?"),
    # medicines
    ("uses", r"(?:used|prescribed|indicated|taken) for|why (?:is|are)(?= .{1,60}?\b(?:prescribed|used|taken|given)\b)|who should (?=get|take|use)|why get vaccinated|indications?", "What is colchicine used for?"),
    ("administration", r"how (?:to|(?:should|do|can) (?:i|you|we)) (?:take|use|apply|inject)|how (?:should|must|can|is|are)(?= .{1,60}?\b(?:used|taken|given|administered|applied|injected)\b)|administ(?:er|ered|ration)|with food|empty stomach", "How should I take colchicine?"),
    ("missed dose", r"(?:miss(?:ed)?|forg[eo]t|skip(?:ped)?) (?:to take |taking |a |my |one |the )*(?:doses?|pills?|tablets?)", "What should I do if I forget a dose of colchicine?"),
    ("dosage", r"dosages?|doses?|dosing|how (?:much|many)(?= .{1,40}? (?:take|give)\b)|how much(?= .{1,40}? for\b)", "How much colchicine can I take in a day?"),
    ("overdose", r"(?:an|of|or|on) overdose|overdose (?:of|on|with)|overdosed|(?:take|took|taken|taking) too (?:much|many)", "What happens if I take too much colchicine?"),
    ("side effects", r"side[- ]?[ea]ffects?|(?:adverse|allergic|bad|severe) (?:effects?|reactions?|events?)|addictive", "Does colchicine have side effects?"),
    ("interactions", r"interact(?:s|ion|ions|ing)?|(?:take|taken|taking|mix|mixed|mixing|combine|combined|safe)(?= (?!.{0,40}\bwith(?:out)? (?:food|meals?|milk|water|an empty)).{0,40}?\b(?:with|together)\b)|(?:and|with) other (?:medications?|medicines?|drugs?)|(?:what|which) (?:other )?(?:medications?|medicines?|drugs?)(?= .{0,20}interact)", "Can I take colchicine with simvastatin?"),
    ("contraindications", r"contra-?indicat(?:ed|ion|ions)|who (?:should not|shouldn'?t|cannot|can'?t) (?:take|use|get)", "Who should not take colchicine?"),
    ("precautions", r"precautions?|warnings?|safe(?:ly)?|safety (?:concerns|of)", "Is colchicine safe?"),
    ("pregnancy", r"pregnant|(?:in|during|my|of|for) (?:the |early |late )?pregnancy|unborn", "Can I take colchicine while I am pregnant?"),
    ("breastfeeding", r"breast[- ]?(?:feed|feeding|fed)|nursing|lactation", "Can I take colchicine while breastfeeding?"),
    ("withdrawal", r"withdrawal(?: symptoms| effects)?|(?:stop|stopp(?:ed|ing)|quit|quitting) (?:taking|using)|(?:come|coming|get|getting|wean|weaning|taper|tapering) off|discontinu(?:e|ed|ing|ation)", "What happens if I stop taking colchicine?"),
    ("storage", r"stor(?:ed?|age|ing)|refrigerat(?:ed?|ion|or)|expir(?:es?|ed|ation|y)|shelf life|dispos(?:al|ed?)", "How should colchicine be stored?"),
    ("brand names", r"(?:brand|trade|generic) names?", "What are the brand names of colchicine?"),
    ("mechanism of action", r"mechanisms? of action|how (?:does|do)(?= .{1,60}? work\b)", "How does colchicine work?"),
    ("effectiveness", r"effective(?:ness)?|efficacy|how well (?:does|do)", "How effective is colchicine?"),
    ("cost", r"costs?|prices?|expensive|affordable", "How much does colchicine cost?"),
)  # fmt: skip

ASPECT_WORDS = tuple(
    AspectWords(aspect, re.compile(rf"\b(?:{words})\b", re.IGNORECASE), example) for aspect, words, example in _TABLE
)


def aspects_at(text: str) -> list[tuple[int, int, str]]:
    """Return where a text asks for which aspects, as (start, end, aspect), in order.

    Where matches overlap, only the longest counts: "a missed dose" does not also ask for the dosage.
    """
    matches = [(*match.span(), words.aspect) for words in ASPECT_WORDS for match in words.pattern.finditer(text)]
    chosen: list[tuple[int, int, str]] = []
    for start, end, aspect in sorted(matches, key=lambda span: span[0] - span[1]):
        if all(end <= first or last <= start for first, last, _ in chosen):
            chosen.append((start, end, aspect))
    return sorted(chosen)


def aspects_named(text: str) -> tuple[str, ...]:
    """Return the aspects that a text asks for, without repeats, in the order of the text."""
    return tuple(dict.fromkeys(aspect for *_, aspect in aspects_at(text)))


def without_aspects(text: str) -> str:
    """Return the text with a null character for each character of a word that asks for an aspect."""
    for start, end, _ in aspects_at(text):
        text = text[:start] + "\0" * (end - start) + text[end:]
    return text


_FORMS = (
    "symptom treatment medication medicine diagnosis diagnosed prevention prevented prognosis inherited hereditary "
    "complication contagious dosage overdose interaction effect pregnancy pregnant breastfeeding withdrawal prescribed "
    "generic surgery vaccine research transmission inheritance recovery survival"
)
ASKING_WORDS = tuple(
    dict.fromkeys(
        word
        for text in (_FORMS, *(f"{words.aspect} {words.example}" for words in ASPECT_WORDS))
        for word in normalise_name(text).split()
    )
)
"""Normalised words that questions are worded with; a misspelt word may be one of them."""
_ASKED_OF = re.compile(r"gout|colchicine|a biopsy|biopsy", re.IGNORECASE)
QUESTIONS = {words.aspect: words.example for words in ASPECT_WORDS}
"""A question that asks for each aspect."""


def question_about(aspect: str, name: str) -> str:
    """Return a question for an aspect of something as people word it; for information, "What is gout?"."""
    example = "What is gout?" if aspect == INFORMATION else QUESTIONS.get(aspect, f"{aspect.capitalize()} of gout?")
    return _ASKED_OF.sub(lambda _: name, example)

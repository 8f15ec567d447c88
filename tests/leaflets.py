"""Short leaflets written for the tests, and documents made of generated words."""

from __future__ import annotations

import random

from auscult.documents import Document, Passage, Section, Sentence, build_document

_TOPICS = {
    "IgA nephropathy": ("kidneys", "blood in the urine", "angiotensin blockers"),
    "Migraine": ("head", "throbbing pain and nausea", "triptans"),
    "Asthma": ("airways", "wheezing and coughing", "inhaled corticosteroids"),
    "Gout": ("joints", "sudden swelling of the big toe", "allopurinol"),
}


def leaflets() -> list[Document]:
    """Four documents of three passages, from two sources."""
    documents = []
    for n, (name, (place, sign, drug)) in enumerate(_TOPICS.items()):
        slug = name.lower().replace(" ", "-")
        overview = f"{name} is a condition of the {place}. It is not contagious. Doctors see it every day."
        symptoms = f"A common sign is {sign}. The symptoms may come and go.\n- tiredness\n- fever"
        treatment = f"Treatment often begins with {drug}. Ask your doctor before you stop a medicine."
        documents.append(
            build_document(
                doc_id=f"leaflet-{slug}",
                title=name,
                sections=[
                    Section("What is it?", overview, f"{slug}-1", "information"),
                    Section("Symptoms", symptoms, f"{slug}-2", "symptoms"),
                    Section("Treatment", treatment, f"{slug}-3", "treatment"),
                ],
                source="North" if n % 2 else "South",
                url=f"https://example.org/{slug}",
                entity_ids=(f"X:{n}",),
                metadata={"audience": "patients"},
            )
        )
    return documents


def generated(count: int, seed: int = 0, prefix: str = "doc") -> list[Document]:
    """Documents of 1-4 passages of 0-6 sentences of invented words; one in ten repeats the one before it."""
    chance = random.Random(seed)
    documents: list[Document] = []
    texts: list[tuple[str, tuple[Passage, ...]]] = []
    for n in range(count):
        text, passages = texts[-1] if texts and chance.random() < 0.1 else _words(chance)
        texts.append((text, passages))
        named = tuple(
            Passage(f"{prefix}{n}-{i}", p.heading, p.start, p.end, p.sentences) for i, p in enumerate(passages)
        )
        documents.append(Document(f"{prefix}{n}", f"topic {n % 17}", text, named, source=f"s{n % 3}"))
    return documents


def _words(chance: random.Random) -> tuple[str, tuple[Passage, ...]]:
    text = ""
    passages = []
    for _ in range(chance.randint(1, 4)):
        start = len(text)
        sentences = []
        for _ in range(chance.randint(0, 6)):
            words = " ".join(f"wört{chance.randint(0, 200)}" for _ in range(chance.randint(3, 9))) + "."
            sentences.append(Sentence(len(text), len(text) + len(words), begins_paragraph=True))
            text += words + " "
        passages.append(Passage("", f"heading {chance.randint(0, 9)}", start, len(text), tuple(sentences)))
        text += "\n"
    return text, tuple(passages)

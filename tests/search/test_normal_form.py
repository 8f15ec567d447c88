"""A word in another spelling finds the same passage first, about as surely, whichever of them the documents use."""

from __future__ import annotations

import pytest

from auscult.concepts import normalise_name
from auscult.concepts.word_counts import count_words
from auscult.documents import Section, build_document
from auscult.encoders import load_model
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.understanding import Query
from auscult.understanding.reading import ASKING_WORDS
from auscult.understanding.spelling import SpellingOfWords

# Two spellings; a question; and the two passages of the document that answers it, with a place for the word.
PAIRS = (
    ("hemophilia", "haemophilia", "How is {} treated?",
     "{} is an inherited disorder in which blood does not clot as it should. It mostly affects boys.",
     "People with {} are given the missing clotting factor through a vein, to stop a bleed or to prevent one."),
    ("anemia", "anaemia", "What are the symptoms of {}?",
     "In {} there are too few red blood cells to carry oxygen. Many women have it without knowing.",
     "{} makes people tired, pale and short of breath. Some feel their heart beat fast."),
    ("celiac disease", "coeliac disease", "What can I eat with {}?",
     "{} is a reaction of the gut to gluten, a protein of wheat, barley and rye.",
     "With {} rice, maize and potatoes are safe to eat. Bread and pasta are not, unless made without gluten."),
    ("esophageal varices", "oesophageal varices", "What causes {}?",
     "{} are swollen veins in the lower gullet, and may bleed heavily.",
     "{} are caused by scars in the liver, which hold back the blood that flows through it."),
    ("diarrhea", "diarrhoea", "How can I stop {} in a child?",
     "{} means loose, watery stools three times a day or more.",
     "Give a child with {} small sips of oral rehydration solution. Zinc shortens the illness."),
    ("leukemia", "leukaemia", "How is {} diagnosed?",
     "{} is a cancer of the cells from which white blood cells grow.",
     "{} is diagnosed by a blood count and by looking at bone marrow under the microscope."),
    ("Wilms tumor", "Wilms tumour", "What is the outlook for {}?",
     "{} grows in the kidney of young children.",
     "Nine of ten children with {} are alive five years later, if it has not spread."),
    ("leg edema", "leg oedema", "Which medicines are used for {}?",
     "{} is a swelling by fluid which stays in the tissue.",
     "For {} doctors prescribe furosemide or another diuretic, and stockings that press."),
    ("pediatric migraine", "paediatric migraine", "What triggers {}?",
     "{} is a headache with nausea in those below eighteen.",
     "{} is set off by missed meals, short nights and bright light."),
    ("brain hemorrhage", "brain haemorrhage", "What should I do after a {}?",
     "A {} is bleeding inside the skull.",
     "After a {} lie still, call an ambulance and take no aspirin. Surgeons may have to let the blood out."),
    ("chest x-ray", "chest xray", "How should I prepare for a {}?",
     "A {} is a picture of heart and lungs.",
     "For a {} take off necklaces and tell the staff whether you may be pregnant."),
    ("Sjogren syndrome", "Sj\u00f6gren syndrome", "What are the complications of {}?",
     "In {} the glands that make tears and spittle are attacked.",
     "{} may lead to tooth decay, ulcers of the cornea and, seldom, lymphoma."),
    ("beta-blocker", "\u03b2-blocker", "What are the side effects of a {}?",
     "A {} slows the heart and lowers blood pressure.",
     "With a {} hands and feet may be cold. Slow pulse, bad dreams and tiredness are common."),
    ("factor 8 deficiency", "factor VIII deficiency", "How is {} inherited?",
     "{} is a lack of one protein of clotting.",
     "{} is passed on with the X chromosome: mothers carry it and sons have it."),
    ("liver metastasis", "liver metastases", "Is surgery possible for {}?",
     "{}: a cancer elsewhere in the body has spread to the liver.",
     "Surgeons can cut out {} when enough of the liver is left. Heat destroys small ones."),
    ("alpha-1 antitrypsin deficiency", "\u03b11-antitrypsin deficiency", "Who should be tested for {}?",
     "In {} the lungs lack a protein that guards them.",
     "Brothers and sisters of a person with {} should be tested, as should all with emphysema below fifty."),
)  # fmt: skip


@pytest.fixture(scope="module", params=[0, 1], ids=["first", "second"])
def spelt(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Searcher]:
    """Which spelling the documents use, and a searcher of them."""
    number = int(request.param)
    encoder = load_model("fast")
    documents = [
        build_document(
            doc_id=f"d{place}",
            title="",
            sections=[Section("", text.format(words[number])) for text in words[3:]],
        )
        for place, words in enumerate(PAIRS)
    ]
    folder = tmp_path_factory.mktemp("spelt") / "index"
    build_index(documents, encoder, folder)
    return number, Searcher.open(folder, encoder)


def best_passage(searcher: Searcher, question: str) -> tuple[str, float]:
    """The first passage for a question, and how probable it is that it answers."""
    query = searcher.understand(Query("", "", text=question)).query
    (hit,) = searcher.search(query, 1)
    assert hit.probability is not None
    return hit.text, hit.probability


@pytest.mark.parametrize("words", PAIRS, ids=[words[0] for words in PAIRS])
def test_either_spelling_finds_the_same_as_surely(spelt: tuple[int, Searcher], words: tuple[str, ...]) -> None:
    number, searcher = spelt
    (first, sure), (other, other_sure) = (best_passage(searcher, words[2].format(name)) for name in words[:2])
    assert first == other
    assert first in [text.format(words[number]) for text in words[3:]]
    assert abs(sure - other_sure) < 0.1


def test_another_spelling_is_no_misspelling() -> None:
    names = [normalise_name(name) for pair in PAIRS for name in pair[:2]]
    spelling = SpellingOfWords(count_words(names), ASKING_WORDS)
    for pair in PAIRS:
        for name in pair[:2]:
            question = pair[2].format(name)
            assert spelling.correct(question, lambda _: False) == (question, ())
    assert spelling.correct("haemophillia", lambda _: False)[0] == "hemophilia"

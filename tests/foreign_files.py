"""Small files of names in the formats of those who publish them."""

from __future__ import annotations

from pathlib import Path

# Columns and order as of hp-de.babelon.tsv and hp-es.babelon.tsv, which differ.
_GERMAN = """\
source_language source_value subject_id predicate_id translation_language translation_value translation_status \
translator translator_expertise translation_date comment
en|Stroke|HP:0001297|rdfs:label|de|Schlaganfall|OFFICIAL|orcid:0000-0002-0736-9199|DOMAIN_EXPERT|2024-12-10|
en|Headache|HP:0002315|rdfs:label|de|Kopfschmerzen|CANDIDATE|DeepL|ALGORITHM|2024-05-08|preview
en|Facial diplegia|HP:0001349|rdfs:label|de|Facialis-Diplegie|CANDIDATE|DeepL|ALGORITHM|2024-05-08|preview
en|Pain in the head|HP:0002315|IAO:0000115|de|Schmerz im Kopf|CANDIDATE|DeepL|ALGORITHM|2024-05-08|
en|Nausea|HP:0002018|rdfs:label|de||NOT_TRANSLATED||||
"""
_SYNONYMS = (
    "subject_id\ttranslation_value\tcomment\n"
    "ID\tAL oboInOwl:hasExactSynonym@fr\t\n"
    "HP:0001297\taccident vasculaire cérébral|AVC\tsynonyms of HP:0001297 (Stroke)\n"
)
_ONTOLOGY = """\
source_id predicate source_text translation_text translator source_lang translation_lang status
DOID:13189|oboInOwl:hasExactSynonym|Articular gout|Gota articular|The Spanish Group|en|es|MANUALLY TRANSLATED
DOID:13189|rdfs:label|gout|gota|The Spanish Group|en|es|MANUALLY TRANSLATED
DOID:13189|IAO:0000115|Crystals in joints.|Cristales en las articulaciones.|The Spanish Group|en|es|MANUALLY TRANSLATED
"""
ORPHADATA = """\
<?xml version="1.0" encoding="ISO-8859-1"?>
<JDBOR date="2025-12-09 07:00:00" version="1.3.42 / 4.1.8" copyright="Orphanet (c) 2025">
  <Availability><Licence>
    <FullName lang="de">Creative Commons Attribution 4.0 International</FullName>
    <ShortIdentifier>CC-BY-4.0</ShortIdentifier>
  </Licence></Availability>
  <DisorderList count="2">
    <Disorder id="2">
      <OrphaCode>58</OrphaCode>
      <ExpertLink lang="de">http://www.orpha.net/consor/cgi-bin/OC_Exp.php?lng=de&amp;Expert=58</ExpertLink>
      <Name lang="de">Alexander-Krankheit</Name>
      <SynonymList count="1"><Synonym lang="de">Morbus Alexander</Synonym></SynonymList>
      <DisorderType id="21394"><Name lang="de">Krankheit</Name></DisorderType>
      <ExternalReferenceList count="1">
        <ExternalReference id="3"><Source>OMIM</Source><Reference>203450</Reference>
          <DisorderMappingRelation id="21527"><Name lang="de">E (Exakte Zuordnung)</Name></DisorderMappingRelation>
        </ExternalReference>
      </ExternalReferenceList>
      <DisorderDisorderAssociationList count="1"><DisorderDisorderAssociation>
        <RootDisorder id="7"><OrphaCode>9</OrphaCode><Name lang="de">Andere Störung</Name></RootDisorder>
      </DisorderDisorderAssociation></DisorderDisorderAssociationList>
    </Disorder>
    <Disorder id="3">
      <OrphaCode>101</OrphaCode>
      <Name lang="de">Große Störung</Name>
      <SynonymList count="0"/>
      <ExternalReferenceList count="1">
        <ExternalReference id="4"><Source>ICD-10</Source><Reference>M10</Reference>
          <DisorderMappingRelation id="21529"><Name lang="de">NTBT (enger gefasst)</Name></DisorderMappingRelation>
        </ExternalReference>
      </ExternalReferenceList>
    </Disorder>
  </DisorderList>
</JDBOR>
"""


def _table(text: str) -> str:
    head, *rows = text.splitlines()
    return "\n".join([head.replace(" ", "\t"), *(row.replace("|", "\t") for row in rows)]) + "\n"


def write_name_files(folder: Path) -> dict[str, Path]:
    """Write one file of each kind, and return them by what they are."""
    contents = {
        "babelon": ("hp-de.babelon.tsv", _table(_GERMAN)),
        "synonyms": ("hp-fr.synonyms.tsv", _SYNONYMS),
        "ontology": ("doid-es-translated.tsv", _table(_ONTOLOGY)),
    }
    for name, text in contents.values():
        (folder / name).write_text(text, encoding="utf-8")
    orphadata = folder / "de_product1.xml"
    orphadata.write_text(ORPHADATA, encoding="iso-8859-1")
    return {**{kind: folder / name for kind, (name, _) in contents.items()}, "orphadata": orphadata}

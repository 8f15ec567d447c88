"""Corpora: one file per source, the catalogue of what can be had, and opening one by name or path."""

from auscult.catalogue import catalogue, data_dir, locate
from auscult_lab.corpora.medquad import MedQuadCorpus, MedQuadXmlCorpus
from auscult_lab.corpora.opening import open_corpus

__all__ = ["MedQuadCorpus", "MedQuadXmlCorpus", "catalogue", "data_dir", "locate", "open_corpus"]

"""Evaluation: protocols, measures, statistics, error classes, tables, figures and records."""

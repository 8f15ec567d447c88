"""Readers of structured records: FHIR, HL7 v2, XML (CDA, JATS), tables and JSON lines."""

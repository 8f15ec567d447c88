"""Records of fields: FHIR, XML (CDA, JATS), tables and JSON lines."""

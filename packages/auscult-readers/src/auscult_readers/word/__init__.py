"""Reader of Word files (DOCX): their paragraphs, lists and tables."""

"""Word: the paragraphs, lists and tables of a DOCX file."""

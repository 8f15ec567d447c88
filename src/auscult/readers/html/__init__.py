"""Reader of HTML and XHTML: parse a page, remove everything around its content, write the rest as text."""

"""HTML and XHTML: a tree of elements, without what stands around the content, set as text."""

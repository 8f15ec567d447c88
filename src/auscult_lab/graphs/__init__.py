"""Knowledge graphs: readers, statistics, neighbourhoods, and linking of text to their entities."""

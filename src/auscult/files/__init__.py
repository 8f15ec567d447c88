"""Files, whatever they hold: written whole or not at all, told apart by digests, unpacked, read by lines and rows."""

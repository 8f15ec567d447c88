"""Authentication: keys, tokens of OpenID Connect, sessions of the page."""

"""Who may come in: keys, tokens of OpenID Connect, sessions of the page."""

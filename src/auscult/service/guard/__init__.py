"""What keeps a service standing and its answers where they belong: limits, headers, origins."""

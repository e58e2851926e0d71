"""The arete mechanism."""

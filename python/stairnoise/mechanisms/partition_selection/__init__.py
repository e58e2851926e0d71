"""The partition selection mechanism."""

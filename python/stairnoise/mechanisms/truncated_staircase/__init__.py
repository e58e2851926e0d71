"""The truncated staircase mechanism."""

"""The truncated discrete staircase mechanism."""

"""The staircase mechanism."""

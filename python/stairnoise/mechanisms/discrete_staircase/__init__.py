"""The discrete staircase mechanism."""

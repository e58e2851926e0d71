"""The staircase selection mechanism."""

"""Mechanisms under the names of other libraries, for programs that are written for them: one module for each library.

A module imports no library but the one that it is named after, and `pydp` not even that.
"""

"""Mechanisms under the names of other libraries, for programs that are written for them: one module for each library.

No module imports a library that its caller has not imported.
"""

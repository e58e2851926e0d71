"""`make coverage`: which lines of the crate, the binding and the package the tests run, and why the others are not run.

============= ======================================================================
`tests`       runs them on an instrumented extension, under coverage.py
`lines`       the lines that count: what was measured, without the code of tests
`arguments`   why a line is not run; `arguments.toml` holds what is said
`record`      the page docs/coverage.md
============= ======================================================================
"""

"""`make coverage`: which lines of the crate, the binding and the package the tests run, and why the others are not run.

============= ======================================================================
`tests`       which they are
`build`       the crate's test programs and the extension, with counters
`runs`        runs them, under coverage.py; keeps what is done and has not changed
`counts`      reads the counters
`lines`       the lines that count: what was measured, without the code of tests
`arguments`   why a line is not run; `arguments.toml` holds what is said
`record`      the page docs/coverage.md
============= ======================================================================
"""

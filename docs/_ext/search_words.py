"""Words of the search: `epsilon` also finds pages with ε, and words of readers find the page that answers them."""

import unicodedata
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.search.en import SearchEnglish

# What readers call a page's subject, where its title does not.
WORDS = {
    "accuracy": "error bars, confidence interval, margin of error",
    "api/command_line": "command line, cli, terminal",
    "buffers": "file, torch, jax",
    "columns": "pandas, polars, arrow, missing values, null, nan, data frame",
    "coming_from/numpy": "numpy",
    "engines": "duckdb, sqlite, spark",
    "explore": "compare mechanisms",
    "figures": "plot, chart, picture",
    "glossary": "sensitivity, term",
    "guarantees": "differential privacy, definition",
    "how_to/seeds": "pytest, test, seed, reproducible",
    "ledger": "budget, privacy budget",
    "mechanisms": "which mechanism, laplace or gaussian",
    "one_person": "meaning of epsilon",
    "private_training": "machine learning, dp-sgd",
    "quantiles": "median, percentile",
    "query": "sql, csv, postgresql, group by, database",
    "questions": "mean, average, salary mean, mean salary, sum",
    "scale": "speed, performance, threads",
    "selftest": "self-test",
    "start": "install, pip, quick start",
    "trust/index": "cite, citation",
    "trust/security": "vulnerability, side channel",
    "tutorials/histogram": "histogram, count",
    "which_epsilon": "epsilon, which epsilon",
}


class English(SearchEnglish):
    """English where a Greek letter also counts as its name."""

    def split(self, input: str) -> list[str]:
        """Return the words of a text, and the names of its letters."""
        words = super().split(input)
        return [*words, *filter(None, map(letter, words))]


def letter(word: str) -> str:
    """Return `epsilon` for ε, and nothing for other words."""
    name = unicodedata.name(word, "") if len(word) == 1 else ""
    return name.split()[-1].lower() if name.startswith("GREEK ") else ""


def _enter(app: Any, page: nodes.document) -> None:
    """Enter a page's words into the index, which the search asks first."""
    app.env.note_dependency(__file__)
    if words := WORDS.get(app.env.docname):
        page += addnodes.index(entries=[("single", word, "", "main", None) for word in words.split(", ")])


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_search_language(English)
    app.connect("doctree-read", _enter)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Words of the search: a search for `epsilon` also finds pages with ε."""

import unicodedata
from typing import Any

from sphinx.search.en import SearchEnglish


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


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_search_language(English)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

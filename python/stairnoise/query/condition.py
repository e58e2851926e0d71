"""The first judge of a condition: its words and signs, before an engine's parser sees it.

Engines differ in what they take for a comment, a string, a parameter or a name, so everything that two engines could read
differently is refused here. Columns, constants, comparisons, logic, sums, products, CASE, IN, LIKE and a few functions remain.
Every name is replaced by that of its column: SQLite takes an unknown name in quotes for a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stairnoise._errors import ParameterError, meant, received

# These give an answer for every row in every engine. Others fail for some rows, as `abs` does for the smallest integer and a
# cast for most texts, and a failure would reveal data; or they are not about one row.
TEXTUAL = frozenset({"lower", "ltrim", "rtrim", "trim", "upper"})
FUNCTIONS = TEXTUAL | {"coalesce", "length", "nullif", "substr"}
_PATTERNS = frozenset({"glob", "ilike", "like"})
# A parenthesis after one of these words opens a group. After any other word it is a call.
_BEFORE_GROUP = frozenset({"and", "between", "case", "else", "from", "in", "not", "or", "then", "when"})
_WORDS = _PATTERNS | _BEFORE_GROUP | {"distinct", "end", "false", "is", "isnull", "notnull", "null", "true"}

_ONLY_AFTER = {"distinct": ("is", "not"), "from": ("distinct",)}

_LONGEST = 20_000
# SQLite and DuckDB refuse trees that are 1000 levels deep.
_MOST_OPERATORS = 500
_DEEPEST = 50
# PostgreSQL computes exactly here, and fails if it compares a number beyond 10^308 with a double.
_MOST_PRODUCTS = 4
_LONGEST_NUMBER = 40
# A comparison with a pattern takes time in proportion to the product of both lengths. With these limits the time for one row
# depended on the row by at most 0.23 ms, in SQLite; without them by 47 ms.
_LONGEST_TEXT = 255
_LONGEST_PATTERN = 100
_MOST_WILDCARDS = 5
_MOST_PATTERNS = 10
_MOST_CALLS = 50

# Both statements are read if, and only if, a condition is one expression: a parenthesis that ends one breaks the other.
FRAMES = ("select 1 from stairnoise_rows where (\n{}\n)", "select case when (\n{}\n) then 1 end from stairnoise_rows")

_QUOTE_IT = "; a name with other letters than A to Z must be in double quotes"

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    | (?P<comment>--|/\*|\#)
    | (?P<text>'(?:[^'\\\0]|'')*')
    | (?P<quoted>"(?:[^"\\\0]|"")+")
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?![\w.]))
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?!['"\w$]))
    | (?P<sign>(?:<=|>=|<>|!=|==|[=<>])(?![=<>!])|[+\-*(),])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a sign of a condition."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The word in lower case, or nothing."""
        return self.text.lower() if self.kind == "word" else ""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was judged.

    Attributes
    ----------
    text : str
        The condition for engines: every name in it is that of a column of the table, in quotes.
    columns : tuple of str
        The columns that it uses.
    calls : frozenset of str
        The functions that it calls.
    computes : bool
        Whether there are sums, differences or products; a negative number counts as one.
    """

    text: str
    columns: tuple[str, ...]
    calls: frozenset[str]
    computes: bool


def judged(condition: str, columns: list[str], column_of: Callable[[str, bool], str | None]) -> Condition:
    """Return a condition with the names that its columns have, or refuse it.

    Parameters
    ----------
    condition : str
        What a user wrote.
    columns : list of str
        The columns that an error can suggest.
    column_of : function
        The rule of the engine: it takes a name, and whether the name was quoted, and returns the column.

    Raises
    ------
    ParameterError
        The condition is not an expression on one row, or two engines could read it differently.
    """
    tokens = _tokens(condition)
    _require_shape(tokens)
    _require_short(tokens)
    written, used, calls = [], [], set()
    for place, token in enumerate(tokens):
        after = tokens[place + 1].text if place + 1 < len(tokens) else ""
        column = None
        if token.kind == "quoted":
            column = _column(token.text[1:-1].replace('""', '"'), columns, column_of, quoted=True)
        elif token.word in _PATTERNS:
            if place + 1 == len(tokens) or tokens[place + 1].kind != "text":
                raise refused(f"has a pattern after {token.text} that is not a text in quotes")
        elif token.word in _ONLY_AFTER and (place == 0 or tokens[place - 1].word not in _ONLY_AFTER[token.word]):
            raise refused(f"has {token.text} outside of IS DISTINCT FROM")
        elif token.word == "in" and after != "(":
            raise refused("has IN without a list in parentheses")
        elif token.word and after == "(" and token.word not in _BEFORE_GROUP:
            if token.word not in FUNCTIONS:
                raise refused(f"calls {token.text}; the functions are {', '.join(sorted(FUNCTIONS))}")
            calls.add(token.word)
        elif token.word and token.word not in _WORDS:
            column = _column(token.text, columns, column_of, quoted=False)
        written.append(token.text if column is None else quoted(column))
        used += [] if column is None else [column]
    computes = any(token.text in ("+", "-", "*") for token in tokens)
    return Condition(" ".join(written), tuple(dict.fromkeys(used)), frozenset(calls), computes)


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def refused(why: str) -> ParameterError:
    """Return the error about a condition."""
    return ParameterError(f"where must be a condition on one row; this one {why}")


def first_problem(tree: list[Any], judge: Callable[[dict[str, Any]], str | None]) -> str | None:
    """Return why a judge refuses a node of a parser's tree, or None if it refuses none."""
    left = [*tree]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            problem = judge(node)
            if problem is not None:
                return problem
            left += node.values()
        elif isinstance(node, list):
            left += node
    return None


def _tokens(condition: str) -> list[Token]:
    if len(condition) > _LONGEST:
        raise refused(f"has {len(condition)} characters, more than {_LONGEST}")
    tokens: list[Token] = []
    at = 0
    while at < len(condition):
        found = _TOKEN.match(condition, at)
        if found is None:
            raise refused(_unread(condition, at))
        kind = str(found.lastgroup)
        if kind == "comment":
            raise refused(f"has a comment at character {at + 1}")
        if kind != "space":
            tokens.append(Token(kind, found.group()))
        at = found.end()
    if not tokens:
        raise refused("is empty")
    return tokens


def _unread(condition: str, at: int) -> str:
    """Describe the text at a place where no token begins."""
    character = condition[at]
    if character == ";":
        return f"has a semicolon at character {at + 1}"
    if character in "'\"":
        return f"has a quote at character {at + 1} that is not closed, or a backslash after it"
    if character.isascii() and character.isalnum():
        found = re.match(r"[\w.$'\"]+", condition[at:])
        assert found is not None
        hint = "" if found.group().isascii() else _QUOTE_IT
        return f"has {received(found.group())} at character {at + 1}, which is neither a column nor a plain number{hint}"
    hint = _QUOTE_IT if character.isalpha() else ""
    return f"has {received(character)} at character {at + 1}{hint}"


def _require_shape(tokens: list[Token]) -> None:
    """Require balanced parentheses, and a size that engines can read."""
    # For every open parenthesis, whether commas are allowed in it.
    opened: list[bool] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.text == "(":
            word = "" if before is None else before.word
            # TRIM with a second argument would multiply the time by its length.
            opened.append(word == "in" or word in FUNCTIONS - TEXTUAL)
        elif token.text == ")":
            if not opened:
                raise refused("closes a parenthesis that it did not open")
            if before is not None and before.text == "(":
                raise refused("has parentheses with nothing between them")
            opened.pop()
        elif token.text == "," and not (opened and opened[-1]):
            raise refused("has a comma outside of a list after IN, and of the arguments of coalesce, nullif and substr")
        if len(opened) > _DEEPEST:
            raise refused(f"has parentheses more than {_DEEPEST} deep")
        if token.kind == "number" and len(token.text) > _LONGEST_NUMBER:
            raise refused(f"has a number of more than {_LONGEST_NUMBER} digits")
    if opened:
        raise refused("opens a parenthesis that it does not close")
    operators = sum((token.kind == "sign" and token.text not in ("(", ")", ",")) or token.word in _WORDS for token in tokens)
    if operators > _MOST_OPERATORS:
        raise refused(f"has more than {_MOST_OPERATORS} operators")
    if sum(token.text == "*" for token in tokens) > _MOST_PRODUCTS:
        raise refused(f"has more than {_MOST_PRODUCTS} products")


def _require_short(tokens: list[Token]) -> None:
    """Limit the time that constants and calls take for a row, because time would reveal that there is such a row."""
    patterns = 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        pattern = before is not None and before.word in _PATTERNS
        patterns += pattern
        longest = _LONGEST_PATTERN if pattern else _LONGEST_TEXT
        if token.kind == "text" and len(token.text) - 2 > longest:
            raise refused(f"has a {'pattern' if pattern else 'text'} of more than {longest} characters")
        if pattern and sum(token.text.count(wildcard) for wildcard in "%*") > _MOST_WILDCARDS:
            raise refused(f"has a pattern with more than {_MOST_WILDCARDS} wildcards of any length")
    if patterns > _MOST_PATTERNS:
        raise refused(f"has more than {_MOST_PATTERNS} patterns")
    if sum(token.word in FUNCTIONS for token in tokens) > _MOST_CALLS:
        raise refused(f"has more than {_MOST_CALLS} calls of functions")


def _column(name: str, columns: list[str], column_of: Callable[[str, bool], str | None], *, quoted: bool) -> str:
    column = column_of(name, quoted)
    if column is None:
        raise refused(f"names {received(name)}, which is not a column of the table{meant(name, columns)}")
    return column

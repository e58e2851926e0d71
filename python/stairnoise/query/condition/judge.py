"""What a condition means: SQLGlot finds out what belongs together, and what is not listed here is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from stairnoise._optional import MissingPackageError, require
from stairnoise.query.condition.tree import Call, Condition, Literal, Name, Node, refused
from stairnoise.query.condition.words import DEEPEST, FUNCTIONS, GROUP, PARTS, PREFIX, Words, day, words_of

# As in pyproject.toml; the tests run at both ends.
_VERSIONS = (27, 29), (30, 30)
_COMPARISONS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_COMPARISONS |= {"NullSafeEQ": "is not distinct from", "NullSafeNEQ": "is distinct from"}
_SUMS = {"Add": "+", "Sub": "-", "Mul": "*"}
_PREDICATES = {*_COMPARISONS, "Between", "ILike", "In", "Is", "Like", "Not"}
# The arguments that a node of SQLGlot may have; another one that is set can have a meaning, so it is refused.
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys([*_COMPARISONS, *_SUMS, "And", "Is", "Or"], ("this", "expression")),
    **dict.fromkeys(["Boolean", "Column", "Neg", "Not", "Paren"], ("this",)),
    **dict.fromkeys(["ILike", "Like"], ("this", "expression", "negate")),
    "Anonymous": ("this", "expressions"),
    "Between": ("this", "low", "high"),
    "Case": ("this", "ifs", "default"),
    "Identifier": ("this", "quoted"),
    "If": ("this", "true"),
    "In": ("this", "expressions"),
    "Null": (),
}
# A pattern takes time in proportion to the product of both lengths. With these limits and those of the words, the time for one
# row depended on the row by at most 0.23 ms, in SQLite; without them by 47 ms.
_LONGEST_PATTERN = 100
_MOST_WILDCARDS = 5
_MOST_PATTERNS = 10
_NUMBERS = ("integer", "decimal", "real")
_ANY = {*_NUMBERS, "any", "boolean", "text"}
# If values are compared, a later kind prevails.
_RANK = ("null", "text", *_NUMBERS, "date", "timestamp", "boolean")
_ARITIES = {"coalesce": (1, 50), "nullif": (2, 2), "substr": (2, 3)}
_MOST_CHARACTERS = 2**31 - 1


def judged(condition: str, names: list[str], name_of: Callable[[str, bool], Name | None], remedy: str) -> Condition:
    """Return a condition as a tree of columns that exist and of values whose types fit, or refuse it.

    Parameters
    ----------
    condition : str
        What a user wrote.
    names : list of str
        The columns that an error can suggest.
    name_of : function
        The rule of the engine: it takes a name, and whether the name was quoted, and returns the column.
    remedy : str
        What to do about a column of another type.

    Raises
    ------
    ParameterError
        The condition is not an expression on one row, or two engines could read it differently.
    MissingPackageError
        SQLGlot is not installed, or in another version than those that are tested.
    """
    words = words_of(condition, names, name_of)
    judge = _Judge(words, remedy)
    return Condition(judge.truth(_parsed(words)), frozenset(judge.computes))


def _parsed(words: Words) -> Any:
    needs, install = "a condition needs", "'stairnoise[query]'"
    sqlglot = require("sqlglot", needs, install)
    version = tuple(map(int, re.findall("[0-9]+", sqlglot.__version__)[:2]))
    if not _VERSIONS[0] <= version <= _VERSIONS[1]:
        lowest, highest = (".".join(map(str, end)) for end in _VERSIONS)
        raise MissingPackageError(
            f"{needs} sqlglot from {lowest} to {highest}, got {sqlglot.__version__}: pip install {install}", name="sqlglot"
        )
    try:
        return sqlglot.parse_one(words.text, into=sqlglot.exp.Condition)
    except sqlglot.errors.SqlglotError as error:
        (place, *_) = [one["col"] for one in getattr(error, "errors", []) if one.get("col")] or [len(words.text)]
        raise refused(f"is not understood at {words.at(place)}") from None
    except RecursionError:
        raise refused("is nested too deep") from None


class _Judge:
    def __init__(self, words: Words, remedy: str) -> None:
        self._atoms, self._remedy = words.atoms, remedy
        self._deep = self._patterns = 0
        self.computes: set[str] = set()

    def node(self, node: Any) -> Node:
        """Return the node of our own for one of SQLGlot."""
        self._deep += 1
        if self._deep > DEEPEST:
            raise refused(f"is nested more than {DEEPEST} deep")
        found = self._of(_listed(node), node)
        self._deep -= 1
        return found

    def truth(self, node: Any) -> Node:
        """Return what must be true, false or null."""
        return self._truth_of(self.node(node))

    def _truth_of(self, node: Node) -> Node:
        return self._fit(node, "boolean", "has {} where it must be true or false")

    def _of(self, name: str, node: Any) -> Node:
        if name == "Column":
            return self._atom(node)
        if name == "Paren":
            return self.node(node.this)
        if name in ("Boolean", "Null"):
            return Literal("null", None) if name == "Null" else Literal("boolean", bool(node.this))
        if name in ("And", "Or"):
            return Call("boolean", name.lower(), tuple(map(self.truth, _chain(node))))
        if name == "Not":
            return _not(self.truth(node.this))
        if name in _COMPARISONS:
            return self._compared(_COMPARISONS[name], node.this, node.expression)
        if name == "Between":
            return self._compared("between", node.this, node.args["low"], node.args["high"])
        if name == "In":
            if not node.expressions:
                raise refused("has IN without a list in parentheses")
            return self._compared("in", node.this, *node.expressions)
        if name == "Is":
            return self._is(node)
        if name in ("Like", "ILike"):
            return self._like(name.lower(), node)
        if name == "Neg":
            value = self._operand(node.this)
            if isinstance(value, Literal) and value.kind in _NUMBERS:
                return Literal(value.kind, -value.value)
            return self._computed("-", [Literal("integer", 0), value])
        if name in _SUMS:
            return self._computed(_SUMS[name], list(map(self._operand, _chain(node))))
        if name == "Case":
            return self._case(node)
        if name == "Anonymous":
            return self._called(node.this.removeprefix(PREFIX), node.expressions)
        raise refused(f"has {name}")

    def _atom(self, node: Any) -> Name | Literal:
        _listed(node.this)
        # A keyword at the wrong place is a name without quotes.
        if not node.this.args.get("quoted"):
            raise refused(f"has {node.this.this} at a wrong place")
        return self._atoms[int(node.this.this)]

    def _operand(self, node: Any) -> Node:
        """Return an operand; without parentheses, engines differ in which of two comparisons comes first."""
        inner = node
        while type(inner).__name__ == "Paren":
            inner = inner.this
        if type(inner).__name__ in _PREDICATES:
            raise refused("has a comparison in a comparison; put the inner one in parentheses")
        return self.node(node)

    def _compared(self, function: str, *nodes: Any) -> Node:
        return Call("boolean", function, tuple(self._bytewise(self._matched(list(map(self._operand, nodes))))))

    def _bytewise(self, nodes: list[Node]) -> list[Node]:
        """Require that texts are compared byte by byte, which one of the operands decides."""
        text = next((place for place, node in enumerate(nodes) if node.kind == "text"), None)
        if text is not None:
            nodes[text] = Call("text", "bytewise", (nodes[text],))
        return nodes

    def _is(self, node: Any) -> Node:
        name = _listed(node.expression)
        if name == "Null":
            return Call("boolean", "is null", (self._operand(node.this),))
        if name != "Boolean":
            raise refused("has IS before something other than null, true, false and distinct from")
        return Call("boolean", "is true" if node.expression.this else "is false", (self._truth_of(self._operand(node.this)),))

    def _like(self, function: str, node: Any) -> Node:
        pattern = self._atom(node.expression) if type(node.expression).__name__ == "Column" else None
        if not isinstance(pattern, Literal) or pattern.kind != "text":
            raise refused("has a pattern that is not a text in quotes")
        self._patterns += 1
        if self._patterns > _MOST_PATTERNS:
            raise refused(f"has more than {_MOST_PATTERNS} patterns")
        if len(pattern.value) > _LONGEST_PATTERN:
            raise refused(f"has a pattern of more than {_LONGEST_PATTERN} characters")
        if pattern.value.count("%") > _MOST_WILDCARDS:
            raise refused(f"has a pattern with more than {_MOST_WILDCARDS} wildcards of any length")
        value = self._bytewise([self._text(self._operand(node.this))])
        found = Call("boolean", function, (*value, Literal("pattern", pattern.value)))
        return _not(found) if node.args.get("negate") else found

    def _text(self, node: Node) -> Node:
        return self._fit(node, "text", "uses {} as a text")

    def _computed(self, function: str, nodes: list[Node]) -> Node:
        """Return a sum, a difference or a product, of integers in a wide type."""
        own = [isinstance(node, Call) and node.function in _SUMS.values() for node in nodes]
        self.computes |= {
            node.kind for node, computed in zip(nodes, own, strict=True) if not (computed or isinstance(node, Literal))
        }
        nodes = self._matched(nodes)
        kind = _kind_of(nodes)
        if kind not in (*_NUMBERS, "any", "null"):
            raise refused(f"computes with {_phrase(kind)}" + (f"; {self._remedy}" if kind == "text" else ""))
        if kind in ("integer", "null"):
            nodes = [node if computed else Call("integer", "wide", (node,)) for node, computed in zip(nodes, own, strict=True)]
        return Call(kind, function, tuple(nodes))

    def _case(self, node: Any) -> Node:
        ifs, default = node.args["ifs"], node.args.get("default")
        for one in ifs:
            _listed(one)
        results = [
            *(self.node(one.args["true"]) for one in ifs),
            Literal("null", None) if default is None else self.node(default),
        ]
        results = self._matched(results)
        if node.this is None:
            before, tests = [], [self.truth(one.this) for one in ifs]
        else:
            value, *tests = self._bytewise(self._matched([self.node(node.this), *(self.node(one.this) for one in ifs)]))
            before = [value]
        branches = [one for branch in zip(tests, results, strict=False) for one in branch]
        return Call(_kind_of(results), "case of" if before else "case", (*before, *branches, results[-1]))

    def _called(self, function: str, nodes: list[Any]) -> Node:
        if PREFIX + function == GROUP:
            if len(nodes) != 1:
                raise refused("has parentheses around nothing or several values")
            return self._of(_listed(nodes[0]), nodes[0])
        assert function in FUNCTIONS | PARTS
        least, most = _ARITIES.get(function, (1, 1))
        if not least <= len(nodes) <= most:
            raise refused(f"calls {function} with {len(nodes)} arguments")
        operands = list(map(self.node, nodes))
        if function in PARTS:
            # Dialects write the column several times.
            (value,) = operands
            if (
                not isinstance(value, Name)
                or value.kind not in ("date", "timestamp")
                or (function, value.kind) == ("hour", "date")
            ):
                raise refused(f"takes the {function} of something other than a column of dates")
            return Call("integer", function, (value,))
        if function in ("coalesce", "nullif"):
            operands = self._matched(operands)
            return Call(_kind_of(operands), function, tuple(self._bytewise(operands) if function == "nullif" else operands))
        operands[0] = self._text(operands[0])
        for length in operands[1:]:
            # Engines differ in what they do before the beginning of a text; PostgreSQL fails for a negative length.
            if not isinstance(length, Literal) or length.kind != "integer" or not 0 <= length.value <= _MOST_CHARACTERS:
                raise refused("calls substr with something other than whole numbers, none below 0")
        return Call("integer" if function == "length" else "text", function, tuple(operands))

    def _matched(self, nodes: list[Node]) -> list[Node]:
        """Return values of one kind; literals, and then integers and decimals, take the kind of the others."""
        kinds = [node.kind for node in nodes if not isinstance(node, Literal)]
        kind = max([one for one in kinds if one != "null"] or [node.kind for node in nodes], key=_rank)
        if kind == "integer" and any(node.kind == "real" for node in nodes):
            kind = "real"
        return [self._fit(node, kind, "has {} beside " + _phrase(kind)) for node in nodes]

    def _fit(self, node: Node, kind: str, why: str) -> Node:
        """Return a value of a kind, or refuse it."""
        found: Node | None = None
        if isinstance(node, Literal):
            found = _literal_of(node, kind)
        elif kind == "real" and node.kind in ("integer", "decimal"):
            found = Call("real", "real", (node,))
        elif (
            node.kind in (kind, "null")
            or (kind, node.kind) == ("decimal", "integer")
            or (kind == "any" and node.kind in _ANY)
            or (node.kind == "any" and kind in ("text", *_NUMBERS))
        ):
            found = node
        if found is None:
            remedy = f"; {self._remedy}" if "beside" in why and "text" in (kind, node.kind) else ""
            raise refused(why.format(_phrase(node.kind)) + remedy)
        return found


def _literal_of(literal: Literal, kind: str) -> Literal | None:
    """Return a literal of a kind, or None."""
    value = literal.value
    if literal.kind == "integer" and not -(2**63) <= value < 2**63:
        raise refused("has an integer beyond 64 bits")
    if literal.kind in (kind, "null") or (kind == "any" and literal.kind in _ANY):
        return literal
    if kind in ("decimal", "real") and literal.kind in _NUMBERS:
        return Literal(kind, Decimal(value))
    if kind == "boolean":
        return Literal(kind, bool(value)) if literal.kind == "integer" and value in (0, 1) else None
    if literal.kind == "text" and kind not in _NUMBERS:
        return Literal(kind, day(value) if kind == "date" else value)
    return Literal(kind, value.isoformat()) if (literal.kind, kind) == ("date", "timestamp") else None


def _listed(node: Any) -> str:
    """Return the name of a node of SQLGlot that is on our list, with all its arguments."""
    name = type(node).__name__
    if name not in _ARGUMENTS:
        raise refused(f"has {name}")
    for argument, value in node.args.items():
        if argument not in _ARGUMENTS[name] and value is not None and value is not False and value != []:
            raise refused(f"has {name} with {argument}")
    return name


def _chain(node: Any) -> list[Any]:
    """Return the operands of an operator that is repeated, such as a + b + c: 250 of them would be too deep for Python."""
    kind, operands = type(node), []
    while type(node) is kind:
        _listed(node)
        operands.append(node.expression)
        node = node.this
    return [node, *reversed(operands)]


def _not(node: Node) -> Node:
    return Call("boolean", "not", (node,))


def _kind_of(nodes: list[Node]) -> str:
    """Return the kind of values of one kind and nulls."""
    return next((node.kind for node in nodes if node.kind != "null"), "null")


def _rank(kind: str) -> int:
    return _RANK.index(kind) if kind in _RANK else len(_RANK) + (kind == "any")


def _phrase(kind: str) -> str:
    known = {"integer": "an integer", "real": "a number", "any": "a column without a type", "null": "null"}
    return known.get(kind) or (f"a {kind}" if kind in _RANK else f"a value of type {kind}")

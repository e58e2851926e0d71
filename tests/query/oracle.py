"""The true answers, computed a second time in plain Python with exact fractions."""

import hashlib
import itertools
import math
from collections import defaultdict
from fractions import Fraction

from stairnoise.query.statistics import Count, Mean


def sha256(text):
    return hashlib.sha256(text).digest()


def md5_number(text):
    """Return MD5 as DuckDB's number."""
    return int.from_bytes(hashlib.md5(text).digest(), "little")


# How each engine orders a person's groups.
DIGESTS = {"SQLite": sha256, "DuckDB": md5_number, "PostgreSQL": sha256, "Spark": sha256}


def answers(rows, listed, *, sums=(), counted=True, complete=(), max_groups=None, key=bytes(32), digest=sha256):
    """Return the count of each group of rows (person, groups, values), and a list of sums for each of `sums`.

    These are (place among the values, bounds, unit). A row needs a number at all places of `complete`; if there are none and
    nothing is counted, at one of the sums. If `max_groups` is None, every row is one person. `digest` orders a person's groups.
    """
    counts, totals = defaultdict(int), [defaultdict(int) for _ in sums]
    kept = [row for row in rows if _counts(row[2], {place for place, *_ in sums}, counted, complete)]
    for _, found in _people(kept, listed, sums, whole=max_groups is not None):
        groups = sorted(found, key=lambda one: _order(digest, key, one[0], one[1]))
        for group, _, own in groups[:max_groups]:
            counts[group] += 1
            for total, number, (_, bounds, unit) in zip(totals, own, sums, strict=True):
                total[group] += 0 if number is None else _clipped(number, bounds, unit)
    places = list(itertools.product(*(range(len(one)) for one in listed)))
    return [counts[group] for group in places], [[total[group] for group in places] for total in totals]


def answers_to(question, units, rows, listed, columns, **options):
    """Return the answers to a question about rows with numbers in these columns."""
    place = {column: number for number, column in enumerate(columns)}
    return answers(
        rows,
        listed,
        sums=[(place[one.column], one.bounds, unit) for one, unit in zip(question.summed, units, strict=True)],
        counted=any(isinstance(one, Count) for one in question.statistics),
        complete={place[one.column] for one in question.statistics if isinstance(one, Mean)},
        max_groups=None if question.person is None else question.max_groups,
        **options,
    )


def _counts(values, summed, counted, complete):
    if complete or counted:
        return all(_is_number(values[place]) for place in complete)
    return any(_is_number(values[place]) for place in summed)


def _is_number(value):
    return value is not None and not math.isnan(value)


def _people(rows, listed, sums, *, whole):
    """Yield each person with a list of (positions in `listed`, person, totals in units), one for each of their groups."""
    totals = {}
    for place, (person, groups, values) in enumerate(rows):
        inside = all(any(_same(group, one) for one in list_) for group, list_ in zip(groups, listed, strict=True))
        if not inside or (whole and person is None):
            continue
        codes = tuple(
            next(code for code, one in enumerate(list_) if _same(group, one)) for group, list_ in zip(groups, listed, strict=True)
        )
        own = totals.setdefault((person if whole else place, codes), [None] * len(sums))
        for at, (of, _, unit) in enumerate(sums):
            if _is_number(values[of]):
                own[at] = (own[at] or 0) + _units(values[of], unit)
    people = defaultdict(list)
    for (person, codes), own in totals.items():
        people[person].append((codes, person, own))
    yield from people.items()


def _same(left, right):
    return type(left) is type(right) and left == right


def _order(digest, key, codes, person):
    return digest("/".join([key.hex(), *map(str, codes), str(person)]).encode())


def _units(value, unit):
    """Return the nearest multiple of the unit; halves round away from zero."""
    if math.isinf(value):
        return 2**32 if value > 0 else -(2**32)
    size = min(math.floor(abs(Fraction(value)) / Fraction(unit) + Fraction(1, 2)), 2**32)
    return size if value > 0 else -size


def _clipped(total, bounds, unit):
    low, high = math.ceil(Fraction(bounds[0]) / Fraction(unit)), math.floor(Fraction(bounds[1]) / Fraction(unit))
    return min(max(total, low), high)


def histograms(rows, listed, place, points, *, max_groups=None, key=bytes(32), digest=sha256, person=1):
    """Return the weight at each candidate with one, for each group of rows (person, groups, values), of the value at a place.

    `points` are the candidates. If `max_groups` is None, every row is one person, who has the weight `person` in each group.
    """
    found, people = defaultdict(lambda: defaultdict(int)), defaultdict(lambda: defaultdict(list))
    for number, (who, groups, values) in enumerate(rows):
        codes = tuple(
            next((code for code, one in enumerate(list_) if _same(group, one)), None)
            for group, list_ in zip(groups, listed, strict=True)
        )
        if None not in codes and _is_number(values[place]) and (max_groups is None or who is not None):
            people[number if max_groups is None else who][codes].append(_nearest(values[place], points))
    for who, of_groups in people.items():
        for codes in sorted(of_groups, key=lambda one, who=who: _order(digest, key, one, who))[:max_groups]:
            own = sorted(of_groups[codes])
            for j, candidate in enumerate(own):
                found[codes][candidate] += person * (j + 1) // len(own) - person * j // len(own)
    places = itertools.product(*(range(len(one)) for one in listed))
    return [{candidate: weight for candidate, weight in sorted(found[group].items()) if weight} for group in places]


def _nearest(value, points):
    """Return the nearest candidate, the upper one of two."""
    if math.isinf(value):
        return len(points) - 1 if value > 0 else 0
    return min(range(len(points)), key=lambda place: (abs(Fraction(value) - Fraction(points[place])), -place))

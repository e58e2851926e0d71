"""The true answers, computed a second time in plain Python with exact fractions."""

import hashlib
import itertools
import math
from collections import defaultdict
from fractions import Fraction


def answers(rows, listed, *, bounds=None, unit=1.0, max_groups=None, key=bytes(32)):
    """Return count and sum of each group of rows (person, groups, value); if `max_groups` is None, every row is one person."""
    counts, sums = defaultdict(int), defaultdict(int)
    for _, found in _people(rows, listed, bounds, unit, whole=max_groups is not None):
        groups = sorted(found, key=lambda one: _order(key, one[0], one[1]))
        for group, _, total in groups[:max_groups]:
            counts[group] += 1
            sums[group] += _clipped(total, bounds, unit)
    places = list(itertools.product(*(range(len(one)) for one in listed)))
    return [counts[cell] for cell in places], [sums[cell] for cell in places]


def _people(rows, listed, bounds, unit, *, whole):
    """Yield each person with a list of (positions in `listed`, person, total in units), one for each of their groups."""
    totals = defaultdict(int)
    for place, (person, groups, value) in enumerate(rows):
        inside = all(any(_same(group, one) for one in list_) for group, list_ in zip(groups, listed, strict=True))
        if not inside or (whole and person is None) or (bounds is not None and (value is None or math.isnan(value))):
            continue
        codes = tuple(
            next(code for code, one in enumerate(list_) if _same(group, one)) for group, list_ in zip(groups, listed, strict=True)
        )
        totals[(person if whole else place), codes] += 0 if bounds is None else _units(value, unit)
    people = defaultdict(list)
    for (person, codes), total in totals.items():
        people[person].append((codes, person, total))
    yield from people.items()


def _same(left, right):
    return type(left) is type(right) and left == right


def _order(key, codes, person):
    return hashlib.sha256("/".join([key.hex(), *map(str, codes), str(person)]).encode()).digest()


def _units(value, unit):
    """Return the nearest multiple of the unit; halves round away from zero."""
    if math.isinf(value):
        return 2**32 if value > 0 else -(2**32)
    size = min(math.floor(abs(Fraction(value)) / Fraction(unit) + Fraction(1, 2)), 2**32)
    return size if value > 0 else -size


def _clipped(total, bounds, unit):
    if bounds is None:
        return 0
    low, high = math.ceil(Fraction(bounds[0]) / Fraction(unit)), math.floor(Fraction(bounds[1]) / Fraction(unit))
    return min(max(total, low), high)

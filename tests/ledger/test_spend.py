"""What a ledger charges, what is free, and what it refuses, by its definition.

Evidence: the rules written in each test, and sums of exact fractions.
"""

import math
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise.accounting.ledger import costs
from stairnoise.registry import ROWS
from tests.examples import promise as promised

MECHANISM = sn.DiscreteLaplace(eps=0.25)
SECRET = bytes(range(32))
GROUPS = ["north", "south"]


def keyed(release="2026-Q3", secret=SECRET, bind="value"):
    return sn.KeyedRng(secret, release, bind=bind)


def pay(ledger, mechanism=MECHANISM, values=(120, 45), labels=GROUPS, *, rng=None, statistic="count", data="people", **options):
    rng = rng or keyed()
    mark = rng.fingerprint(list(values), labels)
    return ledger.spend(mechanism, data=data, statistic=statistic, fingerprint=mark, rng=rng, **options)


@pytest.fixture
def ledger(tmp_path):
    return sn.Ledger(tmp_path / "people.ledger", 1.0)


def test_a_row_says_what_was_spent(ledger):
    row = ledger.spend(MECHANISM, data="people", release="2026-Q3", statistic="count", max_partitions_contributed=3)
    assert row == ledger.report()[0]
    assert row[:8] == ("people", "2026-Q3", "count", "DiscreteLaplace(eps=0.25)", 3, 0.25, 0.0, 0.25)
    assert row.fingerprint is None
    assert row.time.endswith("+00:00")
    assert (ledger.total(), ledger.remaining()) == (0.25, 0.75)


def test_every_fresh_release_costs_even_the_same_question(ledger):
    for paid in range(1, 5):
        ledger.spend(MECHANISM, data="people", release="2026-Q3", statistic="count")
        assert ledger.total() == paid / 4
    with pytest.raises(sn.BudgetError, match=r"eps = 1\.0 of 1\.0 is spent, and with this release it would be eps = 1\.25"):
        ledger.spend(MECHANISM, data="people", release="2026-Q3", statistic="count")
    assert len(ledger.report()) == 4


def test_a_keyed_repetition_costs_nothing_and_returns_the_row_that_paid(ledger):
    first = pay(ledger)
    assert pay(ledger) == pay(ledger, values=(45, 120), labels=GROUPS[::-1]) == first
    assert ledger.report() == [first]
    assert len(first.fingerprint) == 64


CHANGES = {
    "another mechanism": {"mechanism": sn.DiscreteLaplace(eps=0.25, sensitivity=2)},
    "another eps": {"mechanism": sn.DiscreteLaplace(eps=0.5)},
    "more partitions": {"max_partitions_contributed": 2},
    "another statistic": {"statistic": "sum"},
    "another release": {"rng": keyed("2026-Q4")},
    "another binding": {"rng": keyed(bind="label")},
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_another_address_costs(ledger, changed):
    pay(ledger)
    before = ledger.total()
    row = pay(ledger, **changed)
    assert ledger.total() == before + row.eps
    assert len(ledger.report()) == 2
    assert pay(ledger, **changed) == row


OTHERS = {
    "another value": {"values": (121, 45)},
    "another label": {"labels": ["north", "east"]},
    "a row less": {"values": (120,), "labels": ["north"]},
    "another secret": {"rng": keyed(secret=bytes(32))},
    "another mechanism too": {"values": (121, 45), "mechanism": sn.DiscreteLaplace(eps=0.125)},
}


@pytest.mark.parametrize("changed", OTHERS.values(), ids=OTHERS)
def test_one_name_for_two_states_of_the_data_is_refused(ledger, changed):
    row = pay(ledger)
    with pytest.raises(sn.LedgerError, match="release '2026-Q3' must be of one state of the data") as error:
        pay(ledger, **changed)
    assert type(error.value) is sn.LedgerError
    paid, refused = ledger.report()
    assert paid == row
    assert (refused.refused, refused.release, refused.eps, refused.total) == (True, "2026-Q3", 0.0, 0.25)
    assert refused.fingerprint is None
    assert pay(ledger) == row


def test_what_the_data_are_called_makes_no_second_release(ledger):
    """Noise does not depend on `data`: a moved file has the same noise, and other values under one release name are refused."""
    row = pay(ledger)
    assert pay(ledger, data="a copy of people") == row
    with pytest.raises(sn.LedgerError, match="must be of one state of the data"):
        pay(ledger, values=(121, 45), data="a copy of people")


def test_of_several_mechanisms_with_a_refused_one_none_is_spent(ledger):
    rng, first = keyed(), pay(ledger)
    marks = [rng.fingerprint([7, 8], GROUPS), rng.fingerprint([121, 45], GROUPS)]
    with pytest.raises(sn.LedgerError, match="must be of one state of the data"):
        ledger.spend([MECHANISM] * 2, data="people", statistic=["sum", "count"], fingerprint=marks, rng=rng)
    assert [row.refused for row in ledger.report()] == [False, True]
    assert ledger.total() == first.total


NOT_KEYED = {
    "permute and flip": sn.PermuteAndFlip(0.25),
    "exponential": sn.ExponentialMechanism(0.25),
    "staircase": sn.StaircaseSelection(0.25),
    "partition selection": sn.PartitionSelection(0.25, 1e-9),
    "a guarantee": sn.Guarantee(0.25, 0.0),
}


@pytest.mark.parametrize("mechanism", NOT_KEYED.values(), ids=NOT_KEYED)
def test_what_draws_nothing_by_key_is_never_a_repetition(ledger, mechanism):
    """If the key decided, three different draws would cost as one."""
    with pytest.raises(sn.ParameterTypeError, match=r"^rng must be left out for a \w+, which draws nothing by key"):
        pay(ledger, mechanism)
    marks, names = ["0" * 64] * 2, ["count", "shown"]
    with pytest.raises(sn.ParameterTypeError, match="draws nothing by key"):
        ledger.spend([MECHANISM, mechanism], data="people", statistic=names, fingerprint=marks, rng=keyed())
    assert ledger.report() == []


def test_a_partition_selection_costs_what_it_promises(tmp_path):
    """The mechanism already specifies its k groups, so the call does not repeat them."""
    ledger = sn.Ledger(tmp_path / "file", 4.0, delta=1e-6)
    row = ledger.spend(sn.PartitionSelection(1, 1e-7, 3), data="people", statistic="cities")
    assert (row.eps, row.delta, row.max_partitions_contributed, row.total) == (1.0, 1e-7, 3, 1.0)
    with pytest.raises(sn.ParameterError, match="must be 1 for a PartitionSelection, which covers its own partitions"):
        ledger.spend(sn.PartitionSelection(1, 1e-7, 3), data="people", max_partitions_contributed=3)


def test_a_keyed_repetition_is_free_when_the_budget_is_spent(ledger):
    row = pay(ledger, sn.DiscreteLaplace(eps=1))
    assert ledger.remaining() == 0
    assert pay(ledger, sn.DiscreteLaplace(eps=1)) == row


def test_a_fresh_release_may_have_the_name_of_a_keyed_one_and_costs(ledger):
    """A fresh release has no fingerprint of its rows, so the ledger cannot compare its data."""
    pay(ledger)
    for paid in (0.5, 0.75):
        assert ledger.spend(MECHANISM, data="people", release="2026-Q3", statistic="count").total == paid
    assert pay(ledger).total == 0.25


@pytest.mark.parametrize("eps", [0.1, 0.3, 1 / 3, 0.05, 0.7])
def test_what_remains_can_be_spent(ledger, eps):
    """In float64, 1 - 0.1 and 1 - 1/3 exceed the true differences."""
    ledger.spend(sn.DiscreteLaplace(eps), data="people")
    assert ledger.remaining() == pytest.approx(1 - eps, rel=2.0**-51)
    ledger.spend(sn.DiscreteLaplace(ledger.remaining()), data="people")
    assert ledger.total() == 1.0


def test_several_mechanisms_are_spent_together_or_not_at_all(ledger):
    half = [sn.DiscreteLaplace(eps=0.25), sn.Laplace(eps=0.5)]
    rows = ledger.spend(half, data="people", statistic=["count", "sum"], max_partitions_contributed=[1, 2])
    assert [(row.statistic, row.eps, row.max_partitions_contributed, row.total) for row in rows] == [
        ("count", 0.25, 1, 0.75),
        ("sum", 0.5, 2, 0.75),
    ]
    with pytest.raises(sn.BudgetError, match=r"it would be eps = 1\.5"):
        ledger.spend(half, data="people")
    assert ledger.report() == rows


def test_of_several_keyed_mechanisms_only_the_new_one_costs(ledger):
    rng, first = keyed(), pay(ledger)
    marks = [rng.fingerprint([120, 45], GROUPS), rng.fingerprint([7, 8], GROUPS), rng.fingerprint([7, 8], GROUPS)]
    names = ["count", "sum", "sum"]
    rows = ledger.spend([MECHANISM] * 3, data="people", statistic=names, fingerprint=marks, rng=rng)
    assert rows[0] == first
    assert rows[1] == rows[2]
    assert ledger.total() == 0.5


def test_ten_times_a_tenth_is_one(tmp_path):
    """Added as floats, the sum is 0.9999999999999999; added exactly, it exceeds 1, because float64's 0.1 is above 1/10."""
    ledger = sn.Ledger(tmp_path / "file", 1.0, delta=1e-6)
    tenth = sn.TruncatedDiscreteStaircase(0.1, 1e-7)
    for place in range(10):
        assert ledger.remaining() == round(1 - place / 10, 1)
        ledger.spend(tenth, data="people")
        assert ledger.total() == round((place + 1) / 10, 1)
    with pytest.raises(sn.BudgetError, match=r"eps = 1\.0 of 1\.0 .* it would be eps = 1\.0000000001"):
        ledger.spend(sn.DiscreteLaplace(eps=1e-10), data="people")


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=30))
def test_a_total_is_the_exact_sum_but_for_the_stated_part(parts):
    """Both sides are exact fractions of the float64 numbers."""
    total = Fraction(costs.total(tuple(Counter(costs.cost_of(sn.Laplace(eps=eps), 1) for eps in parts).items()), 0.0, False))
    exact = sum(map(Fraction, parts))
    assert total * (1 - Fraction(1, 2**51)) <= exact <= total * (1 + Fraction(1, 2**51))


@pytest.mark.parametrize(("budget", "parts"), [(0.3, (0.1, 0.2)), (0.8, (0.1, 0.7)), (1.0, (0.7, 0.2, 0.1)), (0.9, (0.3,) * 3)])
def test_decimals_add_up_to_a_budget(tmp_path, budget, parts):
    """0.1 + 0.2 is above 0.3 in floats, and 0.1 + 0.7 below 0.8."""
    ledger = sn.Ledger(tmp_path / "file", budget)
    ledger.spend([sn.Laplace(eps=eps) for eps in parts], data="people")
    assert (ledger.total(), ledger.remaining()) == (budget, 0.0)


def test_without_a_delta_only_pure_mechanisms_fit(ledger):
    for mechanism in (
        sn.Gaussian(0.1, 1e-9),
        sn.TruncatedLaplace(0.1, 1e-9),
        sn.Gaussian(sigma=10, sensitivity=1),
        sn.Guarantee(0.1, 1e-9),
    ):
        with pytest.raises(sn.BudgetError, match="the deltas would exceed the ledger's, "):
            ledger.spend(mechanism, data="people")
    assert ledger.report() == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_mechanism_has_a_cost(tmp_path, row):
    pure, composed = sn.Ledger(tmp_path / "pure", 1000), sn.Ledger(tmp_path / "composed", 1000, delta=0.01, composed=True)
    for mechanism in row.mechanisms():
        promise, change = promised(mechanism), 1 if mechanism._stated is None else None
        ledger = composed if promise.delta != 0 else pure
        spent = ledger.spend(mechanism, data="people", sensitivity=change)
        # The errors that `privacy_eps` states.
        error = Fraction(1, 10**12) if row.name != "arete" else Fraction(1, 10**6 if mechanism.n_parties > 1 else 10**11)
        if promise.eps is not None:
            assert promise.eps <= spent.eps <= promise.eps * (1 + 2 * float(error))
        if row.group == "shares" and promise.eps != getattr(mechanism, "eps", None):
            assert Fraction(spent.eps) >= Fraction(promise.eps) * (1 + error)
        assert spent.delta == promise.delta
        assert spent.mechanism == repr(mechanism)


def test_selections_and_guarantees_have_a_cost(ledger):
    spent = ledger.spend(sn.ExponentialMechanism(eps=0.1), data="people", max_partitions_contributed=3)
    assert spent.eps == 0.3
    assert ledger.spend(sn.Guarantee(0.25, 0.0, partitions=2), data="people").max_partitions_contributed == 2
    assert ledger.total() == 0.55


def test_a_sensitivity_counts_for_mechanisms_made_for_none(ledger):
    mechanism = sn.GeneralizedDiscreteLaplace(1.5, 0.125)
    once, twice = (ledger.spend(mechanism, data="people", sensitivity=change).eps for change in (1, 2))
    assert once == pytest.approx(mechanism.privacy_eps(1), rel=2e-12)
    assert twice == pytest.approx(mechanism.privacy_eps(2), rel=2e-12)
    with pytest.raises(sn.ParameterError, match="sensitivity must be left out for a DiscreteLaplace"):
        ledger.spend(MECHANISM, data="people", sensitivity=2)


REFUSED = {
    "no mechanism": ((5,), {}, "mechanism must be a mechanism, a Guarantee or a list of them, got 5"),
    "a class": ((sn.Laplace,), {}, "mechanism must be a mechanism, a Guarantee or a list of them, got <class"),
    "an empty list": (([],), {}, "mechanism must be a mechanism or a list of at least one, got an empty list"),
    "array parameters": ((sn.Laplace(np.array([0.1, 0.2])),), {}, "mechanism must have scalar parameters"),
    "only a rho": ((sn.Guarantee(rho=0.1),), {}, "mechanism must have an eps to be counted by"),
    "partitions": ((MECHANISM,), {"max_partitions_contributed": 0}, "max_partitions_contributed must be an integer from 1"),
    "partitions of a guarantee": ((sn.Guarantee(0.1, 0.0),), {"max_partitions_contributed": 2}, "must be 1 for a Guarantee"),
    "sensitivity of a guarantee": ((sn.Guarantee(0.1, 0.0),), {"sensitivity": 2}, "sensitivity must be left out for"),
    "an impossible guarantee": ((sn.Guarantee(math.nan, 0.0),), {}, "mechanism must guarantee one finite eps"),
    "empty data": ((MECHANISM,), {"data": ""}, "data must be a name, got an empty string"),
    "data of another type": ((MECHANISM,), {"data": 3}, "data must be a string, got 3"),
    "a release of another type": ((MECHANISM,), {"release": 3}, "release must be a string, got 3"),
    "a fingerprint alone": ((MECHANISM,), {"fingerprint": "0" * 64}, "rng must be the KeyedRng of the release"),
    "a key alone": ((MECHANISM,), {"rng": keyed(), "statistic": "n"}, "fingerprint must be given in a spending with a KeyedRng"),
    "a key without statistic": ((MECHANISM,), {"rng": keyed(), "fingerprint": "0" * 64}, "statistic must be given in a spending"),
    "another fingerprint": (
        (MECHANISM,),
        {"rng": keyed(), "fingerprint": "0" * 63, "statistic": "n"},
        "fingerprint must be what fingerprint",
    ),
    "another release": (
        (MECHANISM,),
        {"rng": keyed(), "fingerprint": "0" * 64, "statistic": "n", "release": "Q4"},
        "release must be left out, or the name of the KeyedRng, '2026-Q3', got 'Q4'",
    ),
    "one statistic for two": (
        ([MECHANISM, MECHANISM],),
        {"statistic": "n"},
        "statistic must be a list with one for each mechanism, 2",
    ),
    "three statistics for two": (([MECHANISM, MECHANISM],), {"statistic": ["a", "b", "c"]}, "one for each mechanism, 2, got 3"),
}


@pytest.mark.parametrize(("arguments", "options", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(ledger, arguments, options, text):
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=text):
        ledger.spend(*arguments, **{"data": "people", **options})
    assert ledger.report() == []


def test_a_ledger_can_be_pickled_and_printed(ledger):
    pay(ledger)
    other = pickle.loads(pickle.dumps(ledger))
    assert other.report() == ledger.report()
    assert repr(other) == f"Ledger({str(ledger.path)!r}, budget=1.0)"

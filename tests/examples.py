"""The mechanisms of the registry, for tests of all mechanisms. Each mechanism is constructed when its test runs."""

import pytest

from stairnoise.registry import ROWS

EXAMPLES = [
    pytest.param((row, example), id=f"{row.name}-{example.by or index}")
    for row in ROWS
    for index, example in enumerate(row.examples)
]
ARRAYS = [pytest.param((row, row.arrays), id=f"{row.name}-arrays") for row in ROWS if row.arrays is not None]
NUMBERS = [one for one in EXAMPLES if one.values[0][0].of_numbers]
FIRST = [
    one if row.examples[0] is example else pytest.param(*one.values, id=one.id, marks=pytest.mark.long)
    for one in EXAMPLES
    for row, example in one.values
]

# The mechanism for k values: the arguments of one mechanism, k, and the arguments of the mechanism whose noise each value gets.
DIVIDED = {
    **dict.fromkeys(
        ("staircase", "discrete_staircase", "laplace", "discrete_laplace"),
        ({"eps": 4.0, "sensitivity": 5}, 4, {"eps": 1.0, "sensitivity": 5}),
    ),
    "discrete_canonical": (
        {"eps": 4.0, "delta": 2.0**-18, "sensitivity": 1},
        4,
        {"eps": 1.0, "delta": 2.0**-20, "sensitivity": 1},
    ),
    "discrete_gaussian": ({"sigma2": 8.0}, 3, {"sigma2": 24.0}),
    "skellam": ({"mu": 8.0}, 3, {"mu": 24.0}),
    "randomized_response": ({"eps": 4.0, "categories": 5}, 4, {"eps": 1.0, "categories": 5}),
}

# Methods of noise that is one number.
_OF_ONE_NUMBER = (
    *("abs_moment", "as_scipy", "cdf", "confidence_interval", "eps_for_error", "interval", "isf", "logcdf", "logsf", "median"),
    *("moment", "plot", "plot_error", "ppf", "sf", "stats", "support"),
)
_NO_EPS = "eps is not a parameter of the mechanism; its methods take or return eps"
_NOT_MONOTONE = "it is not proven that P(|X| > t) falls as eps grows while the other parameters are fixed"
# Methods that other mechanisms of the same kind have and this one lacks, by the reason.
LACKS = {
    "merged_laplace": {"the mechanism has several rates, so there is no single eps to search for": ("eps_for_error",)},
    "arete": {_NO_EPS: ("eps", "eps_for_error")},
    "generalized_discrete_laplace": {_NO_EPS: ("eps", "eps_for_error")},
    "discrete_gaussian": {_NO_EPS: ("eps_for_error",)},
    "skellam": {_NO_EPS: ("eps_for_error",)},
    "truncated_laplace": {_NOT_MONOTONE: ("eps_for_error",)},
    "truncated_staircase": {_NOT_MONOTONE: ("eps_for_error",)},
    "truncated_discrete_staircase": {_NOT_MONOTONE: ("eps_for_error",)},
    "multi_scale_discrete_laplace": {_NOT_MONOTONE: ("eps_for_error",)},
    "lattice_noise": {"the mechanism is given by its weights, which no eps determines": ("eps_for_error",)},
    "randomized_response": {
        "a category may become any other one, so there is no largest change": ("privacy_map", "sensitivity"),
        "a category is no number, so its noise has no moments, quantiles or error bounds; "
        "estimate has intervals for frequencies": (*_OF_ONE_NUMBER, "entropy", "error_bound", "mean", "std", "var"),
    },
    "multivariate_staircase": {
        "a vector has no distribution function, no quantile and no picture on one axis; "
        "its norm has, in norm_cdf and the like": _OF_ONE_NUMBER,
        "the loss of a shift depends on its direction; the release is eps-differentially private, which is what is proven": (
            *("compose", "privacy_loss", "privacy_profile", "rdp", "tradeoff"),
        ),
    },
}

# These public classes are only bases; nobody constructs them.
BASES = {"Mechanism", "AdditiveMechanism", "SelectionMechanism"}
# Public classes with the methods of a mechanism that no list of mechanisms has.
UNLISTED = {*BASES, "NoNoise"}

# For tests that take the fixture `mechanism` of tests/conftest.py.
each_mechanism = pytest.mark.parametrize("mechanism", EXAMPLES, indirect=True)
each_mechanism_and_array = pytest.mark.parametrize("mechanism", [*EXAMPLES, *ARRAYS], indirect=True)
each_mechanism_of_numbers = pytest.mark.parametrize("mechanism", NUMBERS, indirect=True)
# One example of each mechanism runs always, the others only in `make test-long`.
one_mechanism_of_each = pytest.mark.parametrize("mechanism", [one for one in FIRST if one.values[0][0].of_numbers], indirect=True)
one_mechanism_of_each_and_array = pytest.mark.parametrize("mechanism", [*FIRST, *ARRAYS], indirect=True)


def mechanisms_of_numbers():
    """Return all examples, for a test that loops over them and is parametrized by something else."""
    return [row.make(example) for row, example in (one.values[0] for one in NUMBERS)]


def promise(mechanism, **options):
    """Return the guarantee of a mechanism, at sensitivity 1 if the mechanism was made from its noise scale alone."""
    return mechanism.guarantee(1 if mechanism._stated is None else None, **options)

"""The recommendation below a comparison. All numbers in its sentences are computed."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from stairnoise.mechanisms.staircase import loss

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stairnoise._comparison_rows import ComparisonRow
    from stairnoise._parameters import Cost

# Up to the first eps the staircase gains about eps**2/24 in one release, 1 % at most. From the second eps on, a staircase
# costs less than Laplace noise of the same variance for any number of composed releases. Between them, up to ten releases
# cost less with the staircase, and thousands cost less with Laplace noise. Computed at delta = 1e-6, with the shape of
# least variance; at delta = 1e-2 ten releases of eps = 1 cost 12 % more.
LAPLACE_UP_TO = 0.5
_STAIRCASE_FROM = 3.5
# Smaller relative differences do not matter to a user; four digits show every larger difference.
_NOTICEABLE = 1e-3
# Standard deviations are compared instead of variances, which float64 cannot always hold.
_ROOT = {"l1": 1.0, "l2": 0.5}
# A smaller ratio of float64 numbers means little.
_LEAST_RATIO = 1e-300

_QUANTITY = {"l1": "E|X|", "l2": "variance"}


def recommend(compared: Iterable[ComparisonRow], eps: float, cost: Cost) -> str:
    """Return a few sentences about releases of one number: the choice, the staircase's gain, and its price."""
    rows = {row.name: row for row in compared if not isnan(row.ratio)}
    quantity = _QUANTITY[cost]
    staircase, laplace = rows.get(f"Staircase {cost}"), rows.get("Laplace")
    sentences = []
    if staircase and laplace:
        sentences += [
            f"eps = {eps:g}: {_choice(eps)}.",
            f"The staircase's {quantity} is {_against(staircase.ratio)} Laplace's.",
            *_quantile_caveat(staircase, laplace),
            _composition(eps),
        ]
    integer, geometric = rows.get(f"DiscreteStaircase {cost}"), rows.get("DiscreteLaplace")
    if integer and geometric:
        sentences += _for_integers(integer, geometric, quantity)
    if canonical := rows.get("DiscreteCanonical"):
        sentences.append(
            "For one integer at sensitivity 1 no (eps, delta)-private noise has less error than DiscreteCanonical: "
            f"its {quantity} is {_against(canonical.ratio)} the discrete Laplace's."
        )
    ours, theirs = rows.get(f"TruncatedStaircase {cost}"), rows.get("TruncatedLaplace")
    if ours and theirs:
        sentences += _bounded(ours, theirs, quantity)
    return " ".join(filter(None, sentences))


def recommend_for_several(compared: Sequence[ComparisonRow], total: str, releases: int, values: int, cost: str) -> str:
    """Return a few sentences about mechanisms for several releases or values of one person: the least cost of each kind."""
    those = [f"{releases} releases"] * (releases > 1) + [f"{values} values of one person"] * (values > 1)
    said = f"{' of '.join(those)} together are" if those else "one release is"
    sentences = [f"With each of these, {said} {total}-differentially private."]
    for kind, whole, baseline in (("real numbers", False, "Laplace"), ("integers", True, "DiscreteLaplace")):
        rows = [row for row in compared if (row.p_zero is not None) is whole]
        least = min((_root_cost(row, cost) for row in rows), default=0.0)
        near = [row for row in rows if _root_cost(row, cost) <= least * (1 + _NOTICEABLE) ** _ROOT[cost]]
        if not near:
            continue
        # Among equally good mechanisms prefer one without a δ of its own, then the baseline.
        best = min(near, key=lambda row: (getattr(row.mechanism, "delta", None) is not None, row.name != baseline))
        gain = f": its {_QUANTITY[cost]} is {_against(best.ratio)} {baseline}'s" if best.ratio < 1 - _NOTICEABLE else ""
        sentences.append(f"For {kind} choose {best.name}{gain}.")
    return " ".join(sentences)


def _root_cost(row: ComparisonRow, cost: str) -> float:
    """Return the cost to the power of `_ROOT`."""
    return row.mean_abs if cost == "l1" else row.std


def _choice(eps: float) -> str:
    if eps <= LAPLACE_UP_TO:
        return "choose Laplace"
    if eps >= _STAIRCASE_FROM:
        return "choose the staircase"
    return "choose the staircase for ten releases or fewer at a delta up to 1e-6, Laplace for thousands"


def _against(ratio: float) -> str:
    """Write a ratio so that the other mechanism's name can follow, as in "45 % below Laplace's"."""
    if ratio < _LEAST_RATIO:
        return f"less than {_LEAST_RATIO:g} of"
    if ratio < 0.5:
        factor = 1 / ratio
        return f"1/{factor:,.0f} of" if 1000 <= factor < 1e6 else f"1/{factor:.3g} of"
    percent = 100 * (1 - ratio)
    return f"{percent:.2g} % below" if percent >= 0.01 else "less than 0.01 % below"


def _quantile_caveat(staircase: ComparisonRow, laplace: ComparisonRow) -> list[str]:
    if not staircase.bound_95 > laplace.bound_95 * (1 + _NOTICEABLE):
        return []
    ours, theirs = _distinct(staircase.bound_95, laplace.bound_95)
    return [f"Its 95 % bound is the larger one, though: {ours} against {theirs}."]


def _distinct(a: float, b: float) -> tuple[str, str]:
    """Write two noticeably different numbers with three digits, or with four if three digits are equal."""
    return next(texts for digits in (3, 4) if len(set(texts := (f"{a:.{digits}g}", f"{b:.{digits}g}"))) == 2)


def _composition(eps: float) -> str:
    """Compare the cost of very many releases at the same variance, which is proportional to the mean loss."""
    ours, theirs = loss.mean_losses(eps)
    if not abs(ours - theirs) > _NOTICEABLE * theirs:
        return ""
    (less, name), (more, _) = sorted([(ours, "the staircase"), (theirs, "Laplace")])
    less_text, more_text = _distinct(less, more)
    return (
        f"Over very many releases at the same variance {name} composes better: its mean privacy loss is {less_text} per draw "
        f"against {more_text}."
    )


def _bounded(staircase: ComparisonRow, laplace: ComparisonRow, quantity: str) -> list[str]:
    """Compare the mechanisms whose noise has bounds."""
    (less, best), (more, other) = sorted([(staircase.ratio, "the truncated staircase"), (laplace.ratio, "truncated Laplace")])
    if not less < more * (1 - _NOTICEABLE):
        return []
    return [f"For one release with bounded noise choose {best}: its {quantity} is {_against(less / more)} {other}'s."]


def _for_integers(staircase: ComparisonRow, laplace: ComparisonRow, quantity: str) -> list[str]:
    if laplace.mechanism.sensitivity == 1:
        return ["For integers at sensitivity 1 the discrete staircase is the discrete Laplace distribution."]
    gain = f"For integers the discrete staircase's {quantity} is {_against(staircase.ratio)} the discrete Laplace's."
    return [gain, *_quantile_caveat(staircase, laplace)]

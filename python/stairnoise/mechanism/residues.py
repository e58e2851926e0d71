"""Releasing integers modulo m, for sums that secure aggregation computes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, got
from stairnoise._output import released_array
from stairnoise._parameters import count, laid_out, refuse, true_values
from stairnoise._types import Memory
from stairnoise.mechanism.drawing import threads_asked
from stairnoise.mechanism.guarantee import NAME
from stairnoise.rng import Rng, release_stream

MOST_MODULUS = 2**64
# Dtypes of residues, and the largest modulus of each.
_MODULI = {"uint64": 2**64, "int64": 2**63, "uint32": 2**32}


def checked_modulus(modulus: object) -> int:
    """Check a modulus."""
    return count(modulus, "modulus", least=2, most=MOST_MODULUS)


def released_modulo(
    mechanism: Any, values: object, modulus: object, k: int, rng: Rng | None, out: Memory | None, threads: int | None
) -> Any:
    """Release integers modulo m; one person changes k of them."""
    stream = release_stream(rng)
    m, workers = checked_modulus(modulus), threads_asked(threads)
    wider = mechanism._keeping_guarantee(k, NAME)
    if mechanism._parameter_shape:
        raise ParameterError(
            f"release_modulo must have a mechanism of single parameters, got parameters of shape {mechanism._parameter_shape}"
        )
    if not mechanism._integers:
        refuse("granularity", wider._sampler.granularity, False, "1 for release_modulo")
    answers = whole_answers(values)
    allowed = tuple(dtype for dtype, most in _MODULI.items() if m <= most)
    residues = released_array(answers.shape, out, "uint64", allowed)
    if out is not None:
        answers = laid_out(answers, residues)
    wider._sampler.release_modulo(stream, answers, m - 1, residues, workers)
    if out is not None:
        return out
    return residues.item() if residues.shape == () else residues


def whole_answers(values: object) -> NDArray[np.int64]:
    """Convert true answers to int64; raise if their type is not one of integers."""
    answers, _ = true_values(values)
    if answers.dtype.kind != "i":
        raise ParameterTypeError(f"values must be integers, got {got('values', values, answers)}")
    return answers

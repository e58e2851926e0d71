"""How numbers are written in the JSON files: see tests/vectors/README.md."""

import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.oracles.lattice import Shape

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def float_bits(x: float) -> str:
    """IEEE 754 binary64 bits, 16 hexadecimal digits."""
    return struct.pack(">d", x).hex()


def float_of(bits: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(bits))[0])


def word_hex(word: int) -> str:
    return f"{word:016x}"


def shape_text(shape: Shape) -> str | None:
    return shape if shape is None or isinstance(shape, str) else float_bits(shape)


def shape_of(text: str | None) -> Shape:
    return text if text in (None, "l1", "l2") else float_of(text)


def encoded(argument: Any) -> Any:
    """Float64 as bits; integers, the words for a shape and None as they are."""
    if isinstance(argument, (list, tuple)):
        return [encoded(part) for part in argument]
    return float_bits(argument) if isinstance(argument, float) else argument


def decoded(argument: Any) -> Any:
    if isinstance(argument, list):
        return [decoded(part) for part in argument]
    return float_of(argument) if isinstance(argument, str) and argument not in ("l1", "l2") else argument


def write(name: str, entries: Iterable[Any]) -> None:
    """One entry per line, so that a change shows as the lines it touches."""
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    (VECTORS / f"{name}.json").write_text(f"[\n{lines}\n]\n")


def read(name: str) -> list[Any]:
    return list(json.loads((VECTORS / f"{name}.json").read_text()))

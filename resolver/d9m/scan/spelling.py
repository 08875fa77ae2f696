"""Names that are a slip of the finger away from a known one."""

from __future__ import annotations

from collections.abc import Iterable

_SHORTEST = 8
_LONG = 16


def closest_typo(name: str, known: Iterable[str]) -> str | None:
    """The known name that was meant: one slip away, or two in a long name that are not two wrong
    letters. MAX and MIN are not slips of each other.

    >>> closest_typo("CUBLAS_WORKSPACE_CONFG", ["CUBLAS_WORKSPACE_CONFIG"])
    'CUBLAS_WORKSPACE_CONFIG'
    >>> closest_typo("HCCL_ALGO", ["NCCL_ALGO"])
    """
    if len(name) < _SHORTEST:
        return None
    for right in sorted(known):
        if right[:1] == name[:1] and abs(len(right) - len(name)) <= 2:
            slips = _slips(name, right)
            if slips == 1 or (slips == 2 and len(name) >= _LONG and len(name) != len(right)):
                return right
    return None


def _slips(one: str, other: str) -> int:
    """Letters that are missing, too many or wrong, and neighbours that are swapped; 3 for more
    than two.
    """
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    if len(one) == len(other) == 2 and one == other[::-1]:
        return 1
    if max(len(one), len(other)) > 40:
        return 3
    before = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for place, against in enumerate(other, 1):
            line.append(
                min(before[place] + 1, line[-1] + 1, before[place - 1] + (letter != against))
            )
        before = line
    return min(before[-1], 3)

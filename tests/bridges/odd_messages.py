"""Examples and SequenceExamples as no writer makes them: what protobuf allows, or only nearly allows, and damage."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

KEYS = [b"a", b"b", b"c", b"d"]
BYTES, FLOAT, INT = 1, 2, 3
VARINT, EIGHT, LEN, GROUP, END_GROUP, FOUR = range(6)


def varint(value: int, more: int = 0) -> bytes:
    """A varint, in so many bytes more than it needs."""
    value &= (1 << 64) - 1
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    if not more:
        return bytes([*parts, value])
    return bytes([*parts, value | 0x80, *[0x80] * (more - 1), 0])


class OddMessages:
    """Messages whose every part is odd with a chance. Lengths of gigabytes only where `huge`."""

    def __init__(self, seed: int, odd: float, *, huge: bool = False) -> None:
        self.random = random.Random(seed)
        self.odd = odd
        self.huge = huge
        self.kinds = {key: self.random.randrange(1, 4) for key in KEYS}

    def example(self) -> bytes:
        parts = [self._field(1, self._map(self._feature))]
        while self._is_odd(1):
            parts.append(self._field(1, self._map(self._feature)))
        return self._damaged(self._joined(parts, 1))

    def sequence_example(self) -> bytes:
        parts = [self._field(1, self._map(self._feature)), self._field(2, self._map(self._steps))]
        while self._is_odd(1):
            number, value = self.random.choice([(1, self._feature), (2, self._steps)])
            parts.append(self._field(number, self._map(value)))
        return self._damaged(self._joined(parts, 1))

    def _is_odd(self, share: float) -> bool:
        return self.random.random() < self.odd * share

    def _joined(self, parts: list[bytes], share: float) -> bytes:
        """The parts with fields between them that nobody knows."""
        odd = [self._unknown() if self._is_odd(share) else b"" for _ in range(len(parts) + 1)]
        return odd[0] + b"".join(part + other for part, other in zip(parts, odd[1:], strict=True))

    def _number(self, value: int) -> bytes:
        return varint(value, self.random.choice([1, 2, 3, 9, 10]) if self._is_odd(0.3) else 0)

    def _tag(self, number: int, wire_type: int) -> bytes:
        return varint(number << 3 | wire_type, self.random.choice([1, 2, 4, 5]) if self._is_odd(0.15) else 0)

    def _field(self, number: int, data: bytes) -> bytes:
        length = len(data)
        if self._is_odd(0.15):
            huge = [1 << 31, 1 << 32, 1 << 63] if self.huge else []
            length = max(0, length + self.random.choice([-2, -1, 1, 2, *huge]))
        return self._tag(number, LEN) + self._number(length) + data

    def _unknown(self) -> bytes:
        number = self.random.choice([1, 2, 3, 4, 5, 9, 15, 16, 1000, 2**29 - 1, 0])
        wire_type = self.random.choice([VARINT, EIGHT, LEN, GROUP, END_GROUP, FOUR, 6, 7, VARINT, LEN, FOUR])
        tag = self._tag(number, wire_type)
        if wire_type == VARINT:
            return tag + self._number(self.random.choice([0, 1, 2**63, 300]))
        if wire_type in (EIGHT, FOUR):
            size = 8 if wire_type == EIGHT else 4
            return tag + self.random.randbytes(size - (self.random.random() < 0.2))
        if wire_type == LEN:
            return tag + b"\x03abc"
        if wire_type == GROUP:
            inner = self._unknown() if self.random.random() < 0.3 else b""
            return tag + inner + self._tag(number + (self.random.random() < 0.2), END_GROUP)
        return tag

    def _map(self, value: Callable[[int], bytes]) -> bytes:
        keys = [key for key in KEYS if self.random.random() < 0.9]
        if self._is_odd(1):
            keys.append(self.random.choice(KEYS))
        entries = [self._field(1, self._entry(key, value(self.kinds[key]))) for key in keys]
        return self._joined(entries, 0.4)

    def _entry(self, key: bytes, value: bytes) -> bytes:
        if self._is_odd(0.5):
            key = self.random.choice([b"", b"\xff\xfe", b"zz", b"\xed\xa0\x80", b"a\0", b"\xc0\x80"])
        k, v = self._field(1, key), self._field(2, value)
        parts = [k, v]
        if self._is_odd(1):
            parts = self.random.choice(
                [[v, k], [k], [v], [k, k, v], [k, v, v], [self._field(1, b"b"), k, v], []]
            )
        return self._joined(parts, 0.5)

    def _steps(self, kind: int) -> bytes:
        return self._joined(
            [self._field(1, self._feature(kind)) for _ in range(self.random.randrange(4))], 0.5
        )

    def _feature(self, kind: int) -> bytes:
        if self.random.random() < 0.04:
            return b""
        kind = self.random.randrange(1, 4) if self._is_odd(1) else kind
        lists = [self._field(kind, self._list(kind))]
        while self._is_odd(1.5):
            other = self.random.choice([kind, self.random.randrange(1, 4)])
            lists.append(self._field(other, self._list(other)))
        return self._joined(lists, 1)

    def _list(self, kind: int) -> bytes:
        kind = self.random.randrange(1, 4) if self._is_odd(0.3) else kind
        count = self.random.choice([0, 1, 1, 1, 2, 3])
        if kind == BYTES:
            values = [self.random.choice([b"", b"a", b"\xff\xfe", b"hello"]) for _ in range(count)]
            return self._joined([self._field(1, value) for value in values], 1)
        if kind == INT:
            values = [
                self._number(self.random.choice([0, 1, -1, 5, 300, 2**63 - 1, -(2**63)]))
                for _ in range(count)
            ]
        else:
            numbers = [self.random.choice([0.0, -0.0, 1.5, float("inf"), 1e-45]) for _ in range(count)]
            values = [struct.pack("<f", number) for number in numbers]
        return self._joined(self._numbers(values, VARINT if kind == INT else FOUR), 1)

    def _numbers(self, values: list[bytes], wire_type: int) -> list[bytes]:
        form = self.random.random()
        if form < 0.7:
            packed = b"".join(values)
            return [self._field(1, packed[:-1] if self._is_odd(1) else packed)] if packed else []
        packed_chance = 0.0 if form < 0.85 else 0.5
        return [
            self._field(1, value) if self.random.random() < packed_chance else self._tag(1, wire_type) + value
            for value in values
        ]

    def _damaged(self, data: bytes) -> bytes:
        if self.random.random() < 0.85:
            return data
        at, change = self.random.randrange(len(data) + 1), self.random.randrange(4)
        inserted = self.random.choice([b"\x0a", b"\0", b"\x80", b"\x1a\0", b"\x08\x01", b"\x4a\x01q"])
        changed = self.random.randbytes(1)
        return data[:at] + [changed + data[at + 1 :], inserted + data[at:], data[at + 1 :], b""][change]

"""Example and SequenceExample on the native floor, against what TensorFlow and protobuf gave."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from penstock import _native

GOLDEN = Path(__file__).parent / "golden" / "example"
EXAMPLES = json.loads((GOLDEN / "examples.expected.json").read_text())
SEQUENCES = json.loads((GOLDEN / "sequence_examples.expected.json").read_text())
KINDS = {None: 0, "bytes_list": 1, "float_list": 2, "int64_list": 3}
VARLEN = [(b"b", 1, 1, 0, 0, None), (b"f", 2, 1, 0, 0, None), (b"i", 3, 1, 0, 0, None)]


def named(cases):
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


def plain(kind, values):
    """Values as the golden files write them."""
    if kind == 1:
        return [value.hex() for value in values]
    if kind == 2:
        return [value if np.isfinite(value) else str(value) for value in values.tolist()]
    return None if kind == 0 else values.tolist()


def rows_of(parts, kind):
    values, value_offsets, list_offsets, valid = parts
    assert valid is None
    if kind == 1:
        values = _native.bytes_objects(values, value_offsets).tolist()
    return [plain(kind, values[start:stop]) for start, stop in itertools.pairwise(list_offsets)]


def decode(plan, *records):
    lengths = np.array([len(record) for record in records], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)[: len(records)]
    return plan.decode(b"".join(records), starts, lengths)


@named(EXAMPLES)
def test_an_example_reads_as_the_protobuf_class_reads_it(case):
    data = bytes.fromhex(case["bytes_hex"])
    if case.get("protobuf_message") is None or "class" in case["protobuf_message"]:
        with pytest.raises(_native.MessageError):
            _native.read_example(data)
        return
    read = _native.read_example(data)
    expected = {key: (KINDS[kind], values) for key, (kind, values) in case["protobuf_message"].items()}
    assert {key: (kind, plain(kind, values)) for key, (kind, values) in read.items()} == expected


@named(EXAMPLES)
def test_a_conforming_plan_gives_what_the_protobuf_class_gives(case):
    message = case.get("protobuf_message")
    columns, rows, error = decode(_native.ExamplePlan(VARLEN), bytes.fromhex(case["bytes_hex"]))
    if message is None or "class" in message:
        assert (rows, error[0], error[2]) == (0, 0, 1)
        return
    others = [
        key
        for key, kind in (("b", 1), ("f", 2), ("i", 3))
        if KINDS[message.get(key, [None])[0]] not in (0, kind)
    ]
    if others:
        assert (rows, error[2]) == (0, 2)
        return
    assert (rows, error) == (1, None)
    read = {key: rows_of(parts, kind)[0] for key, kind, parts in zip("bfi", (1, 2, 3), columns, strict=True)}
    assert read == {key: message.get(key, [None, []])[1] or [] for key in "bfi"}


@named(EXAMPLES)
def test_a_strict_plan_gives_what_tensorflow_gives(case):
    expected = case.get("parse_example_batch_of_1_varlen", case.get("parse_example_batch_of_1_varlen_error"))
    columns, rows, error = decode(
        _native.ExamplePlan(VARLEN, strict_tf=True), bytes.fromhex(case["bytes_hex"])
    )
    if "class" in expected:
        assert rows == 0
        text = {
            1: "Could not parse",
            2: "Data types don't match",
            7: "Can't parse serialized",
            8: "Unsupported datatype",
        }
        assert text[error[2]] in expected["message"]
        return
    assert (rows, error) == (1, None)
    read = {key: rows_of(parts, kind)[0] for key, kind, parts in zip("bfi", (1, 2, 3), columns, strict=True)}
    assert read == expected


@named(EXAMPLES)
def test_a_strict_plan_of_one_int_fails_where_tensorflow_fails(case):
    plan = _native.ExamplePlan([(b"i", 3, 0, 1, 0, None)], strict_tf=True)
    columns, rows, error = decode(plan, bytes.fromhex(case["bytes_hex"]))
    if "parse_single_example_fixed_i" in case:
        assert (rows, columns[0][0].tolist()) == (1, [case["parse_single_example_fixed_i"]])
    else:
        assert (rows, error[0]) == (0, 0)

"""Attention against its formula query by query, its properties, what is undefined, and its bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import made_descs
import numpy as np
import pytest
from bounds_of import gathered
from drawn_descs import TINY, draws
from elements import misrounded, refused
from made_descs import Made, tensor
from products_of import peak

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.drawing.descs import FORMS, MASKS
from dmlcheck.reference import engine
from dmlcheck.reference.kernels.attention import tiles as attention_tiles
from dmlcheck.reference.tiling import cut
from dmlcheck.specs.records import OUTPUT

ATTENTION = ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")

Array = np.ndarray[Any, Any]


class Attention(NamedTuple):
    """Query {batch, length, heads * size}, key and value likewise, and what else there may be; and some fields."""

    query: Array
    key: Array | None
    value: Array | None
    heads: int
    groups: int
    form: str
    bias: Array | None = None
    position: Array | None = None
    past_key: Array | None = None
    past_value: Array | None = None
    mask: Array | None = None
    mask_type: str = "NONE"
    scale: float = 0.5
    filter_value: float = -10000.0


def read(desc: OperatorDesc, inputs: dict[str, Array]) -> Attention:
    """Return the attention of a desc, whose stacked tensors are taken apart."""
    given = {name.removesuffix("Tensor"): x for name, x in inputs.items()}
    form = next((name for name in given if name.startswith("Stacked")), "separate")
    names = [name for name in ("Query", "Key", "Value") if name in form]
    for index, name in enumerate(names):
        x = given[form][:, :, :, index]
        given[name] = x.reshape(*x.shape[:2], -1)
    heads = desc.values.get("HeadCount") or desc.values["QueryHeadCount"]
    return Attention(
        given["Query"],
        given.get("Key"),
        given.get("Value"),
        heads,
        desc.values.get("KeyValueHeadCount") or heads,
        form,
        given.get("Bias"),
        given.get("RelativePositionBias"),
        given.get("PastKey"),
        given.get("PastValue"),
        given.get("Mask"),
        desc.values["MaskType"],
        desc.values["Scale"],
        desc.values["MaskFilterValue"],
    )


def tensors(made: Attention) -> dict[str, Array]:
    """Return the input tensors by the names of their fields without `Tensor`."""
    parts = {"Query": made.query, "Key": made.key, "Value": made.value}
    given = {name: x for name, x in parts.items() if x is not None and name not in made.form}
    stacks = [
        x.reshape(*x.shape[:2], made.heads, -1) for name, x in parts.items() if x is not None and name in made.form
    ]
    given |= {made.form: np.stack(stacks, 3)} if stacks else {}
    more = {
        "Bias": made.bias,
        "RelativePositionBias": made.position,
        "PastKey": made.past_key,
        "PastValue": made.past_value,
        "Mask": made.mask,
    }
    return given | {name: x for name, x in more.items() if x is not None}


def built(operator: str, made: Attention, *, present: bool = True, **fields: Any) -> Made:
    """Return the desc of an attention with its inputs; the present tensors hold the past and this step."""
    given = {f"{name}Tensor": x for name, x in tensors(made).items()}
    keys, values = (held(*pair, made.groups) for pair in ((made.past_key, made.key), (made.past_value, made.value)))
    outputs = {"OutputTensor": (*made.query.shape[:2], made.heads * values[3])}
    if present:
        outputs |= {"OutputPresentKeyTensor": keys, "OutputPresentValueTensor": values}
    kind = made.query.dtype.name.upper()
    desc: dict[str, Any] = {
        name: tensor("INT32" if name == "MaskTensor" else kind, sizes)
        for name, sizes in {**{name: x.shape for name, x in given.items()}, **outputs}.items()
    }
    desc |= {"Scale": made.scale, "MaskFilterValue": made.filter_value, "MaskType": made.mask_type}
    counts = {"QueryHeadCount": made.heads, "KeyValueHeadCount": made.groups}
    desc |= counts if operator.endswith("1") else {"HeadCount": made.heads}
    return made_descs.built(operator, {**desc, **fields}, given)


def held(past: Array | None, own: Array | None, groups: int) -> tuple[int, int, int, int]:
    """Return the sizes of keys or values, with those of earlier steps."""
    if own is None:
        assert past is not None
        return past.shape
    before = 0 if past is None else past.shape[2]
    return own.shape[0], groups, before + own.shape[1], own.shape[2] // groups


# ---- what is right


def is_hidden(made: Attention, batch: int, head: int, query: int, key: int) -> bool:
    """Say whether the mask hides a key from a query."""
    if made.mask is None:
        return False
    if made.mask_type == "BOOLEAN":
        return bool(made.mask[batch, head, query, key] == 0)
    if made.mask_type == attention_tiles.STARTS:
        return not sees(made, made.mask.ravel().tolist(), batch, query, key)
    ends, *starts = made.mask.reshape(-1, len(made.query))
    return bool(key >= ends[batch] or any(key < each[batch] for each in starts))


def sees(made: Attention, mask: list[int], batch: int, query: int, key: int) -> bool:
    """Say whether a query sees a key by lengths of keys, and starts of queries and keys in all batches."""
    count, length, _ = made.query.shape
    keys = sum(0 if x is None else x.shape[axis] for x, axis in ((made.past_key, 2), (made.key, 1)))
    first, end = mask[count + batch : count + batch + 2]
    start = mask[2 * count + 1 + batch]
    return first <= batch * length + query < end and start <= batch * keys + key < start + mask[batch]


def apart(x: Array | None, heads: int) -> Any:
    """Return a tensor with the heads before the length, in extended precision."""
    return None if x is None else x.astype(np.longdouble).reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def right(made: Attention, *, is_set: bool = False) -> tuple[Array, Array, Array]:
    """Return the output, the keys and the values, each of those of the past and this step; query by query.

    MaskFilterValue is added to the products of hidden keys, or these are set to it.
    """
    q, k, v = apart(made.query, made.heads), apart(made.key, made.groups), apart(made.value, made.groups)
    size, batch, length = q.shape[3], len(q), q.shape[2]
    if made.bias is not None:
        ends = (made.heads * size, (made.heads + made.groups) * size)
        own = [part.astype(np.longdouble) for part in np.split(made.bias, ends)]
        q = q + own[0].reshape(made.heads, 1, -1)
        k, v = (
            None if x is None else x + part.reshape(made.groups, 1, -1) for x, part in zip((k, v), own[1:], strict=True)
        )
    keys, values = (
        np.concatenate([x.astype(np.longdouble) for x in pair if x is not None], axis=2)
        for pair in ((made.past_key, k), (made.past_value, v))
    )
    found = np.empty((batch, length, made.heads, values.shape[3]), np.longdouble)
    for b, h, s in np.ndindex(batch, made.heads, length):
        group = h // (made.heads // made.groups)
        scores = np.longdouble(np.float32(made.scale)) * (keys[b, group] @ q[b, h, s])
        scores = scores if made.position is None else scores + made.position[b, h, s]
        hidden = [is_hidden(made, b, h, s, t) for t in range(len(scores))]
        scores = np.where(hidden, made.filter_value if is_set else scores + made.filter_value, scores)
        weights = np.exp(scores - scores.max())
        found[b, s, h] = weights @ values[b, group] / weights.sum()
    return found.reshape(batch, length, -1), keys, values


INF = math.inf
TYPES = {"FLOAT32": np.float32, "FLOAT16": np.float16}
RESULTS = ("OutputTensor", "OutputPresentKeyTensor", "OutputPresentValueTensor")


# ---- what is right


MOST_DIMENSIONS = {"Query": 3, "Key": 3, "Value": 3, "Output": 3, "RelativePositionBias": 4, "Bias": 1}


def fits(desc: OperatorDesc) -> bool:
    """Whether all tensors of a desc fit each other, in the forms that are drawn."""
    given = [(part, most) for name, most in MOST_DIMENSIONS.items() for part in desc.parts[f"{name}Tensor"]]
    if any(len(part.tensor.sizes) > most for part, most in given) or desc.parts.get("PastSequenceLengthsTensor"):
        return False
    if desc.values["MaskType"] not in MASKS:
        return False
    return (not desc.parts["MaskTensor"]) == (desc.values["MaskType"] == "NONE")


def attentions(operator: str, count: int, **wishes: tuple[Any, ...]) -> Iterator[Made]:
    """Yield descs whose results are documented or measured, with their inputs."""
    for desc, inputs in draws(operator, 2 * count, wishes, wanted=fits, sizes=TINY):
        if not any(np.any(found.unknown) for found in engine.evaluate(desc, inputs).values()):
            yield desc, inputs
            count -= 1
        if not count:
            return


@pytest.mark.slow
@pytest.mark.parametrize(("block", "keys"), [(1, 5), (cut.BLOCK, attention_tiles.ELEMENTS_OF_TILE)])
@pytest.mark.parametrize("operator", ATTENTION)
def test_each_query_has_the_mean_of_the_values_by_the_softmax_of_its_products(
    operator: str, block: int, keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In tiles of one query with keys in blocks, and in large ones."""
    monkeypatch.setattr(cut, "BLOCK", block)
    monkeypatch.setattr(attention_tiles, "ELEMENTS_OF_TILE", keys)
    seen = set()
    for desc, inputs in attentions(operator, 120):
        made = read(desc, inputs)
        found = engine.run(desc, inputs)
        for label, expected in zip(RESULTS, right(made), strict=True):
            if label in found:
                assert not misrounded(found[label], expected.astype(np.float64)).any(), (desc, label)
        form = "past" if made.key is None else made.form
        seen |= {(form, made.mask_type), (form, str(made.query.dtype)), (form, "OutputPresentKeyTensor" in found)}
    assert seen >= {*itertools.product(FORMS, (*MASKS, "float32", "float16", True, False))}


def simple(data_type: str = "FLOAT32", **more: Any) -> Attention:
    """Return an attention of 3 queries, 4 keys, and 2 heads of size 2."""
    generator = np.random.default_rng(3)
    parts = (generator.normal(size=(2, length, 4)).astype(TYPES[data_type]) for length in (3, 4, 4))
    return Attention(*parts, 2, 2, "separate", **more)


def output(made: Attention, operator: str = "MULTIHEAD_ATTENTION", **fields: Any) -> Array:
    return engine.run(*built(operator, made, present=False, **fields))["OutputTensor"]


def test_a_constant_value_comes_out_whatever_the_weights_are() -> None:
    made = simple()
    assert made.value is not None
    assert (output(made._replace(value=np.full_like(made.value, 0.1))) == np.float32(0.1)).all()


# ---- what is undefined


def bounds_of(
    desc: OperatorDesc, inputs: dict[str, Array], accumulate: str = "FLOAT32", *, is_likely: bool = False
) -> dict[str, engine.Bound]:
    asked = {part.label: np.ones(part.tensor.sizes, bool) for part in desc.tensors(OUTPUT)}
    return gathered(desc, inputs, asked, accumulate, is_likely=is_likely)


def accepted(made: Attention, found: Array) -> Array:
    """Say which elements of an output are right."""
    desc, inputs = built("MULTIHEAD_ATTENTION", made, present=False)
    given = bounds_of(desc, inputs)["OutputTensor"]
    assert not given.undefined.any()
    return ~refused(found.astype(made.query.dtype).reshape(-1), given).reshape(found.shape)


@pytest.mark.parametrize("filter_value", [-12, -1, 0, 50])
def test_a_mask_adds_its_value_or_sets_it_and_nothing_between_is_right(filter_value: float) -> None:
    lengths = np.array([[2, 9]], np.int32)
    made = simple(mask=lengths, mask_type="KEY_SEQUENCE_LENGTH", filter_value=filter_value)
    added, is_set = (right(made, is_set=each)[0].astype(np.float64) for each in (False, True))
    differ = np.abs(added - is_set) > 1e-5
    assert differ[0].any()
    assert not differ[1].any()
    assert accepted(made, added).all()
    assert accepted(made, is_set).all()
    assert not accepted(made, (added + is_set) / 2)[differ].any()
    assert not accepted(made, 2 * added - is_set)[differ].any()


def test_a_query_without_keys_has_the_weights_that_it_has_without_a_mask_or_equal_ones() -> None:
    mask = np.ones((2, 2, 3, 4), np.int32)
    mask[1, 0, 2] = 0
    made = simple(mask=mask, mask_type="BOOLEAN")
    assert made.value is not None
    added, mean = right(made._replace(mask=None, mask_type="NONE"))[0].astype(np.float64), made.value[1, :, :2].mean(0)
    is_set, middle = added.copy(), added.copy()
    is_set[1, 2, :2], middle[1, 2, :2] = mean, (added[1, 2, :2] + mean) / 2
    assert accepted(made, added).all()
    assert accepted(made, is_set).all()
    assert np.argwhere(~accepted(made, middle)).tolist() == [[1, 2, 0], [1, 2, 1]]


def test_an_implementation_may_keep_masked_products_in_float16() -> None:
    """-10000 leaves steps of 8 there, in which all products of a query without keys are equal."""
    made = simple("FLOAT16", mask=np.array([[0, 9]], np.int32), mask_type="KEY_SEQUENCE_LENGTH")
    scores = right(made._replace(mask=None, mask_type="NONE"))[0].astype(np.float64)
    assert made.value is not None
    scores[0] = made.value[0].astype(np.float64).mean(0)
    assert accepted(made, scores).all()


@pytest.mark.parametrize("filter_value", [-2.0, 0.0])
def test_keys_after_a_query_have_the_filter_value_added_or_no_weight(filter_value: float) -> None:
    """DirectML 1.15.4 adds it, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29."""
    x = np.random.default_rng(5).normal(size=(2, 3, 4)).astype(np.float32)
    made = Attention(x, x[:, :, :2], x[:, :, 2:], 2, 1, "separate", filter_value=filter_value)
    masked = made._replace(mask=np.broadcast_to(np.tril(np.ones((3, 3), np.int32)), (2, 2, 3, 3)), mask_type="BOOLEAN")
    added, without = (right(each)[0].astype(np.float64) for each in (masked, masked._replace(filter_value=-1e9)))
    desc, inputs = built("MULTIHEAD_ATTENTION1", made, PastSequenceLengthsTensor={"DataType": "INT32", "Sizes": [2]})
    inputs |= {"PastSequenceLengthsTensor": np.zeros(2, np.int32)}
    assert engine.run(desc, inputs)["OutputTensor"] == pytest.approx(added, rel=1e-5)
    given, differ = bounds_of(desc, inputs)["OutputTensor"], np.abs(added - without) > 1e-3
    assert differ[:, :2].any()
    for found, is_right in ((added, True), (without, True), ((added + without) / 2, False)):
        off = refused(found.astype(np.float32).reshape(-1), given).reshape(found.shape)
        assert not off.any() if is_right else off[differ].all()


@pytest.mark.parametrize(("data_type", "most", "more"), [("FLOAT16", 65504, 8), ("FLOAT32", 3.4028235e38, 3e37)])
def test_a_value_beyond_the_type_with_its_bias_may_be_infinite(data_type: str, most: float, more: float) -> None:
    """65512 would be rounded to 65504: DirectML 1.15.4 gives infinity, vkd3d-proton on lavapipe 25.0, 2026-11-29."""
    made = simple(data_type)
    assert made.value is not None
    value, bias = made.value.copy(), np.zeros(12, made.value.dtype)
    value[0, 1, 0], bias[8] = most, more
    found = right(made._replace(value=value, bias=bias))[0].astype(np.float64)
    for place, number, is_right in (((0, 0, 0), INF, True), ((0, 0, 0), 5.0, False), ((0, 0, 1), INF, False)):
        other = found.copy()
        other[place] = number
        assert accepted(made._replace(value=value, bias=bias), other)[place] == is_right
    assert accepted(made._replace(value=value, bias=bias), found).all()


# ---- bounds


def in_type(made: Attention, *, is_scaled_first: bool, is_divided_last: bool) -> Array:
    """Return what an implementation computes in the type of the tensors."""
    kind = made.query.dtype.type
    parts = [x.reshape(*x.shape[:2], made.heads, -1).transpose(0, 2, 1, 3) for x in (made.query, made.key, made.value)]
    assert made.bias is not None
    q, k, v = (x + own.reshape(made.heads, 1, -1) for x, own in zip(parts, np.split(made.bias, 3), strict=True))
    scale = kind(made.scale)
    scores = (scale * q) @ k.swapaxes(-1, -2) if is_scaled_first else scale * (q @ k.swapaxes(-1, -2))
    scores = scores + made.position
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    sums = powers.sum(axis=-1, keepdims=True)
    found = powers @ v / sums if is_divided_last else (powers / sums) @ v
    return np.asarray(found.transpose(0, 2, 1, 3).reshape(made.query.shape))


def large(data_type: str, count: int = 60) -> Attention:
    """Return an attention of as many queries as keys, with all that may be added."""
    generator = np.random.default_rng(6)
    sizes = (*[(2, count, 12)] * 3, (36,), (2, 3, count, count))
    q, k, v, bias, position = (generator.normal(size=own).astype(TYPES[data_type]) for own in sizes)
    return Attention(q, k, v, 3, 3, "separate", bias, position)


@pytest.mark.slow
@pytest.mark.parametrize("is_scaled_first", [False, True])
@pytest.mark.parametrize("is_divided_last", [False, True])
@pytest.mark.parametrize("data_type", TYPES)
def test_an_implementation_in_the_type_of_the_tensors_is_within_the_bounds(
    data_type: str, *, is_scaled_first: bool, is_divided_last: bool
) -> None:
    made = large(data_type)
    found = in_type(made, is_scaled_first=is_scaled_first, is_divided_last=is_divided_last).reshape(-1)
    desc, inputs = built("MULTIHEAD_ATTENTION", made, present=False)
    for is_likely in (False, True):
        given = bounds_of(desc, inputs, data_type, is_likely=is_likely)["OutputTensor"]
        assert not refused(found, given).any()


def test_an_implementation_may_keep_what_is_on_the_way_in_float16() -> None:
    made = large("FLOAT16")
    wide = made._replace(
        **{name: x.astype(np.float32) for name, x in made._asdict().items() if isinstance(x, np.ndarray)}
    )
    desc, inputs = built("MULTIHEAD_ATTENTION", made, present=False)
    given = bounds_of(desc, inputs)["OutputTensor"]
    found = in_type(wide, is_scaled_first=False, is_divided_last=False).astype(np.float16)
    assert not refused(found.reshape(-1), given).any()

    def held(x: Array) -> Array:
        return x.astype(np.float16).astype(np.float32)

    parts = [x.reshape(2, -1, 3, 4).transpose(0, 2, 1, 3) for x in (wide.query, wide.key, wide.value)]
    assert wide.bias is not None
    q, k, v = (held(x + own.reshape(3, 1, 4)) for x, own in zip(parts, np.split(wide.bias, 3), strict=True))
    scores = held(np.float32(0.5) * (q @ k.swapaxes(-1, -2)) + wide.position)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found = held(powers / powers.sum(axis=-1, keepdims=True)) @ v
    assert not refused(found.transpose(0, 2, 1, 3).astype(np.float16).reshape(-1), given).any()


FAULTS: dict[str, Callable[[Attention], Attention]] = {
    "no bias": lambda made: made._replace(bias=np.zeros_like(made.bias)),
    "no relative position": lambda made: made._replace(position=np.zeros_like(made.position)),
    "the position is scaled": lambda made: made._replace(position=made.position * np.float32(made.scale)),
    "no scale": lambda made: made._replace(scale=1),
    "key and value exchanged": lambda made: made._replace(key=made.value, value=made.key),
    "the heads turned": lambda made: made._replace(value=np.roll(made.value, 4, axis=2)),
    "one key less": lambda made: made._replace(
        key=made.key[:, 1:],
        value=made.value[:, 1:],
        position=made.position[..., 1:],
    ),
    "the heads interleaved": lambda made: made._replace(
        value=made.value.reshape(2, -1, 3, 4).swapaxes(2, 3).reshape(2, -1, 12)
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_refused(fault: str) -> None:
    made = large("FLOAT32")
    desc, inputs = built("MULTIHEAD_ATTENTION", made, present=False)
    given = bounds_of(desc, inputs)["OutputTensor"]
    wrong = in_type(FAULTS[fault](made), is_scaled_first=False, is_divided_last=False)
    assert refused(wrong.reshape(-1), given).mean() > 0.8


def test_a_lost_tail_of_the_softmax_is_refused() -> None:
    made = large("FLOAT32")
    desc, inputs = built("MULTIHEAD_ATTENTION", made, present=False)
    given = bounds_of(desc, inputs)["OutputTensor"]
    right_one = in_type(made, is_scaled_first=True, is_divided_last=True)
    assert refused((right_one * np.float32(1 + 1e-4)).reshape(-1), given).mean() > 0.9


def test_what_is_kept_is_exact_without_a_bias_and_one_rounding_with_it() -> None:
    made = simple(past_key=np.full((2, 2, 1, 2), 0.1, np.float32), past_value=np.full((2, 2, 1, 2), 0.3, np.float32))
    for bias in (None, np.full(12, 0.7, np.float32)):
        desc, inputs = built("MULTIHEAD_ATTENTION", made._replace(bias=bias))
        given = bounds_of(desc, inputs)
        for label in RESULTS[1:]:
            values = engine.run(desc, inputs)[label]
            assert not refused(values.reshape(-1), given[label]).any()
            assert given[label].is_rounded == (bias is not None)
            assert (given[label].radius <= (0 if bias is None else np.abs(given[label].value) * 2**-24)).all()


@pytest.mark.slow
def test_keys_in_blocks_have_the_bounds_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    made = large("FLOAT16")
    desc, inputs = built("MULTIHEAD_ATTENTION", made, present=False)
    for is_likely in (False, True):
        whole = bounds_of(desc, inputs, is_likely=is_likely)["OutputTensor"]
        monkeypatch.setattr(attention_tiles, "ELEMENTS_OF_TILE", 100)
        cut = bounds_of(desc, inputs, is_likely=is_likely)["OutputTensor"]
        monkeypatch.undo()
        assert (whole.radius > 0).all()
        assert cut.value == pytest.approx(whole.value)
        # Which terms are equal is seen in a sample of them.
        assert cut.radius == pytest.approx(whole.radius, rel=0.3 if is_likely else None)


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "keys", "size"), [(ATTENTION[0], 1 << 15, 64), (ATTENTION[1], 32, 1 << 16)])
def test_keys_and_values_of_a_large_head_take_little_memory(operator: str, keys: int, size: int) -> None:
    """A mean of equal rows is the row. Keys and values of 2^21 elements would take 16 MiB each as float64."""
    row = (np.arange(size) % 512).astype(np.float16)
    value = np.empty((1, keys, size), np.float16)
    value[:] = row
    made = Attention(np.ones((1, 2, size), np.float16), np.ones_like(value), value, 1, 1, "separate")
    desc, inputs = built(operator, made, present=False)
    assert (engine.run(desc, inputs)["OutputTensor"] == row).all()
    assert peak(desc, inputs) < 24 << 20


@pytest.mark.slow
def test_masks_and_positions_share_the_memory_of_the_scores() -> None:
    """2^21 scores, whose mask and position would take 16 MiB each in 64 bits; each query has the first key alone."""
    sizes = (1, 1, 1 << 10, 1 << 11)
    mask = np.zeros(sizes, np.int32)
    mask[..., 0] = 1
    parts = (np.ones((1, length, 4), np.float16) for length in (*sizes[2:], sizes[3]))
    position = np.zeros(sizes, np.float16)
    made = Attention(*parts, 1, 1, "separate", position=position, mask=mask, mask_type="BOOLEAN")
    desc, inputs = built("MULTIHEAD_ATTENTION", made, present=False)
    assert (engine.run(desc, inputs)["OutputTensor"] == 1).all()
    assert peak(desc, inputs) < 32 << 20

"""Implementations with a fault, written as people write them: in NumPy, without dmlcheck's formulas.

Each comes with descs and inputs that show the fault, and with what a likely cause may say of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
SEEDS = (1, 2, 3)
_TYPES = {"f4": "FLOAT32", "f2": "FLOAT16", "i4": "INT32", "u1": "UINT8"}


class Given(NamedTuple):
    """A desc of one output, as fields, and its inputs."""

    fields: Mapping[str, Any]
    inputs: Mapping[str, Array]


class WrittenFault(NamedTuple):
    """An operator, descs with inputs, the faulty implementation, and a pattern of the right causes, or None.

    `is_named` says that each of its failures must have a right cause, and not only no wrong one.
    """

    operator: str
    given: Callable[[], Iterator[Given]]
    run: Callable[..., Array]
    right: str | None = None
    is_named: bool = False


FAULTS: dict[str, WrittenFault] = {}


def _fault(
    operator: str, given: Callable[[], Iterator[Given]], right: str | None = None, *, is_named: bool = False
) -> Any:
    """Return a decorator that registers a faulty implementation by its name."""

    def put(run: Callable[..., Array]) -> Callable[..., Array]:
        FAULTS[run.__name__.strip("_").replace("_", "-")] = WrittenFault(operator, given, run, right, is_named)
        return run

    return put


def tensor(values: Array) -> dict[str, Any]:
    """Return the desc of a packed tensor."""
    return {"DataType": _TYPES[values.dtype.str[1:]], "Sizes": list(values.shape)}


def _given(inputs: Mapping[str, Array], **more: Any) -> Given:
    """Return a desc of packed inputs and further fields, with these inputs."""
    return Given({**{name: tensor(values) for name, values in inputs.items()}, **more}, inputs)


def _of_seeds(draw: Callable[[np.random.Generator], Given]) -> Callable[[], Iterator[Given]]:
    """Return a maker of what is drawn with each seed."""

    def make() -> Iterator[Given]:
        yield from (draw(np.random.default_rng(seed)) for seed in SEEDS)

    return make


def _one(dtype: Any, *ranges: tuple[float, float], shape: tuple[int, ...] = (2, 3, 16), **fields: Any) -> Any:
    """Return a maker of descs of one input, random in each of some ranges, and an output like it."""

    def make() -> Iterator[Given]:
        for low, high in ranges:
            for seed in SEEDS:
                x = np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)
                yield _given({"InputTensor": x}, OutputTensor=tensor(x), **fields)

    return make


def _two(dtype: Any, low: float, high: float) -> Any:
    """Return a maker of descs of two inputs, random in a range, and an output like them."""

    @_of_seeds
    def make(rng: np.random.Generator) -> Given:
        a, b = (rng.uniform(low, high, (2, 3, 16)).astype(dtype) for _ in range(2))
        if np.dtype(dtype).kind in "iu":
            b[b == 0] = 3
        return _given({"ATensor": a, "BTensor": b}, OutputTensor=tensor(a))

    return make


def _in(x: Array) -> Array:
    return x.astype(np.float32)


# ---- exponentials

_OVERFLOW = r"\bexp overflows"
_STEPS = r"FLOAT16"
_AT_LAST = {"Axes": [2]}


@_fault(
    "ACTIVATION_SOFTMAX1",
    _one(np.float32, (900, 1000), (-2, 100), (-150, -120), **_AT_LAST),
    rf"{_OVERFLOW}|exp underflows FLOAT32",
    is_named=True,
)
def _naive_softmax(x: Array, **_: Any) -> Array:
    powers = np.exp(x)
    return powers / powers.sum(-1, keepdims=True)


@_fault("ACTIVATION_SOFTMAX1", _one(np.float16, (-3, 3), (-5, 5), **_AT_LAST), _STEPS, is_named=True)
def _naive_softmax_in_float16(x: Array, **_: Any) -> Array:
    powers = np.exp(x)
    total = np.zeros((*x.shape[:-1], 1), np.float16)
    for index in range(x.shape[-1]):
        total += powers[..., index : index + 1]
    return powers / total


@_fault("ACTIVATION_SOFTMAX1", _one(np.float16, (0, 14), (20, 40), **_AT_LAST), _OVERFLOW, is_named=True)
def _naive_softmax_that_overflows_float16(x: Array, **_: Any) -> Array:
    powers = np.exp(x)
    return powers / powers.sum(-1, keepdims=True, dtype=np.float16)


@_fault("ACTIVATION_LOG_SOFTMAX1", _one(np.float32, (-150, 0), (-60, 120), **_AT_LAST), rf"{_OVERFLOW}|underflow")
def _log_of_softmax(x: Array, **_: Any) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.log(powers / powers.sum(-1, keepdims=True))


@_fault("ACTIVATION_LOG_SOFTMAX1", _one(np.float32, (60, 200), **_AT_LAST), _OVERFLOW, is_named=True)
def _naive_log_softmax(x: Array, **_: Any) -> Array:
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


@_fault("ACTIVATION_SIGMOID", _one(np.float32, (-120, 120)), _OVERFLOW)
def _sigmoid_as_exp_over_one_plus_exp(x: Array) -> Array:
    return np.exp(x) / (1 + np.exp(x))


@_fault("ACTIVATION_TANH", _one(np.float32, (-120, 120)), _OVERFLOW)
def _tanh_of_exponentials(x: Array) -> Array:
    return (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))


@_fault("ACTIVATION_SOFTPLUS", _one(np.float32, (-5, 120), Steepness=1), _OVERFLOW)
def _naive_softplus(x: Array, **_: Any) -> Array:
    return np.log(1 + np.exp(x))


@_fault("ACTIVATION_GELU", _one(np.float32, (-4, 4)), r"first \d+ bits")
def _gelu_with_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x**3)))


@_fault("ACTIVATION_GELU", _one(np.float16, (-4, 4), (-1, 1)), r"first \d+ bits")
def _gelu_of_float16_with_tanh(x: Array) -> Array:
    return _gelu_with_tanh(_in(x)).astype(np.float16)


@_fault("ACTIVATION_GELU", _one(np.float16, (-4, 4), (-1, 1)), r"first \d+ bits")
def _gelu_of_float16_with_a_sigmoid(x: Array) -> Array:
    return (x / (1 + np.exp(np.float32(-1.702) * _in(x)))).astype(np.float16)


@_fault("ACTIVATION_ELU", _one(np.float32, (-4, 4), Alpha=0.25), r"Alpha were 1", is_named=True)
def _elu_without_alpha(x: Array, **_: Any) -> Array:
    return np.where(x < 0, np.expm1(x), x)


@_fault("ACTIVATION_LEAKY_RELU", _one(np.float32, (-4, 4), Alpha=0.25))
def _leaky_relu_on_the_wrong_side(x: Array, **_: Any) -> Array:
    return np.where(x > 0, np.float32(0.25) * x, x)


@_fault("ACTIVATION_HARD_SIGMOID", _one(np.float32, (-4, 4), Alpha=0.25, Beta=0.5))
def _hard_sigmoid_without_the_upper_limit(x: Array, **_: Any) -> Array:
    return np.maximum(np.float32(0.25) * x + np.float32(0.5), 0)


# ---- normalizations

_IN_FLOAT16 = r"FLOAT16|first \d+ bits"
_OVER = {"Axes": [2], "NormalizeVariance": 1}


@_fault(
    "MEAN_VARIANCE_NORMALIZATION1",
    _one(np.float32, (999, 1001), (-3, 3), (1e5, 1e5 + 8), shape=(2, 3, 64), **_OVER, Epsilon=1e-5),
    r"one pass",
)
def _one_pass_variance(x: Array, **_: Any) -> Array:
    mean = x.mean(-1, keepdims=True)
    variance = (x * x).mean(-1, keepdims=True) - mean * mean
    return (x - mean) / np.sqrt(variance + np.float32(1e-5))


@_fault(
    "MEAN_VARIANCE_NORMALIZATION1", _one(np.float16, (-3, 3), (30, 40), (400, 500), **_OVER, Epsilon=1e-5), _IN_FLOAT16
)
def _normalization_in_float16(x: Array, **_: Any) -> Array:
    mean = x.mean(-1, keepdims=True, dtype=np.float16)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True, dtype=np.float16)
    return (x - mean) / np.sqrt(variance + np.float16(1e-5))


@_fault("MEAN_VARIANCE_NORMALIZATION1", _one(np.float32, (-3, 3), (-0.1, 0.1), **_OVER, Epsilon=1e-2))
def _epsilon_outside_the_root(x: Array, **_: Any) -> Array:
    mean, deviation = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
    return (x - mean) / (deviation + np.float32(1e-2))


@_fault("MEAN_VARIANCE_NORMALIZATION1", _one(np.float16, (-3, 3), (-0.5, 0.5), (-9, 9), **_OVER, Epsilon=1e-2))
def _epsilon_outside_the_root_of_float16(x: Array, **_: Any) -> Array:
    return _epsilon_outside_the_root(_in(x)).astype(np.float16)


@_fault("MEAN_VARIANCE_NORMALIZATION1", _one(np.float16, (-3, 3), shape=(2, 3, 512), **_OVER, Epsilon=1e-5))
def _variance_by_one_less_of_float16(x: Array, **_: Any) -> Array:
    return _variance_by_one_less(_in(x)).astype(np.float16)


@_fault(
    "MEAN_VARIANCE_NORMALIZATION1", _one(np.float32, (-3, 3), (-0.1, 0.1), **_OVER, Epsilon=1e-2), r"Epsilon were 0"
)
def _epsilon_left_out(x: Array, **_: Any) -> Array:
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)


@_fault("MEAN_VARIANCE_NORMALIZATION1", _one(np.float32, (-3, 3), **_OVER, Epsilon=1e-5))
def _variance_by_one_less(x: Array, **_: Any) -> Array:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + np.float32(1e-5))


@_fault("MEAN_VARIANCE_NORMALIZATION1", _one(np.float32, (-3, 3), **_OVER, Epsilon=1e-5))
def _variance_without_the_root(x: Array, **_: Any) -> Array:
    return (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + np.float32(1e-5))


@_fault(
    "LP_NORMALIZATION",
    _one(np.float32, (-1e25, 1e25), Axis=2, Epsilon=1e-5, P=2),
    r"a square overflows FLOAT32",
    is_named=True,
)
def _norm_of_large_squares(x: Array, **_: Any) -> Array:
    return x / np.sqrt((x * x).sum(-1, keepdims=True))


@_of_seeds
def _batch(rng: np.random.Generator) -> Given:
    x, row = rng.uniform(-2, 2, (2, 3, 4, 4)).astype(np.float32), (1, 3, 1, 1)
    names = ("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor")
    rows = {name: rng.uniform(0.5, 2, row).astype(np.float32) for name in names}
    return _given({"InputTensor": x, **rows}, OutputTensor=tensor(x), Spatial=1, Epsilon=1e-3)


@_fault("BATCH_NORMALIZATION", _batch)
def _mean_and_variance_swapped(x: Array, mean: Array, variance: Array, scale: Array, bias: Array, **_: Any) -> Array:
    return scale * (x - variance) / np.sqrt(mean + np.float32(1e-3)) + bias


@_fault("BATCH_NORMALIZATION", _batch)
def _bias_before_scale(x: Array, mean: Array, variance: Array, scale: Array, bias: Array, **_: Any) -> Array:
    return scale * ((x - mean) / np.sqrt(variance + np.float32(1e-3)) + bias)


# ---- sums and squares


def _reduction(function: str, dtype: Any, *ranges: tuple[float, float]) -> Any:
    def make() -> Iterator[Given]:
        for given in _one(dtype, *ranges, shape=(4, 8, 64))():
            output = {"DataType": given.fields["InputTensor"]["DataType"], "Sizes": [4, 8, 1]}
            more = {"OutputTensor": output, "Axes": [2], "Function": function}
            yield given._replace(fields={**given.fields, **more})

    return make


@_fault("REDUCE", _reduction("L2", np.float32, (-1e25, 1e25), (1e-30, 1e-25)), r"overflow")
def _l2_of_large_squares(x: Array, **_: Any) -> Array:
    return np.sqrt((x * x).sum(-1, keepdims=True))


@_fault("REDUCE", _reduction("L2", np.float16, (100, 400)), r"a square overflows FLOAT16", is_named=True)
def _l2_in_float16(x: Array, **_: Any) -> Array:
    return np.sqrt((x * x).sum(-1, keepdims=True, dtype=np.float16))


@_fault("REDUCE", _reduction("AVERAGE", np.float16, (1000, 3000), (-1, 1)), r"overflow|FLOAT16")
def _average_in_float16(x: Array, **_: Any) -> Array:
    total = np.zeros((*x.shape[:-1], 1), np.float16)
    for index in range(x.shape[-1]):
        total += x[..., index : index + 1]
    return total / np.float16(x.shape[-1])


@_fault("REDUCE", _reduction("LOG_SUM_EXP", np.float32, (50, 200), (900, 1000)), _OVERFLOW, is_named=True)
def _naive_log_sum_exp(x: Array, **_: Any) -> Array:
    return np.log(np.exp(x).sum(-1, keepdims=True))


@_fault("REDUCE", _reduction("SUM", np.int32, (-100, 100)))
def _sum_of_all_but_the_first(x: Array, **_: Any) -> Array:
    return x[..., 1:].sum(-1, keepdims=True)


# ---- elements


@_fault("ELEMENT_WISE_MODULUS_FLOOR", _two(np.int32, -50, 50))
def _modulus_by_truncation(a: Array, b: Array) -> Array:
    return np.fmod(a, b)


@_fault("ELEMENT_WISE_MODULUS_TRUNCATE", _two(np.float32, -50, 50))
def _modulus_by_flooring(a: Array, b: Array) -> Array:
    return np.mod(a, b)


@_fault("ELEMENT_WISE_DIVIDE", _two(np.int32, -50, 50))
def _integer_division_by_flooring(a: Array, b: Array) -> Array:
    return a // b


@_of_seeds
def _powers(rng: np.random.Generator) -> Given:
    x, y = rng.uniform(-3, 3, (2, 16)).astype(np.float32), rng.integers(-3, 4, (2, 16)).astype(np.float32)
    return _given({"InputTensor": x, "ExponentTensor": y}, OutputTensor=tensor(x))


@_fault("ELEMENT_WISE_POW", _powers)
def _power_through_logarithms(x: Array, exponent: Array) -> Array:
    return np.exp(exponent * np.log(x))


@_of_seeds
def _halves(rng: np.random.Generator) -> Given:
    x = (rng.integers(-20, 20, (2, 16)) / 2).astype(np.float32)
    return _given({"InputTensor": x}, OutputTensor=tensor(x))


def _rounded() -> Iterator[Given]:
    for given in _halves():
        yield given._replace(fields={**given.fields, "RoundingMode": "HALVES_TO_NEAREST_EVEN"})


@_fault("ELEMENT_WISE_ROUND", _rounded, r"halves were rounded away|RoundingMode")
def _round_away_from_zero(x: Array, **_: Any) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x).astype(np.float32)


@_fault("ELEMENT_WISE_SIGN", _halves)
def _sign_of_zero_is_one(x: Array) -> Array:
    return np.where(x >= 0, np.float32(1), np.float32(-1))


@_of_seeds
def _quantized(rng: np.random.Generator) -> Given:
    x = (rng.integers(-40, 40, (1, 1, 4, 16)) / 4).astype(np.float32)
    scale, zero = np.full(x.shape, 0.5, np.float32), np.full(x.shape, 7, np.uint8)
    return _given({"InputTensor": x, "ScaleTensor": scale, "ZeroPointTensor": zero}, OutputTensor=tensor(zero))


@_fault("ELEMENT_WISE_QUANTIZE_LINEAR", _quantized, r"halves were rounded away")
def _quantize_by_floor_of_half_more(x: Array, scale: Array, zero: Array) -> Array:
    return np.clip(np.floor(x / scale + np.float32(0.5)) + zero, 0, 255).astype(np.uint8)


@_fault("ELEMENT_WISE_QUANTIZE_LINEAR", _quantized)
def _zero_point_before_rounding(x: Array, scale: Array, zero: Array) -> Array:
    return np.clip(np.rint(x / scale + zero), 0, 255).astype(np.uint8)


@_fault("ELEMENT_WISE_QUANTIZE_LINEAR", _quantized)
def _quantize_that_wraps(x: Array, scale: Array, zero: Array) -> Array:
    return (np.rint(x / scale).astype(np.int64) + zero).astype(np.uint8)


# ---- products


@_of_seeds
def _gemm(rng: np.random.Generator) -> Given:
    a, b, c = (rng.uniform(-2, 2, shape).astype(np.float32) for shape in ((1, 1, 4, 6), (1, 1, 6, 5), (1, 1, 4, 5)))
    inputs = {"ATensor": a, "BTensor": b, "CTensor": c}
    return _given(inputs, OutputTensor=tensor(c), TransA="NONE", TransB="NONE", Alpha=0.5, Beta=0.25)


@_fault("GEMM", _gemm)
def _alpha_of_the_whole_sum(a: Array, b: Array, c: Array, **_: Any) -> Array:
    return np.float32(0.5) * (a @ b + np.float32(0.25) * c)


@_fault("GEMM", _gemm, r"Alpha and Beta were exchanged", is_named=True)
def _alpha_and_beta_exchanged(a: Array, b: Array, c: Array, **_: Any) -> Array:
    return np.float32(0.25) * (a @ b) + np.float32(0.5) * c


@_fault("GEMM", _gemm, r"last term", is_named=True)
def _a_loop_that_ends_early(a: Array, b: Array, c: Array, **_: Any) -> Array:
    return np.float32(0.5) * (a[..., :-1] @ b[..., :-1, :]) + np.float32(0.25) * c


# ---- gates


_STEP_COUNT, _BATCH_SIZE, _SIZE, _HIDDEN = 3, 2, 4, 5


def _recurrent(
    rng: np.random.Generator, gates: int, shapes: Mapping[str, tuple[int, ...]], activations: str, **more: Any
) -> Given:
    """Return a desc of a recurrent operator with so many gates, with random inputs; `shapes` are of further inputs."""
    shapes = {
        "InputTensor": (1, _STEP_COUNT, _BATCH_SIZE, _SIZE),
        "WeightTensor": (1, 1, gates * _HIDDEN, _SIZE),
        "RecurrenceTensor": (1, 1, gates * _HIDDEN, _HIDDEN),
        **shapes,
    }
    inputs = {name: rng.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}
    single = {"DataType": "FLOAT32", "Sizes": [1, 1, _BATCH_SIZE, _HIDDEN]}
    descs = [{"Type": f"ACTIVATION_{name}"} for name in activations.split()]
    return _given(inputs, OutputSingleTensor=single, ActivationDescs=descs, Direction="FORWARD", **more)


@_of_seeds
def _gru(rng: np.random.Generator) -> Given:
    shapes = {"BiasTensor": (1, 1, 1, 6 * _HIDDEN), "HiddenInitTensor": (1, 1, _BATCH_SIZE, _HIDDEN)}
    return _recurrent(rng, 3, shapes, "SIGMOID TANH", LinearBeforeReset=0)


def _gru_steps(
    x: Array, w: Array, r: Array, b: Array, h: Array, *, order: tuple[int, int, int], mixed: bool = False
) -> Array:
    x, w, r, h = x[0], w[0, 0], r[0, 0], h[0, 0]
    size = h.shape[-1]
    ws, rs = (np.split(part, 3) for part in (w, r))
    wb, rb = (np.split(part, 3) for part in np.split(b.reshape(-1), 2))
    z_at, r_at, n_at = order
    for step in x:
        z, reset = (_sigmoid(step @ ws[at].T + h @ rs[at].T + wb[at] + rb[at]) for at in (z_at, r_at))
        new = np.tanh(step @ ws[n_at].T + (reset * h) @ rs[n_at].T + wb[n_at] + rb[n_at])
        h = z * new + (1 - z) * h if mixed else (1 - z) * new + z * h
    return h.reshape(1, 1, -1, size)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@_fault("GRU", _gru)
def _update_and_reset_gates_swapped(*values: Array, **_: Any) -> Array:
    return _gru_steps(*values, order=(1, 0, 2))


@_fault("GRU", _gru)
def _new_and_old_state_swapped(*values: Array, **_: Any) -> Array:
    return _gru_steps(*values, order=(0, 1, 2), mixed=True)


@_of_seeds
def _lstm(rng: np.random.Generator) -> Given:
    return _recurrent(rng, 4, {}, "SIGMOID TANH TANH", ClipThreshold=0, UseClipThreshold=0, CoupleInputForget=0)


@_fault("LSTM", _lstm)
def _gates_in_the_order_of_pytorch(x: Array, w: Array, r: Array, **_: Any) -> Array:
    x, w, r = x[0], w[0, 0], r[0, 0]
    h = c = np.zeros((x.shape[1], r.shape[-1]), np.float32)
    for step in x:
        i, f, g, o = np.split(step @ w.T + h @ r.T, 4, axis=-1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
    return h[None, None]


# ---- attention


@_of_seeds
def _attention(rng: np.random.Generator) -> Given:
    names = ("QueryTensor", "KeyTensor", "ValueTensor")
    inputs = {name: rng.uniform(-2, 2, (1, 6, 8)).astype(np.float32) for name in names}
    more = {"Scale": 0.5, "MaskFilterValue": -10000, "HeadCount": 2, "MaskType": "NONE"}
    return _given(inputs, OutputTensor=tensor(inputs["QueryTensor"]), **more)


def _attended(query: Array, key: Array, value: Array, scale: float, axis: int = -1) -> Array:
    heads = [x.reshape(6, 2, 4).swapaxes(0, 1) for x in (query, key, value)]
    scores = np.float32(scale) * heads[0] @ heads[1].swapaxes(-1, -2)
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return (powers / powers.sum(axis, keepdims=True) @ heads[2]).swapaxes(0, 1).reshape(1, 6, 8)


@_fault("MULTIHEAD_ATTENTION", _attention, r"Scale were 1", is_named=True)
def _attention_without_its_scale(query: Array, key: Array, value: Array, **_: Any) -> Array:
    return _attended(query, key, value, 1)


@_fault("MULTIHEAD_ATTENTION", _attention)
def _softmax_along_the_queries(query: Array, key: Array, value: Array, **_: Any) -> Array:
    return _attended(query, key, value, 0.5, -2)


@_fault("MULTIHEAD_ATTENTION", _attention)
def _query_and_key_exchanged(query: Array, key: Array, value: Array, **_: Any) -> Array:
    return _attended(key, query, value, 0.5)

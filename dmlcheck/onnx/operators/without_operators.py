"""Operators of ONNX that DirectML computes nothing for, and why."""

from __future__ import annotations

from dmlcheck.onnx.operators.row import BY_SIZES, Row

_GRAPHS = "runs graphs of its own, and DirectML has operators only"
_RANDOM = "draws random numbers in a way of its own"
_SIZES = "gives sizes, which DirectML has in descs only"
_BY_GRAPHS = "DirectML computes nothing for it: it runs one of its graphs, whose nodes are checked"

# Those that the provider takes: RegisterCpuOperatorsAsDml in OperatorRegistration.cpp, DmlOperatorShape.cpp and
# DmlOperatorSize.cpp.
OPERATORS: dict[str, Row] = {
    **dict.fromkeys(("Loop", "Scan", "SequenceMap"), Row(reason=_GRAPHS)),
    **dict.fromkeys(
        ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        Row(reason=_RANDOM),
    ),
    **dict.fromkeys(
        ("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert"),
        Row(elsewhere=BY_SIZES),
    ),
    **dict.fromkeys(("Shape", "Size"), Row(reason=_SIZES, elsewhere=BY_SIZES, is_on_cpu=True)),
    "If": Row(reason=_GRAPHS, elsewhere=_BY_GRAPHS),
    "OptionalHasElement": Row(
        reason="asks whether a value is there, which DirectML has in descs only", elsewhere=BY_SIZES
    ),
    "SequenceLength": Row(elsewhere=BY_SIZES, is_on_cpu=True),
    "ai.onnx.preview.training.Adam": Row(reason="adds weights to gradients, which DirectML's ADAM_OPTIMIZER does not"),
}

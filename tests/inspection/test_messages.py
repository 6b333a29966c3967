"""Messages of DirectML: each is known by its text, whole or cut, and leads to the rows of the specs behind it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from onnx_nodes import tensor

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.inspection import messages
from dmlcheck.inspection.messages import explained, nearest_messages
from dmlcheck.onnx.descs.node import OnnxNode
from dmlcheck.onnx.operators.table import provider_steps
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import LEVEL_ORDER
from dmlcheck.validation.constraint_words import WORDS

RANK = "An invalid dimension count of 5 was specified in tensor 'A' which is not between 2 and 4"
TYPES = (
    "Mismatched tensor data types. Tensor 'Output' has DataType of DML_TENSOR_DATA_TYPE_FLOAT16, while tensor 'Input' "
    "has DataType of DML_TENSOR_DATA_TYPE_FLOAT32. Both tensors are expected to have the same DataType."
)
SIZES = (
    "Mismatched tensor sizes. Tensor 'Input' has size of 1 in dimension 1, while tensor 'Scale' has size of 32 in "
    "dimension 1.\nBoth tensors are expected to have the same sizes in all dimensions."
)
VIEW = (
    "ID3D12Device::CreateUnorderedAccessView: The Dimensions of the View are invalid due to at least one of the "
    "following conditions. Assuming StructureByeStride 2, FirstElement (value = 0)"
)
# Lines of logs as they are quoted in public, each with words of what must be said of it.
LOGS = [
    (f"D3D12 ERROR: {RANK}.\nE:\\x\\DmlOperatorMatMul.cpp(58) 80070057 The parameter is incorrect.", "number of dim"),
    ("D3D12 ERROR: An invalid tensor dimension count of '3' was specified for 'ATensor'. The only", "number of dim"),
    (f"D3D12 ERROR: {TYPES} [ UNKNOWN ERROR #1: STRING_FROM_APPLICATION]", "in one data type only"),
    (f"[DIRECTML ERROR]: {TYPES}", "in one data type only"),
    (f"D3D12 ERROR: {SIZES} [ UNKNOWN ERROR #1: STRING_FROM_APPLICATION]", "does not follow from the other"),
    (
        (
            "D3D12 ERROR: <unnamed>: the dispatchable object expects nothing to be bound at index 2, but a binding of "
            "type DML_BINDING_TYPE_BUFFER was provided. Use binding type NONE to bind nothing to this slot."
        ),
        "a slot that the compiled operator does not read",
    ),
    ("DML_OPERATOR_CONVOLUTION: invalid D3D12_HEAP_TYPE. DirectML requires all bound buffers", "readback heap"),
    ("[DIRECTML WARNING]: enable the D3D debug layer for enhanced validation with DML_CREATE", "A warning."),
    (f"D3D12 ERROR: {VIEW}", "beyond the end of its buffer"),
    (
        (
            "D3D12 ERROR: ID3D12GraphicsCommandList::ExecuteMetaCommand: Supplied parameters size [40] doesn't match "
            "enumerated size[32]. [ EXECUTION ERROR #1174: META_COMMAND_PARAMETER_SIZE_MISMATCH]"
        ),
        "fixed in 1.4.1",
    ),
    ("D3D12 MESSAGE: ... [ STATE_CREATION MESSAGE #1172: META_COMMAND_UNSUPPORTED_PARAMS]", "not an error"),
    ("[TensorValidator::ValidateIsBroadcastCompatibleWithFirst(E_INVALIDARG)]", "neither 1 nor that of the first"),
    (
        (
            "TensorValidator.h(203)\\DirectML.dll!00007FF83D25ADC9: (caller: 00007FF83D267523) Exception(1) tid(3b54) "
            "80070057 The parameter is incorrect."
        ),
        "refused a tensor",
    ),
    ("C:\\__w\\1\\s\\Product\\ComputeShaderFactory.cpp(398)\\DirectML.dll!00007FFF57CE26E6", "its own shaders"),
    ("internal compiler error, abnormal program termination", "could not compile a shader"),
    ("C:\\__w\\1\\s\\SharedValidation\\GraphDescValidator.h(34)\\DirectML.dll!00007FFE0FB010A5:", "a graph as a whole"),
    (
        "[Windows::AI::MachineLearning::Adapter::InferAndVerifyOutputSizes(!(expected_size == actual_size))]",
        "never reached DirectML",
    ),
    (
        (
            "[W:onnxruntime:, inference_session.cc:411] Having memory pattern enabled is not supported while using the "
            "DML Execution Provider. So disabling it for this session since it uses the DML Execution Provider."
        ),
        "enable_mem_pattern was on",
    ),
    ("Some nodes were not assigned to the preferred execution providers which may or may not", "run on the CPU"),
    ("ValueError: DmlExecutionProvider does not contain a subset of available providers ['CPU']", "has no DirectML"),
    ("Unable to find an entry point named 'OrtSessionOptionsAppendExecutionProvider_Dml' in DLL", "has no DirectML"),
    ("RuntimeError: Unknown provider type: dml", "has no DirectML"),
    (
        "Non-zero status code returned while running DmlFusedNode_0_0 node. Name:'DmlFusedNode_0_0'",
        "are not in the model",
    ),
    (
        "Exception during initialization: D:\\a\\AbiCustomRegistry.cpp(519)\\onnxruntime.dll!00007FFC98A186C6:",
        "refused the",
    ),
    (
        "DmlExecutionProvider\\src\\DmlGraphFusionHelper.cpp(1066)\\onnxruntime.dll!00007FF82D9A2821:",
        "a graph of several",
    ),
    ("running Resize node. Name:'415' Status Message: MLOperatorAuthorImpl.cpp(2506)", "while the model ran"),
    (
        "This session cannot use the graph capture feature as requested by the user as the model has",
        "cannot be captured",
    ),
    ("Warning: Unable to create a device from version 1.614.0 of the DirectX 12 Agility SDK. You", "D3D12Core.dll"),
    ("'createContext' on 'ML': DirectML: WebNN is blocklisted for NPU.", "does not use"),
    ("UserWarning: The operator 'aten::multinomial' is not currently supported on the DML backend and", "on the CPU"),
    ("RuntimeError: Could not run 'aten::normal_' with arguments from the 'DML' backend. This", "no implementation"),
    (
        "Could not allocate tensor with 234881024 bytes. There is not enough GPU video memory available!",
        "no memory left",
    ),
    ("887A0007 The GPU will not respond to more commands, most likely because some other app", "another program"),
    ("887A0001 The application made a call that is invalid. Either the parameters", "wrong parameters"),
    ("RuntimeError: Unknown error -2147024809", "as a rule the desc of an operator"),
    ("HRESULT failed with 0x887a0001: dml_device_->GetDeviceRemovedReason()", "was removed"),
    ("FusedGraphKernel.cpp(64) Exception(1) tid(9770) 80004002 No such interface supported", "does not exist"),
    ("DOMException: DirectML: This operator (gru) is not supported.", "browser"),
    (
        "Failed to execute 'constant' on 'MLGraphBuilder': This MLGraphBuilder has already built a graph",
        "refused a step",
    ),
    ("dml_tensor_desc.cc:81] Check failed: rank <= DML_TENSOR_DIMENSION_COUNT_MAX", "more than 5 dimensions"),
    ("CHECK failed: ((((HRESULT)((backend_->dml_device->CreateOperator(&op_desc_, __uuidof", "refused the desc"),
    ("RuntimeError: m_device->CreateOperator(&opDesc, IID_PPV_ARGS(&op))", "refused the desc"),
    ("please report a bug to PyTorch. unbox expects Dml at::Tensor as inputs", "on another device"),
    ("887A0005 The GPU device instance has been suspended. Use GetDeviceRemovedReason to", "was removed"),
    ("CHECK failed: ((((HRESULT)((dml_device_->GetDeviceRemovedReason()))) >= 0)) == (true)", "was removed"),
    ("887A0006 The GPU will not respond to more commands, most likely because of an invalid", "was reset"),
    ("887A0020", "fault of its own"),
    ("tid(5610) 887A0004 The specified device interface or feature level is not supported", "does not have what"),
    ("The application requested an operation that depends on an sdk component that is missing", "is not installed"),
    ("8007000E Not enough memory resources are available to complete this operation.", "memory of the GPU is full"),
    ("FusedConv node. Name:'' Status Message: 80004005 Unspecified error", "no error code of its own"),
    ("Non-zero status code returned while running Softmax node. 0x80070057", "as a rule the desc of an operator"),
    ("E_INVALIDARG", "as a rule the desc of an operator"),
    ("-2005270521", "another program"),  # 887A0007
    ("hr = 2289696773", "was removed"),  # 887A0005, unsigned
    ("tid(3a4) 80070005 Access is denied.", "did not let the program"),
    ("Exception(1) tid(3a4) 8007023E {Application Error}", "nothing caught"),
    ("CompileOperator failed: 8000FFFF Catastrophic failure", "does not expect"),
    (
        "NOT_IMPLEMENTED : Could not find an implementation for ConvInteger(10) node with name 'conv'",
        "No provider of the session has a kernel",
    ),
    ("CPUExecutionProvider: Failed to find kernel for com.microsoft.GroupNorm(1) (node:'')", "No provider of the"),
    ("Fatal error: my_bev_pool:bev_pool_v2(-1) is not a registered function/op", "does not know at all"),
    (
        "Type Error: Type parameter (T) of Optype (Add) bound to different types (tensor(float16) and tensor(float)",
        "must have the same type",
    ),
    ("Unexpected input data type. Actual: (tensor(float)) , expected: (tensor(float16))", "in another type"),
    ("Tensor element data type discovered: Int64 metadata expected: Float", "in another type"),
    (
        "[W:onnxruntime:] Expected shape from model of {800,10} does not match actual shape of {32,10}",
        "gave other sizes",
    ),
    ("FAIL : kernel_type_str_resolver.cc:33 onnxruntime::KernelTypeStrResolver::ResolveKernelTypeStr", "lacks a type"),
    ("dml_util.cc:118] Invalid or unsupported data type BFloat16.", "does not hand to DirectML"),
    ("Unsupported data type tensor(bfloat16) for Conv", "does not hand to DirectML"),
    ("MLOperatorAuthorImpl.cpp(2853)\\onnxruntime.dll!00007FF86ACD4F45: 80070057", "has computed other sizes"),
]


def origins(text: str) -> list[tuple[str, str]]:
    """Return the rows of the specs that a text's one message can come from."""
    (found,) = explained(text)
    return [(origin.label, origin.text) for origin in found.origins]


@pytest.mark.parametrize(
    ("code", "operators"),
    [
        ("8007023E", {"QUANTIZED_LINEAR_AVERAGE_POOLING"}),
        ("0x887A0004", {"FOLD", "UNFOLD"}),
        ("E_UNEXPECTED", {"GRU", "LSTM"}),
    ],
)
def test_a_code_leads_to_what_compileoperator_refuses_with_it(code: str, operators: set[str]) -> None:
    assert operators <= {operator for operator, text in origins(code) if text.startswith("CompileOperator refuses")}
    named = origins(f"{code} DML_OPERATOR_GEMM")
    assert not [text for _, text in named if text.startswith("CompileOperator refuses")]


@pytest.mark.parametrize(("log", "words"), LOGS, ids=[log[:50] for log, _ in LOGS])
def test_a_line_of_a_log_has_one_message(log: str, words: str) -> None:
    (found,) = explained(log)
    assert words in found.message.means


def test_every_message_is_in_a_log_above_and_says_all_that_it_must() -> None:
    assert {found.message for log, _ in LOGS for found in explained(log)} == set(messages.messages())
    for message in messages.messages():
        assert set(message.rules) <= RULES.keys()
        assert set(message.words) <= WORDS.keys()
        assert all(
            re.match(r"https://learn\.microsoft\.com/|[\w-]+/[\w.-]+(#\d+|, Releases)", source)
            for source in message.sources
        )
        assert message.by
        assert message.remedy.endswith(".")
        assert message.sources


def test_a_text_with_two_messages_has_both_in_the_order_of_the_file() -> None:
    found = explained(f"{SIZES}\n{RANK}")
    assert [one.message.rules for one in found] == [("unsupported-dimension-count",), ("size-mismatch",)]
    assert found[0].pattern_text.endswith("which is not between {least} and {most}")


def test_of_error_codes_the_first_of_the_file_is_the_one() -> None:
    (found,) = explained("80070057 The parameter is incorrect, after 887A0005")
    assert found.pattern_text.startswith("887A0005 ")


def test_a_place_stands_behind_what_failed_there_and_replaces_nothing() -> None:
    place = "running DmlFusedNode_0_0 node. Name:'DmlFusedNode_0_0' Status Message: DmlGraphFusionHelper.cpp(1066) "
    found = [one.pattern_text for one in explained(place + "887A0006 The GPU will not respond to more commands")]
    assert [text[:9] for text in found] == ["887A0006 ", "running D", "DmlGraphF"]
    found = [one.pattern_text for one in explained(place + RANK)]
    assert [text[:9] for text in found] == ["An invali", "running D", "DmlGraphF"]


def test_what_a_browser_says_stands_before_the_method_that_failed() -> None:
    found = explained("Failed to execute 'build' on 'MLGraphBuilder': DirectML: This operator (gru) is not supported.")
    assert [one.pattern_text[:10] for one in found] == ["DirectML: ", "Failed to "]


def test_a_node_that_older_libraries_refuse_leads_to_its_operator_and_level() -> None:
    text = "Non-zero status code returned while running {} node. Name:'n' 80070057 The parameter is incorrect."
    softmax = "Softmax can become it; DirectML has it from DML_FEATURE_LEVEL_5_1 (DirectML 1.9.0)"
    assert origins(text.format("Softmax")) == [("ACTIVATION_SOFTMAX1", softmax)]
    assert origins(text.format("Relu")) == []
    assert origins("887A0006 " + text.format("Softmax")) == []


ONES, MANY = np.ones((1, 4, 8, 8), np.float32), np.ones((2, 4, 8), np.float32)
FEW, ONE, HALF = np.ones((1, 4, 6, 6), np.float32), np.ones(8, np.float32), np.ones((1, 4, 8, 2), np.float32)
UNIT, BYTES, DILATED = np.ones((), np.float32), ONES.astype(np.int8), {"kernel_shape": [2, 2], "dilations": [2, 2]}
ZERO, POOLED = np.zeros((), np.uint8), np.zeros((1, 4, 7, 7), np.uint8)
ACTIVATED, MATRIX = {"activation": "Softmax", "activation_axis": -1}, np.ones((2, 4), np.float32)
GROUPED = {"num_heads": 2, "kv_num_heads": 2}
STACK, STEPS, TOTAL = np.ones((8, 24), np.float32), np.ones(2, np.int32), np.ones(1, np.int32)
ROWS, COLUMNS, TWICE = np.ones((2, 4), np.uint8), np.ones((4, 3), np.uint8), np.array([1, 1, 2, 2], np.float32)
LATE = [
    OnnxNode("com.microsoft.Attention", 1, {"num_heads": 2}, (MANY, STACK, STACK[0]), (MANY,)),
    OnnxNode("AveragePool", 19, DILATED, (ONES,), (FEW,)),
    OnnxNode("com.microsoft.BiasGelu", 1, {}, (MANY, ONE), (MANY,)),
    OnnxNode("com.microsoft.BiasSplitGelu", 1, {}, (MANY, ONE), (MANY[..., :4],)),
    OnnxNode(
        "Col2Im", 18, {}, (np.ones((1, 4, 9), np.float32), np.array([4, 4]), np.array([2, 2])), (ONES[:, :1, :4, :4],)
    ),
    OnnxNode("DequantizeLinear", 21, {"axis": 3, "block_size": 4}, (BYTES, HALF), (ONES,)),
    OnnxNode("com.microsoft.DynamicQuantizeMatMul", 1, {}, (MATRIX, COLUMNS, UNIT), (MATRIX[:, :3],)),
    OnnxNode("com.microsoft.FastGelu", 1, {}, (MANY, ONE), (MANY,)),
    OnnxNode("com.microsoft.FusedMatMulActivation", 1, ACTIVATED, (MATRIX, MATRIX.T), (MATRIX[:, :2],)),
    OnnxNode("com.microsoft.Gelu", 1, {}, (ONES,), (ONES,)),
    OnnxNode(
        "com.microsoft.GroupQueryAttention",
        1,
        GROUPED,
        (MANY, MANY, MANY, None, None, STEPS, TOTAL),
        (MANY, *[np.ones((2, 2, 4, 4), np.float32)] * 2),
    ),
    *(OnnxNode(name, 13, {"axis": 1}, (ONES,), (ONES,)) for name in ("Hardmax", "LogSoftmax", "Softmax")),
    OnnxNode("LayerNormalization", 17, {}, (MANY, ONE, ONE), (MANY,)),
    OnnxNode("LpPool", 18, DILATED, (ONES,), (FEW,)),
    OnnxNode("com.microsoft.MatMulIntegerToFloat", 1, {}, (ROWS, COLUMNS, UNIT, UNIT), (np.ones((2, 3), np.float32),)),
    OnnxNode(
        "com.microsoft.MatMulNBits",
        1,
        {"N": 2, "K": 4, "block_size": 4},
        (MATRIX, np.ones((2, 1, 2), np.uint8), TWICE[:2]),
        (MATRIX,),
    ),
    OnnxNode("com.microsoft.MultiHeadAttention", 1, {"num_heads": 2}, (MANY, MANY, MANY), (MANY,)),
    OnnxNode(
        "com.microsoft.QAttention",
        1,
        {"num_heads": 2},
        (MANY.astype(np.uint8), STACK.astype(np.uint8), STACK[0], UNIT, UNIT),
        (MANY,),
    ),
    OnnxNode(
        "com.microsoft.QLinearAveragePool",
        1,
        {"kernel_shape": [2, 2]},
        (BYTES.astype(np.uint8), UNIT, ZERO, UNIT, ZERO),
        (POOLED,),
    ),
    OnnxNode(
        "com.microsoft.QLinearGlobalAveragePool",
        1,
        {},
        (BYTES.astype(np.uint8), UNIT, ZERO, UNIT, ZERO),
        (POOLED[..., :1, :1],),
    ),
    OnnxNode("QuantizeLinear", 21, {"axis": 3, "block_size": 4}, (ONES, HALF), (BYTES,)),
    OnnxNode("Resize", 13, {"mode": "nearest"}, (ONES, None, TWICE), (np.ones((1, 4, 16, 16), np.float32),)),
    OnnxNode("SimplifiedLayerNormalization", 1, {}, (MANY, ONE), (MANY,)),
    OnnxNode("com.microsoft.SkipLayerNormalization", 1, {}, (MANY, MANY, ONE, ONE), (MANY,)),
    OnnxNode("com.microsoft.SkipSimplifiedLayerNormalization", 1, {}, (MANY, MANY, ONE), (MANY,)),
    OnnxNode("Trilu", 14, {}, (ONES,), (ONES,)),
    OnnxNode("Upsample", 9, {"mode": "nearest"}, (ONES, TWICE), (np.ones((1, 4, 16, 16), np.float32),)),
]


def level_of(operator: str) -> int:
    return LEVEL_ORDER[load_spec(f"DML_OPERATOR_{operator}").introduced]


def operators_of(node: OnnxNode) -> list[str]:
    """Return the operators of a node, and those that are fused to them."""
    inputs, outputs = (tuple(map(tensor, side)) for side in (node.inputs, node.outputs))
    made = provider_steps(node._replace(inputs=inputs, outputs=outputs))
    return [each.operator for each in made] + [
        each.fields["FusedActivation"]["Type"] for each in made if each.fields.get("FusedActivation")
    ]


def test_a_late_node_becomes_what_the_provider_makes_of_it() -> None:
    (late,) = [dict(message.late) for message in messages.messages() if message.late]
    made = {node.type.rpartition(".")[2]: operators_of(node) for node in LATE}
    assert made.keys() == late.keys()
    assert all(late[node] in operators for node, operators in made.items())
    assert all(level_of(late[node]) == max(map(level_of, operators)) for node, operators in made.items())
    assert min(map(level_of, late.values())) == LEVEL_ORDER["5_1"]


@pytest.mark.parametrize("quotes", ["''", "\u2018\u2019", '""', "``", ("", "")])
def test_quotes_may_be_others_or_none(quotes: str) -> None:
    found = origins(RANK.replace("'A'", f"{quotes[0]}A{quotes[1]}"))
    assert "GEMM" in [label for label, _ in found]


@pytest.mark.parametrize(
    "text",
    [
        "An invalid dimension count of 5",
        "an INVALID dimension  count\n of 5 was specified in tensor ...",
        "An invalid dimension count of 5 was specified in tensor 'A' ...",
        "An invalid dimension count of 5 was specified in tensor A which is not between 2",
    ],
)
def test_a_message_may_be_cut_short(text: str) -> None:
    (found,) = explained(text)
    assert found.message.rules == ("unsupported-dimension-count",)


def test_a_dimension_count_leads_to_the_tables_with_the_limits_of_the_message() -> None:
    found = origins(RANK)
    assert ("GEMM", "ATensor takes 2 to 4 dimensions from 4_0") in found
    assert {label for label, _ in found} == {
        "GEMM",
        "MATRIX_MULTIPLY_INTEGER",
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
        "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
    }
    older = origins("An invalid dimension count of 2 was specified in tensor 'A' which is not between 4 and 4")
    assert ("GEMM", "ATensor takes 4 dimensions from 1_0, before 4_0") in older


def test_a_dimension_count_without_limits_leads_to_the_newest_tables_that_refuse_it() -> None:
    found = origins("An invalid dimension count of 5 was specified in tensor 'A' ...")
    assert ("GEMM", "ATensor takes 2 to 4 dimensions from 4_0") in found
    assert not any(label.startswith("ELEMENT_WISE") for label, _ in found)  # which take up to 8
    assert origins("An invalid dimension count of 3 was specified in tensor 'A'") == []


def test_tensors_lead_to_the_constraints_that_name_both() -> None:
    labels = [label for label, _ in origins(SIZES)]
    assert "MEAN_VARIANCE_NORMALIZATION/C3" in labels
    assert "BATCH_NORMALIZATION/C4" in labels
    assert not any(label.startswith(("GEMM", "REDUCE")) for label in labels)
    assert ("ELEMENT_WISE_IDENTITY/C1") in [label for label, _ in origins(TYPES)]


def test_a_tensor_in_an_expression_counts_by_way_of_let_too() -> None:
    sizes = "Mismatched tensor sizes. Tensor 'B' has size of 1 in dimension 1, while tensor 'Output' has size of 2"
    assert "GEMM/C4" in [label for label, _ in origins(sizes)]  # (*ATensor.Sizes[:-2], m, n), where n is of BTensor


def test_a_number_without_end_leads_nowhere() -> None:
    assert origins(RANK.replace("5", "5" * 9999)) == []


def test_an_operator_that_the_text_names_is_the_only_one() -> None:
    assert {label for label, _ in origins(f"DML_OPERATOR_JOIN: {TYPES}")} == {"JOIN/C2"}


def test_a_loss_of_one_device_is_only_told_of_the_operator_that_the_text_names() -> None:
    assert origins("887A0005") == []
    ((operator, text),) = origins("887A0005 in DML_OPERATOR_ROI_ALIGN_GRAD")
    assert (operator, text.startswith("on llvmpipe: The device is lost")) == ("ROI_ALIGN_GRAD", True)


def test_a_tensor_that_no_operator_has_leads_nowhere() -> None:
    assert origins(RANK.replace("'A'", "'Nowhere'")) == []


@pytest.mark.parametrize("text", ["size-mismatch", "REDUCE/C2", "An invalid number of dimensions", ""])
def test_what_is_no_message_has_none(text: str) -> None:
    assert explained(text) == []


def test_the_nearest_messages_have_most_words_in_common() -> None:
    first, *rest = nearest_messages("The GPU device instance was suspended by the driver")
    assert first == "The GPU device instance has been suspended"
    assert rest == [
        (
            "887A0005 The GPU device instance has been suspended. Use GetDeviceRemovedReason to "
            "determine the appropriate action"
        )
    ]


@pytest.mark.parametrize("text", ["some words", "does anyone read these words", ""])
def test_a_text_that_shares_few_words_with_every_message_has_none_near(text: str) -> None:
    assert nearest_messages(text) == []


def test_a_mask_is_cast_to_the_type_of_the_floats() -> None:
    for text in (TYPES, "Unsupported data type"):
        (found,) = explained(text)
        assert "cast to the float type, never the other way" in found.message.remedy


@pytest.mark.parametrize("text", ["tid 12345678901", "1.2147483648", "x2147483648", "123456789"])
def test_other_numbers_are_no_error_codes(text: str) -> None:
    assert explained(text) == []

"""Every rule that a diagnostic can name, with its message and its explanation."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One kind of mistake: its group, a summary, the message's template, and the page that `explain` prints.

    `wrong` is the smallest file that breaks the rule and `right` the same file mended; "" where no file can. `table`
    belongs to the end of `why`.
    """

    group: str
    summary: str
    message: str
    why: str
    wrong: str = ""
    right: str = ""
    table: str = ""


_ARGMAX = """\
operator: DML_OPERATOR_ARGMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3]}
  OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
  Axes: [0]
  AxisDirection: INCREASING
"""
_SUM = """\
operator: DML_OPERATOR_REDUCE
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 3]}
  Axes: [0]
"""
_SUM_CASE = (
    _SUM
    + """\
inputs:
  InputTensor: [[1, 2, 3], [3, 0, 4], [2, 4, 2]]
outputs:
  OutputTensor: [[6, 6, 9]]
"""
)
_FLOW = (
    "operator: ARGMAX, desc: {InputTensor: {DataType: FLOAT32, Sizes: [3]}, OutputTensor: {DataType: UINT32, Sizes: "
    "[1]}, Axes: [0], AxisDirection: INCREASING}"
)
_NAN_CASE = """\
operator: DML_OPERATOR_ARGMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensor: {DataType: UINT32, Sizes: [1]}
  Axes: [0]
  AxisDirection: INCREASING
inputs: {InputTensor: [1, nan, 3]}
outputs: {OutputTensor: [any]}
"""
_THIRD = """\
operator: DML_OPERATOR_ELEMENT_WISE_RECIP
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1]}
inputs: {InputTensor: [3]}
outputs: {OutputTensor: [0.3333]}
tolerance: {absolute: 1e-4}
"""
_PADDED = """\
operator: DML_OPERATOR_ARGMAX
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3], Strides: [4, 1], TotalTensorSizeInBytes: 48}
  OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
  Axes: [0]
  AxisDirection: INCREASING
"""


_FUSED = """\
operator: DML_OPERATOR_ELEMENT_WISE_ADD1
desc:
  ATensor: {DataType: FLOAT32, Sizes: [2, 3]}
  BTensor: {DataType: FLOAT32, Sizes: [2, 3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [2, 3]}
  FusedActivation: {Type: ACTIVATION_RELU}
"""
_PADDING = """\
operator: DML_OPERATOR_PADDING
feature_level: "6_4"
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 5]}
  PaddingMode: WRAP
  PaddingValue: 0
  StartPadding: [0, 0, 0, 1]
  EndPadding: [0, 0, 0, 1]
"""
_NORMALIZATION = """\
operator: DML_OPERATOR_LP_NORMALIZATION
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 3]}
  Axis: 3
  Epsilon: 0
  P: 2
"""


_UNDEFINED = """\
the case has   engine: defined   engine: undefined
any            this rule         passes
a value        compared          this rule if the case has `any` elsewhere, else not compared"""


def _replace(text: str, old: str, new: str) -> str:
    if old not in text:
        raise ValueError(old)
    return text.replace(old, new, 1)


RULES: dict[str, Rule] = {
    # ---- file
    "file-not-found": Rule(
        "file",
        "a file or folder that was named cannot be opened",
        "{path}: {problem}",
        "The path on the command line, or the .npy file that a case names, does not exist, is a folder where a file is "
        "needed, or may not be read. A case's files are looked up relative to the case file and must stay inside its "
        "folder tree, so that a case folder can be moved and shared as a whole.",
        _replace(
            _SUM_CASE,
            "  InputTensor: [[1, 2, 3], [3, 0, 4], [2, 4, 2]]",
            "  InputTensor: {file: data/missing.npy}",
        ),
        _SUM_CASE,
    ),
    "yaml-syntax": Rule(
        "file",
        "a file is not valid YAML or JSON",
        "{problem}",
        "Files are YAML 1.2 in UTF-8 (a byte order mark and CRLF line ends are fine), or JSON, in which // and /* */ "
        "comments and a trailing comma are allowed as DxDispatch allows them. A file has one document. Refused are "
        "tags that would build objects, keys that are not plain names, aliases that expand without end, and lists and "
        "mappings more than 100 levels deep. YAML does not allow tabs for indentation.",
        "operator: DML_OPERATOR_ARGMAX\ndesc: {Axes: [0\n",
        _ARGMAX,
    ),
    "onnx-syntax": Rule(
        "file",
        "a file is not a model or a tensor of ONNX, or a node of a model is wrong",
        "{problem}",
        "`dmlcheck validate` reads whole models. `dmlcheck import onnx` reads models of one operator (`model.onnx`), "
        "and tensors (`input_0.pb`, `output_0.pb`) in the folders `test_data_set_0`, `test_data_set_1` and so on "
        "beside them, as ONNX's own runner does. If a file was cut short or has another format, fetch or export it "
        "again. A file of a few lines of text is a pointer of Git LFS: the file itself was not fetched. A model that "
        "asks for a newer opset than the package onnx has is not read: nodes would be taken for older versions of "
        "their operators. What is wrong with a node is what the package onnx says of it; `onnx.checker.check_model` "
        "and `onnx.shape_inference.infer_shapes(model, strict_mode=True)` say it too. A type or sizes that the model "
        "declares of a value, and that its node does not give, are wrong as well: correct or remove the `value_info`.",
    ),
    "graph-syntax": Rule(
        "file",
        "a file is not a DirectML graph, or a node of one is not as its operator is",
        "{problem}",
        "ONNX Runtime's DirectML provider writes the graphs that it hands to DirectML when the session's configuration "
        "`ep.dml.enable_graph_serialization` is `1`: a file `Partition_0.bin` for each part of the model, and large "
        "constants as files beside it. `dmlcheck validate Partition_0.bin` reads such a graph; the files of constants "
        "are not graphs. A node matches its tensors to the operator's fields in the order of DirectML's struct, an "
        "empty name for each that is left out, and its attributes by position. If a file was cut short, fetch it "
        "again or let ONNX Runtime write it again. Example: a node DML_OPERATOR_GEMM with the names of three inputs "
        "and the descs of two breaks this rule; with an empty third name it does not.",
    ),
    "dangling-edge": Rule(
        "file",
        "a node of a DirectML graph reads, or the graph returns, what nothing writes",
        "{problem}",
        "The edges of a DirectML graph on disk are names. A name that a node reads is an input of the graph, or an "
        "output of an earlier node; an output of the graph is an output of a node. DxDispatch refuses a graph where "
        "that is not so. Example: the node `add` reads `product`, and no node writes it, or one that comes after "
        "`add`. Give the edge one name at both ends, and put each node after those that it reads from.",
    ),
    "edge-mismatch": Rule(
        "file",
        "the two ends of an edge of a DirectML graph do not agree",
        "{problem}",
        "What a node writes and what another reads of it are one buffer, and each of the two nodes has a desc of it. "
        "The reader may have sizes and strides of its own, to broadcast or to transpose. The data type must be the "
        "same, and TotalTensorSizeInBytes of the reader at most that of the writer; a constant in the file must have "
        "as many bytes as its reader's elements take. Example: a node writes FLOAT32 of sizes 1 x 1 x 1 x 4, 16 bytes, "
        "and the next reads it as FLOAT16, or as 1 x 1 x 1 x 8, 32 bytes. Give both ends the same data type, and make "
        "the tensor that is written at least as large.",
    ),
    "runs-elsewhere": Rule(
        "file",
        "a node of an ONNX model makes no DirectML operator",
        "{problem}",
        "ONNX Runtime's DirectML provider takes the operators that it registers, in the versions and of the types "
        "that it registers them for. It leaves all other nodes to the CPU, and computes a few with shaders of its "
        "own. If the CPU does not take a node either, ONNX Runtime inlines the function that defines it; where there "
        "is none, the rule is `no-provider`. ONNX Runtime also keeps nodes that only compute sizes on the CPU, and "
        "computes what depends on constants alone when it loads a model. A node with this note is not checked, and "
        "needs no feature level. Another release of ONNX Runtime may take more. A node on the CPU between nodes on "
        "DirectML costs copies from one to the other.",
    ),
    "no-provider": Rule(
        "file",
        "neither DirectML nor the CPU takes a node of an ONNX model",
        "{problem}",
        "ONNX Runtime looks for a kernel for each node among those of the DirectML provider, then among those of the "
        "CPU. If neither has one for the operator, its version and the types of its inputs, and no function of ONNX "
        "defines the operator by others, it creates no session: `Could not find an implementation`. It converts "
        "inputs of FLOAT16 to FLOAT for the CPU, but not those of BFLOAT16 or DOUBLE. Cast to a type that one of the "
        "two takes, or replace the node. Some operators of `com.microsoft` have kernels for other providers only: an "
        "optimization for those put them there, so optimize the model for DirectML, or not at all. An operator of "
        "another domain is in a library that the application registers: dmlcheck does not know what that takes.",
    ),
    "unknown-sizes": Rule(
        "file",
        "the sizes or the numbers that a node of an ONNX model needs are not known",
        "{problem}",
        "A desc has whole numbers for sizes, so a node can only be checked where all its sizes follow from those of "
        "the model's inputs. Give a size to each symbolic dimension: `dmlcheck validate model.onnx --dim batch=1 --dim "
        "sequence=128`. Sizes that only a run makes (of NonZero, of a loop) stay unknown, and so do those of operators "
        "that the package onnx does not know: such nodes are not checked. The note names the input or the node where "
        "this begins, and how many nodes depend on it.",
    ),
    "not-mapped": Rule(
        "file",
        "dmlcheck does not know the descs that a node of an ONNX model becomes",
        "{problem}",
        "ONNX Runtime's DirectML provider runs this node, but dmlcheck does not know with which DirectML operators. "
        "So it does not check the node. If you know the desc, write it into a file and run `dmlcheck validate` on it.",
    ),
    "duplicate-key": Rule(
        "file",
        "a mapping has the same key twice",
        "the key {key} occurs twice in this mapping, first on line {first}",
        "YAML forbids duplicate keys. Readers that allow them silently keep one of the two values, and a case would "
        "not test what it seems to test.",
        _ARGMAX + "  Axes: [1]\n",
        _ARGMAX,
    ),
    "unknown-key": Rule(
        "file",
        "a key that a case file, a tolerance or a value does not have",
        "{where} has no key {key}",
        "A misspelt key is not ignored: the case would silently test less than it says. The keys of a case are name, "
        "operator, feature_level, desc, inputs, outputs, invalid, source, tags, tolerance, matrix and note.",
        _SUM_CASE + "tolerence: exact\n",
        _SUM_CASE + "tolerance: exact\n",
    ),
    "missing-key": Rule(
        "file",
        "a key that a file needs is not there",
        "{where} needs the key {key}",
        "A case needs an operator and a desc, from its own keys or from those at the top of its file, and a name when "
        "the file has several cases.",
        _replace(_ARGMAX, "operator: DML_OPERATOR_ARGMAX\n", ""),
        _ARGMAX,
    ),
    "wrong-type": Rule(
        "file",
        "a value of a case file has the wrong type",
        "{what} is {found}; it must be {expected}",
        "The keys of a case file have fixed types: names are text, desc and inputs are mappings, cases and invalid are "
        "lists. YAML 1.2 decides what is text and what is a number: quote what should be text.",
        _SUM_CASE + "invalid: size-mismatch\n",
        _SUM_CASE,
    ),
    "duplicate-name": Rule(
        "file",
        "two cases of a file have the same name",
        "the name {name} is used twice{where}",
        "A case's id is the path of its file and its name, so names must be unique in a file. A matrix makes its names "
        "unique by itself.",
        "cases:\n- {name: a, " + _FLOW + "}\n- {name: a, " + _FLOW + "}\n",
        "cases:\n- {name: a, " + _FLOW + "}\n- {name: b, " + _FLOW + "}\n",
    ),
    "file-too-large": Rule(
        "file",
        "a file is larger than dmlcheck reads",
        "{path} {problem}",
        "Case files are read whole. A large tensor belongs in a .npy file beside the case (`{file: data/x.npy}`), "
        "which is also read faster, or in a generator: `{fill: 0}`, `{sequence: {start: 1, step: 1}}`, `{random: "
        "{seed: 1, low: -1, high: 1}}`.",
    ),
    "too-many-problems": Rule(
        "file",
        "a file has more problems than are listed",
        "{path} has more than {most:,} problems; {rest}",
        "At most 1,000 problems of a file are listed. Correct the first ones and run the command again: one wrong line "
        "in a matrix is a problem in every case that the matrix makes.",
    ),
    "unmatched-expectation": Rule(
        "file",
        "an entry of an expectations file names no case of its files",
        "no case of this run has an id like {glob}",
        "The entry has no effect: its case was removed or renamed, or its pattern is misspelt. In a pattern `*` stands "
        "for any text and `?` for any character. It matches the id of a case, or the end of its file's full path from "
        "a slash on, with `::` and the name. Entries for files that a run does not read whole are not asked for. "
        "`dmlcheck expectations update` drops entries that no longer apply.",
    ),
    "expired-expectation": Rule(
        "file",
        "an entry of an expectations file is past its date",
        "this entry expired on {date}; today is {today}",
        "`expires` is the date by which a known failure is to be looked at again. Remove the entry if the case passes "
        "now; otherwise give it a new date.",
    ),
    "not-directml": Rule(
        "file",
        "a dispatchable of a DxDispatch model is not a DirectML operator",
        "the dispatchable {name} is of type {type}, not a DirectML operator; it is not checked",
        "DxDispatch also runs HLSL shaders and ONNX models. dmlcheck does not check them as parts of a DxDispatch "
        "model. `dmlcheck validate` takes an ONNX model (`.onnx`) by itself. A dispatchable of type "
        "`dmlSerializedGraph` is checked if its `sourcePath` ends in `.bin`.",
        '{"resources": {}, "dispatchables": {"add": {"type": "hlsl", "sourcePath": "add.hlsl"}}, "commands": []}\n',
    ),
    # ---- desc
    "unknown-operator": Rule(
        "desc",
        "the operator is not one that dmlcheck knows",
        "{found} is not an operator that dmlcheck knows",
        "Operators have DirectML's names, in full (DML_OPERATOR_ARGMAX) or without the prefix (ARGMAX). `dmlcheck "
        "show` lists them.",
        _replace(_ARGMAX, "DML_OPERATOR_ARGMAX", "DML_OPERATOR_ARGMAXX"),
        _ARGMAX,
    ),
    "unknown-field": Rule(
        "desc",
        "the operator's desc has no field of this name",
        "{operator} has no field {field}",
        "Field names are those of the operator's struct in DirectML.h, letter for letter. A field that is misspelt is "
        "not reported as missing as well.",
        _replace(_ARGMAX, "AxisDirection", "AxisDirektion"),
        _ARGMAX,
    ),
    "missing-field": Rule(
        "desc",
        "a field that is not optional is left out",
        "{operator} needs the field {field}",
        "Every field of the operator's struct must be given, except those that its page marks as optional, and counts "
        "such as AxisCount, which follow from their arrays.",
        _replace(_ARGMAX, "  AxisDirection: INCREASING\n", ""),
        _ARGMAX,
    ),
    "excluded-field": Rule(
        "desc",
        "a field is given where it must be left out",
        "{field} may not be given {why}",
        "Some optional fields exclude each other, or make no sense with others. An operator inside another one "
        "(FusedActivation, ActivationDescs) takes no tensors of its own: its InputTensor and OutputTensor are null.",
        _FUSED.replace("ACTIVATION_RELU", "ACTIVATION_RELU, InputTensor: {DataType: FLOAT32, Sizes: [2, 3]}"),
        _FUSED,
    ),
    "field-type": Rule(
        "desc",
        "a field has a value of the wrong type",
        "{field} is {found}; it must be {expected}",
        "Each field has the type that the operator's struct gives it: UINT fields take whole numbers from 0 to 2^32 - "
        "1, arrays take lists, tensors take a mapping with DataType and Sizes.",
        _replace(_ARGMAX, "Axes: [0]", "Axes: 0"),
        _ARGMAX,
    ),
    "unknown-enum-value": Rule(
        "desc",
        "a value that the enumeration does not have",
        "{found} is not a value of {enum}",
        "An enumeration value is written in full (DML_REDUCE_FUNCTION_SUM), as its suffix (SUM) or as its number (10).",
        _replace(_ARGMAX, "INCREASING", "UPWARD"),
        _ARGMAX,
    ),
    "count-mismatch": Rule(
        "desc",
        "a count field and the array that it counts disagree",
        "{count} is {found}, and {array} has {length}",
        "DirectML reads as many array elements as the count says. Leave the count out and it follows from the array.",
        _replace(_ARGMAX, "  Axes: [0]\n", "  AxisCount: 2\n  Axes: [0]\n"),
        _replace(_ARGMAX, "  Axes: [0]\n", "  AxisCount: 1\n  Axes: [0]\n"),
    ),
    # ---- tensor
    "invalid-sizes": Rule(
        "tensor",
        "a tensor has a size of 0, or too many elements",
        "{tensor}.Sizes {problem}",
        "No dimension of a DML_BUFFER_TENSOR_DESC may have size 0, and a tensor has at most 2^32 - 1 elements.",
        _replace(_ARGMAX, "DataType: FLOAT32, Sizes: [3, 3]", "DataType: FLOAT32, Sizes: [0, 3]"),
        _ARGMAX,
    ),
    "invalid-strides": Rule(
        "tensor",
        "the strides do not fit the sizes, or make elements of an output overlap",
        "{tensor}.Strides {problem}",
        "There is one stride, in elements, for each dimension. A stride of 0 repeats an input along a dimension; an "
        "output's elements must each have a place of their own, or it would matter which is written last.",
        _replace(_ARGMAX, "UINT32, Sizes: [1, 3]", "UINT32, Sizes: [1, 3], Strides: [3, 0]"),
        _replace(_ARGMAX, "UINT32, Sizes: [1, 3]", "UINT32, Sizes: [1, 3], Strides: [3, 1]"),
    ),
    "tensor-too-small": Rule(
        "tensor",
        "TotalTensorSizeInBytes is less than the elements need",
        "{tensor}.TotalTensorSizeInBytes is {found}, but its elements need {needed} bytes",
        "The least size is (dot(Sizes - 1, Strides) + 1) times the element size, rounded up to 4 bytes; without "
        "strides the product of the sizes times the element size, rounded up likewise. A larger size is allowed.",
        _replace(_PADDED, "TotalTensorSizeInBytes: 48", "TotalTensorSizeInBytes: 36"),
        _PADDED,
    ),
    "invalid-alignment": Rule(
        "tensor",
        "GuaranteedBaseOffsetAlignment is neither 0 nor a power of two of at least an element's size",
        "{tensor}.GuaranteedBaseOffsetAlignment is {found}; it must be 0 or a power of two of at least {least}",
        "The field promises DirectML that the tensor's buffer starts at a multiple of this many bytes. 0 makes no "
        "promise.",
        _replace(_ARGMAX, "Sizes: [3, 3]", "Sizes: [3, 3], GuaranteedBaseOffsetAlignment: 12"),
        _replace(_ARGMAX, "Sizes: [3, 3]", "Sizes: [3, 3], GuaranteedBaseOffsetAlignment: 16"),
    ),
    "invalid-flags": Rule(
        "tensor",
        "a tensor carries a flag that it may not",
        "{tensor}.Flags is {found}; {problem}",
        "DML_TENSOR_FLAG_OWNED_BY_DML hands a constant to DirectML when the operator is initialized, so only an input "
        "can carry it.",
        _replace(_ARGMAX, "UINT32, Sizes: [1, 3]", "UINT32, Sizes: [1, 3], Flags: OWNED_BY_DML"),
        _replace(_ARGMAX, "FLOAT32, Sizes: [3, 3]", "FLOAT32, Sizes: [3, 3], Flags: OWNED_BY_DML"),
    ),
    # ---- feature level
    "operator-unavailable": Rule(
        "feature level",
        "the operator came with a later feature level",
        "{operator} does not exist at {level}",
        "Creating an operator on a DirectML whose feature level does not have it fails with E_INVALIDARG. The feature "
        "level belongs to the DirectML.dll, not to the GPU or its driver.",
        'feature_level: "2_1"\n' + _ARGMAX,
        'feature_level: "3_0"\n' + _ARGMAX,
    ),
    "unsupported-dimension-count": Rule(
        "feature level",
        "a tensor has a number of dimensions that the operator does not take at this level",
        "{tensor} has {found}, which {operator} does not take at {level}",
        "The operator's support table lists the dimension counts of each tensor by feature level. Leading dimensions "
        "of size 1 raise the count without changing the result.",
        'feature_level: "2_0"\n' + _SUM,
        'feature_level: "3_0"\n' + _SUM,
    ),
    "unsupported-data-type": Rule(
        "feature level",
        "a tensor has a data type that the operator does not take at this level",
        "{tensor} is {found}, which {operator} does not {verb} at {level}",
        "The operator's support table lists the data types of each tensor by feature level. A table headed 'level L "
        "and above' applies up to the next table.",
        'feature_level: "3_0"\n' + _replace(_ARGMAX, "FLOAT32", "INT64"),
        'feature_level: "4_1"\n' + _replace(_ARGMAX, "FLOAT32", "INT64"),
    ),
    "unsupported-value": Rule(
        "feature level",
        "a field has a value or an option that needs a higher feature level",
        "{field} is {found}, which {operator} does not take at {level}",
        "Some enumeration values and options were added after the operator itself. `dmlcheck show` prints from which "
        "level each is accepted.",
        _replace(_PADDING, '"6_4"', '"6_3"'),
        _PADDING,
    ),
    # ---- operator
    "rank-mismatch": Rule(
        "operator",
        "tensors that must have the same number of dimensions do not",
        "{tensor} has {found}, and {problem}",
        "DirectML does not add or drop dimensions: a reduced dimension stays, with size 1.",
        _replace(_ARGMAX, "UINT32, Sizes: [1, 3]", "UINT32, Sizes: [3]"),
        _ARGMAX,
    ),
    "size-mismatch": Rule(
        "operator",
        "a tensor has a size that does not fit the other tensors and the attributes",
        "{size} is {found}; it must be {limit}{expected}{worked}",
        "DirectML checks every size when it creates the operator; it never infers one. The message names the size that "
        "is wrong, the size that is right, and how it is computed. Usually the output is wrong: write the size of the "
        "message. If the output is as you want it, an attribute is wrong: a padding, a stride, a dilation, an axis, or "
        "TransA and TransB. A reduced dimension stays, with size 1. Sizes are not broadcast: repeat an input by giving "
        "it the output's Sizes and Strides of 0.",
        _replace(_ARGMAX, "UINT32, Sizes: [1, 3]", "UINT32, Sizes: [1, 4]"),
        _ARGMAX,
    ),
    "data-type-mismatch": Rule(
        "operator",
        "tensors that must have the same data type do not",
        "{tensor} is {found}, and {problem}",
        "The operator does not convert between data types. DML_OPERATOR_CAST does.",
        _replace(_SUM, "FLOAT32, Sizes: [1, 3]", "FLOAT16, Sizes: [1, 3]"),
        _SUM,
    ),
    "axis-out-of-range": Rule(
        "operator",
        "an axis is not a dimension of the tensor",
        "{field} is {found}, and {tensor} has dimensions 0 to {last}",
        "Axes count from 0 at the first dimension. Negative axes, as NumPy and ONNX have them, do not exist.",
        _replace(_ARGMAX, "Axes: [0]", "Axes: [0, 2]"),
        _ARGMAX,
    ),
    "duplicate-axis": Rule(
        "operator",
        "an axis is named twice",
        "{field} is {found}, the axis that {first} names already",
        "The pages do not say what a repeated axis would mean, so no desc should depend on it.",
        _replace(_ARGMAX, "Axes: [0]", "Axes: [0, 0]"),
        _ARGMAX,
    ),
    "value-out-of-range": Rule(
        "operator",
        "an attribute has a value that the operator does not take at any level",
        "{field} is {found}; it must be {expected}{worked}",
        "The operator's page limits the value, or DirectML is known to refuse it. `dmlcheck show` with the operator's "
        "name prints the constraint.",
        _replace(_NORMALIZATION, "P: 2", "P: 3"),
        _NORMALIZATION,
    ),
    "known-deviation": Rule(
        "operator",
        "some versions of DirectML are known to get such a desc wrong",
        "known of DirectML ({versions}): {text} ({source})",
        "The desc is valid: this is a note, not an error. Release notes, threads or tests say that some versions of "
        "DirectML, or some devices, give wrong results for descs like it, or crash. `dmlcheck show` with the operator "
        "lists what is known. `dmlcheck validate --directml-version VERSION` notes only what is known of one version, "
        "and `dmlcheck run --directml-version VERSION` expects its failures.",
    ),
    # ---- data
    "missing-tensor": Rule(
        "data",
        "a tensor of the desc has no values",
        "{tensor} has no values under {section}",
        "To be computed, a case needs values for every input tensor that its desc declares.",
        _replace(
            _SUM_CASE,
            "inputs:\n  InputTensor: [[1, 2, 3], [3, 0, 4], [2, 4, 2]]\n",
            "inputs: {}\n",
        ),
        _SUM_CASE,
    ),
    "unexpected-tensor": Rule(
        "data",
        "values are given for a tensor that the desc does not have",
        "{section} has values for {tensor}, {problem}",
        "Inputs are named like the operator's input tensors and outputs like its output tensors; an optional tensor "
        "that the desc leaves out has no values.",
        _replace(_SUM_CASE, "  OutputTensor: [[6, 6, 9]]", "  OutputTensors: [[6, 6, 9]]"),
        _SUM_CASE,
    ),
    "element-count": Rule(
        "data",
        "the values of a tensor are not as many, or not shaped, as its Sizes say",
        "{tensor} has {found}; {expected}",
        "Values are a nested list in the shape of Sizes, or a flat list of all elements in row-major order.",
        _replace(_SUM_CASE, "[[6, 6, 9]]", "[[6, 6]]"),
        _SUM_CASE,
    ),
    "value-not-representable": Rule(
        "data",
        "a value does not fit the tensor's data type",
        "{element} is {found}, which {type} cannot hold",
        "Integers must be whole and in range. A float is rounded to the nearest value of the type; one beyond its "
        "largest finite value is an error, so that no overflow goes unnoticed: write inf where infinity is meant.",
        _replace(_SUM_CASE, "[2, 4, 2]]", "[2, 4, 1e39]]"),
        _SUM_CASE,
    ),
    "conflicting-elements": Rule(
        "data",
        "two values are given for elements that share one place in memory",
        "{element} is {found}, but an earlier element at the same place in the buffer is {expected}",
        "With a stride of 0 all elements along a dimension are one element of the buffer, so their values must agree. "
        "`{buffer: [...]}` gives the elements of the buffer themselves.",
        _replace(
            _replace(_SUM_CASE, "FLOAT32, Sizes: [3, 3]", "FLOAT32, Sizes: [3, 3], Strides: [0, 1]"),
            "[[6, 6, 9]]",
            "[[3, 6, 9]]",
        ),
        _replace(
            _replace(
                _replace(_SUM_CASE, "FLOAT32, Sizes: [3, 3]", "FLOAT32, Sizes: [3, 3], Strides: [0, 1]"),
                "[[1, 2, 3], [3, 0, 4], [2, 4, 2]]",
                "{buffer: [1, 2, 3]}",
            ),
            "[[6, 6, 9]]",
            "[[3, 6, 9]]",
        ),
    ),
    "tensor-too-large": Rule(
        "data",
        "the tensors of a case do not fit into this machine's memory",
        "{tensors} {need}, and this machine has {have} to spare",
        "The case is valid, but its tensors do not fit into the memory of this machine; nothing was allocated. Run it "
        "on a larger machine, or give the tensor as `{fill: X}`, which takes no memory.",
    ),
    "too-much-work": Rule(
        "data",
        "the reference engine does not compute a desc, because that would take too long",
        "{problem}",
        "The case is valid, but some of its attributes ask for much more than its tensors have elements: 30,000 x "
        "30,000 samples for each element of a region, say. The engine estimates that before it begins. `run` skips "
        "such a case, with the number in the reason, whatever its time limit. Take smaller attributes.",
    ),
    # ---- run
    "output-mismatch": Rule(
        "run",
        "an output is not what the case expects",
        "{tensor} {problem}",
        "The implementation's result was compared with the expected values, element by element, under the case's "
        "tolerance or the operator's own. The report shows the worst and the first elements, with the error in ULP and "
        "as a share of the tolerance.",
        _replace(_SUM_CASE, "[[6, 6, 9]]", "[[6, 6, 8]]"),
        _SUM_CASE,
    ),
    "unspecified-mismatch": Rule(
        "run",
        "a case and the reference engine disagree on which elements are undefined",
        "{element} {problem}",
        "Where the documentation does not define a result, an element is undefined. A case writes `any` for it, and no "
        "implementation is judged by it. The reference engine marks undefined elements itself, so when it is judged, "
        "case and engine must agree:",
        _NAN_CASE.replace("nan", "2"),
        _NAN_CASE,
        table=_UNDEFINED,
    ),
    "unlikely-error": Rule(
        "run",
        "a case passes with a larger error than rounding is likely to cause",
        "{tensor}: {found} within the tolerance, but up to {share} times the likely error{also}",
        "The tolerance of a sum of n terms is its error if every rounding is the worst possible, so that any order of "
        "summation passes. Independent roundings add up to much less: the likely error is six standard deviations of a "
        "random walk. An error between the two often is a fault, such as a sum in FLOAT16 or a missing term. It is a "
        "warning; with `run --strict` the case fails. An element that is more than 32 times its likely error off is "
        "outside the tolerance: that is an `output-mismatch`.",
    ),
    "systematic-error": Rule(
        "run",
        "the errors of a whole output are larger than rounding is likely to cause",
        "{tensor}: the root mean square of the errors of {elements} is {share} times the likely error; it must be at "
        "most {most}{also}",
        "Roundings are independent of each other, so only a few elements of an output come near the likely error, "
        "which is six standard deviations. The root mean square of the errors, each in units of the likely error of "
        "its element, is at most 1/6 where the roundings are as expected. Where it is more than 1, something rounds "
        "more than it may, though each element alone is inside its tolerance: inputs are rounded to TF32 or FLOAT16, "
        "say, or sums are kept in FLOAT16. Only outputs of sums with at least 16 elements are looked at.",
    ),
    "unlimited-tolerance": Rule(
        "run",
        "elements differ where nothing limits the error",
        "{tensor}: {found}, where the tolerance allows all that the operator can return",
        "The tolerance follows from the roundings of the operator's formula. It is infinite after a division by what "
        "may be 0, and can be as wide as all that the operator returns, as that of SIN of a very large angle. Where an "
        "element has no limit, neither in its tolerance nor in its likely error, any result would pass: an "
        "element that differs there is no pass. It is a warning; with `run --strict` the case fails. A case is skipped "
        "in which no element is equal, and none has a limit. A `tolerance` of the case takes the place of all this.",
    ),
    "inaccurate-expectation": Rule(
        "run",
        "a case expects a value that is not accurate",
        "{element} is expected to be {expected}, and the exact result is {exact}{error}{more}",
        "Cases are checked too, not only implementations. An expected float is measured against the exact result, "
        "before that is rounded to the output's type. It is named where it is more than `--expected-within` ULP away "
        "(default: 4), and also further than half a unit of the last digit that the file writes: 0.3333 stands for "
        "everything from 0.33325 to 0.33335. Numbers in `.npy` files, of `fill` and `bits`, and hex floats have no "
        "such digits. A tolerance of the case does not matter. Where several results are right, the nearest counts; "
        "elements that are undefined are not measured. It is a warning; with "
        "`run --strict` the case fails. Where the reference is judged and finds the output wrong, only that is told.",
        _replace(_THIRD, "[0.3333]", "[0.33334]"),
        _THIRD,
    ),
    "near-the-bound": Rule(
        "run",
        "a case passes with little to spare",
        "{element}: {error}, {share}",
        "`--warn-above SHARE` names the cases that pass with an error of more than this share of what their tolerance "
        "allows. The default is 0.5; for the reference engine no case is named by default. 1 names no case. It is a "
        "warning: the case passes, and the exit code does not change.",
    ),
    "accuracy-drift": Rule(
        "run",
        "a case passes but is less accurate than in an earlier run",
        "{tensor}: {new}, and was {old}",
        "`--compare-to REPORT.json` compares the largest error of each output, in ULP (in units for integers), with "
        "that of the same case in an earlier report. With `--max-drift X` the run fails where the error rose by more "
        "than X; otherwise this is a warning. Only cases that passed in both runs are compared.",
    ),
    "diagnostics-mismatch": Rule(
        "run",
        "a negative case does not break exactly the rules that it lists",
        "{problem}",
        "`invalid` names the set of everything that is wrong with the desc, by rule (size-mismatch) or by labelled "
        "constraint (REDUCE/C2), each however often it occurs. The desc must break all of them and nothing else.",
        _ARGMAX + "invalid: [axis-out-of-range]\n",
        _replace(_ARGMAX, "Axes: [0]", "Axes: [0, 2]") + "invalid: [axis-out-of-range]\n",
    ),
    "implementation-error": Rule(
        "run",
        "the implementation under test failed instead of returning a result",
        "{implementation} {problem}",
        "The desc is valid and all inputs are given, so the implementation must return a result. The message says what "
        "it did instead.",
    ),
    "invalid-desc-accepted": Rule(
        "run",
        "the implementation under test accepts a desc that is not valid",
        "{implementation} accepts a desc that {level} does not allow: {mistakes}",
        "A negative case lists what is wrong with its desc. Implementations that say that they refuse such descs "
        '(DxDispatch, programs that answer the first request with `"validates": true`, Python objects with '
        "`validates = True`) get the desc too, with zeros as inputs, and must refuse it, as DirectML does. "
        "The message says what is wrong with the desc at the feature level of the run. A desc that is only wrong at "
        "lower levels is not sent. Neither is one with a mistake in its notation, such as an unknown field.",
    ),
    "timeout": Rule(
        "run",
        "a case took longer than it may",
        "no result after {seconds} s",
        "`--timeout` limits the seconds that one case may take.",
    ),
    "flaky-case": Rule(
        "run",
        "a case failed and then passed, and the run does not allow that",
        "{problem}",
        "With `run --retries N` a case that fails runs again. With `--fail-on-flaky` one that then passes is a "
        "failure. The same desc and inputs gave different results: look for memory that is read before it "
        "is written, or for missing barriers.",
    ),
    "skipped-case": Rule(
        "run",
        "a case was skipped, and the run does not allow that",
        "skipped: {reason}",
        "With `run --fail-on-skipped` every case must be run and judged. A case that cannot be, such as one that the "
        "implementation does not support, is a failure, unless an entry of the expectations expects it to be skipped.",
    ),
    "unsupported-by-implementation": Rule(
        "run",
        "the implementation under test cannot run this case",
        "{implementation} {problem}",
        "The implementation cannot express the operator, the data type or the layout. This is not a failure: the case "
        "is skipped and counted.",
    ),
}

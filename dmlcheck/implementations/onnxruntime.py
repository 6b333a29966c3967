"""ONNX Runtime as an implementation: a desc as an ONNX model, run by one execution provider and by no other.

Graph optimizations are off, so that the kernel of the operator is under test; `optimizing` is for nodes together. Needs
the packages onnx and onnxruntime, or onnxruntime-directml in its place.
"""

from __future__ import annotations

import contextlib
import copy
import os
import re
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import Failure, Unavailable, Unsupported
from dmlcheck.implementations.desc_models import DescModel, feed_of, model_of, refuse_deadly
from dmlcheck.implementations.protocol import Implementation
from dmlcheck.onnx.export.records import ExportedGraph, Inexpressible

if TYPE_CHECKING:
    from dmlcheck.reference.engine import Array

CPU = "CPUExecutionProvider"
DML = "DmlExecutionProvider"
INSTALL = "python -m pip install onnx onnxruntime"
# onnxruntime-directml is onnxruntime under another name: if both are installed, one overwrites the other's files.
INSTALL_DML = "python -m pip uninstall -y onnxruntime && python -m pip install onnx onnxruntime-directml"
_SHORT = {"": CPU, "cpu": CPU, "dml": DML}
_MODEL_THREADS = 2
_KEPT = 8  # sessions: enough for cases that differ in their values only
_SILENT = 4  # fatal errors only

# Messages of onnxruntime about cases that it cannot run, as against runs that went wrong.
_NO_KERNEL = re.compile(r"(?:implementation|kernel) for (?:the node \S+:)?(\w+)\(")
_NOT_FOR_PROVIDER = re.compile(r"\bnot (?:implemented|supported) (?:for|on) (?:the )?CPU\b")  # in the words of kernels
_TOO_OLD = re.compile(r"is under development and support for this is limited|Unsupported model IR version")
_NO_INPUT = "can't be converted to MLDataType"  # an array of the package ml_dtypes
_NO_OPERATOR = re.compile(r"(\S+?)(?:\(-?\d+\))? is not a registered function/op")
_NO_ARRAY = "No corresponding Numpy type for Tensor Type"
_NO_FALLBACK = "fallback to CPU EP has been explicitly disabled"
_NOT_SUPPORTED = re.compile(r"not (?:currently )?(?:supported|implemented)|only supports", re.IGNORECASE)
_LIMIT = re.compile(
    rf"{_NOT_SUPPORTED.pattern}|IsScalarOr1ElementVector|size_ % 2 == 1"
    r"|(?:alpha|beta)_ > 0|same as head_size|Pad should be smaller than kernel"
    r"|Invalid value/s in sequence_lens|Computed output dimension is <= 0|output_padding \(\d+\) may be too large",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r".*(?:Status Message:|Exception during initialization:|\[ONNXRuntimeError\] : \d+ : \w+ :) (?:\S+:\d+ )?"
)
_CHECK = re.compile(r".* was false\. (?=\S)|.*\[with [^\]]*\] ")


class OnnxRuntime(Implementation):
    """One execution provider of ONNX Runtime.

    `place` is its name, `cpu` or `dml`, and empty for the CPU's. Options of the provider may follow, as in
    `PROVIDER,KEY=VALUE`; `library=FILE` is the plug-in library that has the provider.
    """

    may_crash = True

    def __init__(self, place: str = "", timeout: float | None = None) -> None:  # noqa: ARG002 - no session can be ended
        given, *pairs = place.split(",")
        self._settings = _settings(pairs)
        library = self._settings.pop("library", None)
        place = _SHORT.get(given.lower(), given)
        self._runtime = _imported(INSTALL_DML if place == DML else INSTALL)
        self._devices = [] if library is None else _devices_of(self._runtime, place, library)
        self.provider = place if self._devices else _provider(self._runtime, place)
        self.is_directml = self.provider == DML
        self.deviates_as = "onnxruntime" if self.provider == CPU else ""  # the key of its deviations in the specs
        self.name = f"onnxruntime:{self.provider}"
        self.version = str(self._runtime.__version__)
        self.device = _device(self._runtime, self.provider)
        self.ran_elsewhere = False
        self.optimizes = False
        self._last: tuple[OperatorDesc, DescModel] | None = None
        self._sessions: OrderedDict[bytes, Any] = OrderedDict()

    def unsupported(self, desc: OperatorDesc) -> str | None:
        """Return why ONNX cannot express a desc exactly, or None."""
        try:
            self._model(desc)
        except Inexpressible as reason:
            return str(reason)
        return None

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc."""
        model = self._model(desc)
        session = self._session(model)
        feed = feed_of(model.graph, inputs)
        if self.provider == CPU:
            refuse_deadly(model.graph, feed)
        names = [value.name for value in model.graph.outputs]
        try:
            values = session.run(names, feed)
        except Exception as error:
            raise self._problem(error, model.graph) from error
        return dict(zip(names, values, strict=True))

    def run_model(self, model: bytes | str, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        """Return tensors of a model, or of the model of a file, by name; nodes that the provider refuses run elsewhere.

        `ran_elsewhere` then says so.
        """
        self.ran_elsewhere = False
        try:
            session = self._model_session(model, is_strict=self.provider != CPU)
            found = dict(zip(keep, session.run(keep, inputs), strict=True))
        except Exception as error:
            raise self._model_problem(error) from error
        if any(value is None for value in found.values()):
            raise Unsupported("an output is an optional without a value, of which onnxruntime gives nothing")
        return found

    def _model_session(self, model: bytes | str, *, is_strict: bool) -> Any:
        options = _options(self._runtime, self.provider if is_strict else CPU)
        options.intra_op_num_threads = _MODEL_THREADS
        if self.optimizes:
            options.graph_optimization_level = self._runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
            # By default it rounds what 4-bit weights are multiplied with to 8 bits, where it fuses them with MatMul.
            options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
        providers = [self.provider] if is_strict or self.provider == CPU else [self.provider, CPU]
        try:
            session = self._new_session(model, options, providers)
        except Exception as error:
            if is_strict and (_NO_FALLBACK in str(error) or type(error).__name__ == "NotImplemented"):
                self.ran_elsewhere = True
                return self._model_session(model, is_strict=False)
            raise
        session.disable_fallback()
        return session

    def _new_session(self, model: bytes | str, options: Any, providers: list[str]) -> Any:
        if self._devices:
            options.add_provider_for_devices(self._devices, self._settings)
            return self._runtime.InferenceSession(model, options, enable_fallback=0)
        own = [(name, self._settings) if name == self.provider and self._settings else name for name in providers]
        return self._runtime.InferenceSession(model, options, providers=own, enable_fallback=0)

    def optimizing(self) -> OnnxRuntime:
        """Return the same provider with models optimized before they run, as it is by default elsewhere."""
        other = copy.copy(self)
        other.optimizes = True
        return other

    def optimized_model(self, model: bytes | str, path: str) -> None:
        """Write a model as this onnxruntime optimizes it for the provider; Failure or Unsupported if it cannot be.

        Layouts for one kind of processor are left out, since other ONNX Runtimes do not know their operators.
        """
        options = _options(self._runtime, CPU)
        options.graph_optimization_level = self._runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = path
        providers = list(dict.fromkeys([self.provider, CPU]))
        try:
            self._new_session(model, options, providers)
        except Exception as error:
            raise self._model_problem(error) from error

    def _model_problem(self, error: Exception) -> Exception:
        text = " ".join(str(error).split())
        if _TOO_OLD.search(text):
            return Unsupported(f"onnxruntime {self.version} does not know the model's opset")
        unknown = _NO_OPERATOR.search(text)
        if unknown is not None:
            return Unsupported(f"onnxruntime {self.version} has no {unknown[1]}")
        if _NO_INPUT in text:
            return Unsupported("onnxruntime takes no array of the data type of an input")
        is_refused = _NOT_SUPPORTED.search(text) or _NOT_FOR_PROVIDER.search(text)
        if type(error).__name__ == "NotImplemented" or is_refused:
            return Unsupported(f"{self.provider}: {_words(text)}")
        if _NO_ARRAY in text:
            kind = text.partition(f"{_NO_ARRAY}.")[2].strip()  # which 1.23 does not say
            return Unsupported(f"onnxruntime gives no array of {kind or 'the data type of an output'}")
        return Failure(f"raised {type(error).__name__}: {text}")

    def close(self) -> None:
        """Release the sessions."""
        self._sessions.clear()
        self._last = None

    def _model(self, desc: OperatorDesc) -> DescModel:
        if self._last is None or self._last[0] is not desc:
            self._last = desc, model_of(desc)
        return self._last[1]

    def _session(self, model: DescModel) -> Any:
        session = self._sessions.pop(model.data, None)
        if session is None:
            try:
                session = self._new_session(model.data, _options(self._runtime, self.provider), [self.provider])
            except Exception as error:
                raise self._problem(error, model.graph) from error
            session.disable_fallback()
            if session.get_providers()[0] != self.provider:  # results of another provider must not count as this one's
                raise Failure(f"ran on {session.get_providers()[0]} instead of {self.provider}")
        self._sessions[model.data] = session
        if len(self._sessions) > _KEPT:
            self._sessions.popitem(last=False)
        return session

    def _problem(self, error: Exception, graph: ExportedGraph) -> Exception:
        text = " ".join(str(error).split())
        if type(error).__name__ == "NotImplemented" and (match := _NO_KERNEL.search(text)):
            return Unsupported(f"onnxruntime has no {_kernel_text(graph, match[1])} on {self.provider}")
        if _NO_FALLBACK in text:
            nodes = ", ".join(dict.fromkeys(_node_text(graph, node.type) for node in graph.nodes))
            return Unsupported(f"{self.provider} does not run every node of {nodes}")
        if _TOO_OLD.search(text):
            return Unsupported(f"onnxruntime {self.version} does not know opset {graph.opset}")
        if _LIMIT.search(text) or type(error).__name__ == "NotImplemented":
            return Unsupported(f"{self.provider}: {_words(text)}")
        return Failure(f"raised {type(error).__name__}: {text}")


def _words(text: str) -> str:
    """Return a kernel's message, without the place in its source and, if it has words, without the failed check."""
    return _CHECK.sub("", _PLACE.sub("", text)).rstrip(".")


def _kernel_text(graph: ExportedGraph, type: str) -> str:
    """Return the operator that there is no kernel of; onnxruntime makes some operators of others."""
    if any(node.type.rpartition(".")[2] == type for node in graph.nodes):
        return _node_text(graph, type)
    whole = ", ".join(dict.fromkeys(_node_text(graph, node.type) for node in graph.nodes))
    return f"{type}, which it needs for {whole},"


def _node_text(graph: ExportedGraph, type: str) -> str:
    """Return the operator of a node with its data types; types of constants do not count."""
    known = {value.name: value.element or value.data_type for value in (*graph.inputs, *graph.values)}
    for node in graph.nodes:
        if node.type.rpartition(".")[2] == type.rpartition(".")[2]:
            types = dict.fromkeys(known[name] for name in node.inputs if name in known)
            return f"{type} of {' and '.join(types)}" if types else type
    return type


def _imported(install: str) -> Any:
    """Import and return onnxruntime, if onnx is installed too; its logging and telemetry are off from now on.

    The models of descs are made with onnx; models that are given need no import of it, which takes time.
    """
    if find_spec("onnx") is None:
        raise _missing("onnx", install)
    try:
        with _silenced():
            import onnxruntime

            onnxruntime.set_default_logger_severity(_SILENT)
            onnxruntime.disable_telemetry_events()
    except ModuleNotFoundError as error:
        raise _missing(error.name, install) from error
    except (ImportError, OSError) as error:
        raise Unavailable(f"onnxruntime cannot be imported: {' '.join(str(error).split())}") from error
    return onnxruntime


def _missing(package: str | None, install: str) -> Unavailable:
    return Unavailable(f"onnxruntime needs the package {package}; install it with: {install}")


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Keep native code from writing to the console while it is loaded, before its logger can be set."""
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # without a standard error there is nothing to silence
        yield
        return
    os.dup2(nowhere, 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _settings(pairs: list[str]) -> dict[str, str]:
    """Return options of a provider, given as KEY=VALUE; Unavailable for one that is not spelt so."""
    split = [pair.partition("=") for pair in pairs]
    for key, equals, _ in split:
        if not (key and equals):
            raise Unavailable(f"{key or repr(key)} is no option of a provider; write PROVIDER,KEY=VALUE,...")
    return {key: value for key, _, value in split}


def _devices_of(runtime: Any, provider: str, library: str) -> list[Any]:
    """Return the devices of a provider that a plug-in library has; Unavailable without one."""
    if not hasattr(runtime, "register_execution_provider_library"):
        raise Unavailable(f"onnxruntime {runtime.__version__} takes no plug-in libraries; 1.22 does")
    try:
        runtime.register_execution_provider_library(provider, os.path.abspath(library))
    except Exception as error:  # noqa: BLE001 - the library's own, of any kind
        raise Unavailable(f"{library} is no plug-in library: {' '.join(str(error).split())}") from None
    found = [each for each in runtime.get_ep_devices() if each.ep_name == provider]
    if not found:
        names = dict.fromkeys(each.ep_name for each in runtime.get_ep_devices())
        raise Unavailable(f"{library} has no device for {provider}; there are {', '.join(names)}")
    return found


def _provider(runtime: Any, provider: str) -> str:
    """Return the name of an execution provider that this onnxruntime has."""
    there = list(runtime.get_available_providers())
    if provider in there:
        return provider
    help = f"; it comes with onnxruntime-directml, on Windows: {INSTALL_DML}" if provider == DML else ""
    raise Unavailable(f"this onnxruntime has no {provider}, only {', '.join(there)}{help}")


def _device(runtime: Any, provider: str) -> str:
    import platform

    found: list[str] = []
    # Before 1.22 there is no such function, and the strings of drivers are no reason to stop.
    with contextlib.suppress(Exception), _silenced():
        found = [
            str(each.device.metadata.get("Description") or each.device.vendor)
            for each in runtime.get_ep_devices()
            if each.ep_name == provider
        ]
    hardware = ", ".join(dict.fromkeys(name for name in found if name)) or platform.machine()
    return f"{provider} on {hardware}" if hardware else provider


def _options(runtime: Any, provider: str) -> Any:
    """Return the options of a session: the nodes as they stand, one thread, and no provider that steps in."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _SILENT
    options.enable_mem_pattern = False  # DirectML's provider asks for it
    options.enable_cpu_mem_arena = False  # memory of a large case goes back when the case ends
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # a thread that waits takes no core
    if provider != CPU:
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return options

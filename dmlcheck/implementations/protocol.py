"""The members of implementations under test, and the one place that fills in those that an object lacks."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck import __version__
from dmlcheck.descs.records import OperatorDesc

if TYPE_CHECKING:
    from dmlcheck.reference.engine import Array


class Implementation:
    """One implementation under test, and what it need not have: all but `run`, or `run_model`, has a default.

    An object of another class is made one by `adapted`.

    - `name` is for diagnostics; `version` and `device` describe the implementation, "" if they are not known, and
      `feature_level` is that of DirectML's library.
    - `is_directml` says whether it is DirectML, whichever program runs it; None if it does not say.
    - `validates`: it gets invalid descs too, with zeros as inputs, and refuses them by raising Refused or ValueError.
    - `executes` is false for a library of DirectML without a device: it is only asked, by `create_operator`, which
      returns a LibraryAnswer.
    - `keeps_time`: it ends its own work when a case takes too long, since it has a process of its own.
    - `may_crash`: it is native code, which may end its process: a run gives it another.
    - `deviates_as` is the key of its own known deviations in the specs.
    - `errors` is the standard error of the program behind it for the last case.
    - `run_model(model, inputs, names)` returns tensors of an ONNX model by name; `ran_elsewhere` then says whether some
      of it ran elsewhere than on its provider. One that has `optimized_model` also takes the path of a model.
    - `tensor(name)` returns a recorded tensor of a model.
    """

    name: Any = ""
    version: Any = ""
    device: Any = ""
    feature_level: str = ""
    is_directml: bool | None = None
    validates: bool = False
    executes: bool = True
    keeps_time: bool = False
    may_crash: bool = False
    deviates_as: str = ""
    errors: str = ""
    ran_elsewhere: bool = False
    create_operator: Any = None
    run_model: Any = None
    optimized_model: Any = None
    tensor: Any = None

    def unsupported(self, desc: OperatorDesc) -> str | None:  # noqa: ARG002 - any desc
        """Return why the implementation cannot run a desc, or None when nothing in the desc prevents it."""
        return None

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc, by label, each of the shape and type that the desc gives it.

        `inputs` has an array in the shape and type of each input tensor by field, a list of them for an array of
        tensors; their strides in memory mean nothing, the desc's `strides` give the layout of the tensor in a buffer.
        Raises Unsupported, Failure or TimedOut; any other exception is a failure too.
        """
        raise NotImplementedError

    def optimizing(self) -> Implementation:
        """Return the implementation that runs models with their nodes fused, itself if it has no other."""
        return self

    def close(self) -> None:
        """End everything that was started: processes, devices, temporary files."""

    @property
    def about(self) -> About:
        """The implementation's description of itself."""
        return About(self.version, self.device, self.feature_level)


class About(NamedTuple):
    """An implementation's description of itself; the feature level if it is DirectML's library, which knows it."""

    version: str = ""
    device: str = ""
    feature_level: str = ""


def text_of(error: BaseException) -> str:
    """Return the text of an exception of an implementation; if that raises one too, say so as Python does."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - any exception: the run goes on
        return "<exception str() failed>"


def _text(member: str) -> Any:
    """Return a member that is a text, "" if the object lacks it."""
    return property(lambda self: str(getattr(self.given, member, "") or ""))


def _flag(member: str) -> Any:
    """Return a member that is true or false; as Implementation has it if the object lacks it."""
    return property(lambda self: bool(getattr(self.given, member, getattr(Implementation, member))))


def _method(member: str) -> Any:
    """Return a member that is a method of the object itself, so that a traceback begins there; None if it has none."""
    return property(lambda self: found if callable(found := getattr(self.given, member, None)) else None)


class Adapted(Implementation):
    """An object with `run`, with `run_model`, or with recorded tensors, as an implementation.

    Its members are asked for when they are used: they may change, and take time.
    """

    def __init__(self, given: Any) -> None:
        self.given = given

    version = _text("version")
    device = _text("device")
    feature_level = _text("feature_level")
    deviates_as = _text("deviates_as")
    validates = _flag("validates")
    executes = _flag("executes")
    keeps_time = _flag("keeps_time")
    may_crash = _flag("may_crash")
    ran_elsewhere = _flag("ran_elsewhere")
    run_model = _method("run_model")
    optimized_model = _method("optimized_model")
    run: Any = property(lambda self: self.given.run)
    tensor = property(lambda self: getattr(self.given, "tensor", None) if hasattr(self.given, "tensor_names") else None)
    create_operator = property(lambda self: getattr(self.given, "create_operator", None) if self.is_directml else None)
    name = property(lambda self: str(getattr(self.given, "name", None) or type(self.given).__name__))
    is_directml = property(
        lambda self: None if (said := getattr(self.given, "is_directml", None)) is None else bool(said)
    )
    errors = property(lambda self: said if isinstance(said := getattr(self.given, "errors", ""), str) else "")
    unsupported: Any = property(lambda self: self.says if self.runs_descs else self._runs_no_descs)

    def ask(self) -> None:
        """Ask the object once for all that it says of itself: one that raises cannot be used."""
        self.about  # noqa: B018 - it is read for what it may raise
        for member in _MEMBERS:
            getattr(self, member, None)

    @property
    def says(self) -> Callable[[OperatorDesc], str | None]:
        """The object's own `unsupported`, and one that returns None if it has none."""
        found: Callable[[OperatorDesc], str | None] = getattr(self.given, "unsupported", super().unsupported)
        return found

    @property
    def runs_descs(self) -> bool:
        """Whether the object has a method that runs a desc."""
        found = getattr(self.given, "run", None)
        return callable(found) and getattr(found, "__func__", None) is not Implementation.run

    def _runs_no_descs(self, desc: OperatorDesc) -> str:
        reason = self.says(desc)
        return f"{self.name} has no method run: it runs models, and no descs" if reason is None else reason

    def optimizing(self) -> Implementation:
        """Return the implementation that runs models with their nodes fused, itself if it has no other."""
        other = getattr(self.given, "optimizing", None)
        return self if other is None else adapted(other())

    def close(self) -> None:
        """End everything that the object has started, if it has a method for that; a failure is logged."""
        try:
            ending = getattr(self.given, "close", None)
            if ending is not None:
                ending()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the results are there, whatever the object raises
            import logging

            from dmlcheck.files.yaml_text import one_line

            told = f"dmlcheck: {self.name} raised {type(error).__name__} when it was closed: {one_line(text_of(error))}"
            logging.getLogger("dmlcheck").warning(told)  # on standard error, unless a program asks for something else

    def wrong_call(self, name: str) -> str | None:
        """Return that a method does not take what it is called with, or None; `name` is that of the object."""
        from inspect import signature

        for method, arguments in _CALLS.items():
            function = getattr(self.given, method, None)
            if not isinstance(function, MethodType):
                continue
            taken = signature(function)
            try:
                taken.bind(*arguments)
            except TypeError as error:
                call = f"{method}({', '.join(arguments)})"
                return f"{name} is called with {call}, and its method is {method}{taken}: {error}"
        return None


_MEMBERS = (
    "name",
    "is_directml",
    "deviates_as",
    "validates",
    "executes",
    "keeps_time",
    "may_crash",
    "ran_elsewhere",
    "errors",
    "run",
    "unsupported",
    "run_model",
    "optimized_model",
)
_CALLS = {"run": ("desc", "inputs"), "unsupported": ("desc",), "run_model": ("model", "inputs", "names")}


def adapted(given: Any) -> Implementation:
    """Return an implementation as it is, and any other object as one."""
    return given if isinstance(given, Implementation) else Adapted(given)


# ---- the reference engine


class Reference(Implementation):
    """The NumPy reference engine. It is imported when it first computes: a process that only reports needs none."""

    name = "reference"
    version = __version__
    is_directml = False

    @property
    def device(self) -> str:
        """The NumPy that computes: `NumPy 2.4.6`."""
        import numpy as np

        return f"NumPy {np.__version__}"

    def run(self, desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the outputs of a valid desc."""
        from dmlcheck.reference import engine

        return engine.run(desc, inputs)

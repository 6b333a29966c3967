"""The rows of the kernels' tables: a formula, and where its results may be cut into tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple

from dmlcheck.reference.neighbours import Reach
from dmlcheck.reference.places import Index, Places, slices, whole_along
from dmlcheck.reference.windows import Window
from dmlcheck.reference.work import Work

Given = Mapping[str, Any]  # what a formula gets, by parameter
Axes = tuple[int, ...]


class Elements(NamedTuple):
    """Each result is of the elements at its place: results may be cut anywhere.

    Tensors are broadcast to the sizes of the output.
    """


ELEMENTS = Elements()


def _axes(given: Given) -> Axes:
    return tuple(given["axes"])


class Groups(NamedTuple):
    """Each result is of the elements of a group of the first tensor along some axes: it may be cut along all others.

    `axes` gives these axes; a formula that has a parameter of that name gets them. A tile needs the same places of each
    tensor, and all of what a tensor has once for all. A formula gets a long group in blocks, unless `is_whole` says
    that it needs one as an array, which may take three times the tensors.
    """

    axes: Callable[[Given], Axes] = _axes
    is_whole: bool = False


EVERYTHING = Groups(lambda given: tuple(range(given["input"].ndim)))  # one group, of all elements


def shared_by(parameter: str) -> Groups:
    """Return groups of what shares an element of a tensor: along the axes on which that has size 1."""
    return Groups(lambda given: tuple(axis for axis, size in enumerate(given[parameter].shape) if size == 1))


def along(*axes: int) -> Groups:
    """Return groups along the same axes whatever the desc; -1 is the last one."""
    return Groups(lambda given: tuple(range(given["input"].ndim)[axis] for axis in axes))


Need = Callable[[Any, Places, Given], Any]


def _where(places: Places, _: Given) -> Index:
    return slices(places)


class Cut(NamedTuple):
    """The first output may be cut along some axes, and all of the same sizes along these; each tile has all others.

    `axes` gives these axes, by default all. `needs` has, by parameter, what a tile needs of a tensor, unless it is the
    same places: WHOLE, LINES, or a function of the tensor, the places of the tile, and what the formula gets; of None
    for a first parameter after the tensors that is none of the fields. A formula that has a parameter `places` gets
    those of the tile, a range for each dimension. A tile has at most `blocks` blocks of 65,536 elements: more than one
    where little is done for each. Of what takes several elements for each result, `depth` says how many; or how many
    at each place of the first axis, of which a tile then has one. The formula gets the tensors `as_is` as they are,
    whatever the others are computed in: indices, and elements that it picks.

    A formula may compute a part of the output, or lay its results out in another order of the axes: then `sizes` gives
    the sizes of these results, which are cut in their place, and `where` the index in the output of some places.
    """

    axes: Callable[[Given], Axes] | None = None
    needs: Mapping[str, Need] = {}
    blocks: int = 1
    depth: Callable[[Given], float | Sequence[float]] = lambda _: 1
    sizes: Callable[[Given], tuple[int, ...]] | None = None
    where: Callable[[Places, Given], Index] = _where
    as_is: tuple[str, ...] = ()


class Section(NamedTuple):
    """A part of an output, with a formula of its own, which takes what its tiles need and has no attributes."""

    formula: Callable[..., Any]
    tiles: Cut
    is_exact: bool = False


class SeparateOutputs(NamedTuple):
    """The formula gives the first output alone; each of the others, by parameter, is made of sections."""

    first: Cut
    others: Mapping[str, Sequence[Section]]


class EachOutput(NamedTuple):
    """Each output is cut by itself, as `cuts` says by parameter.

    For a tile of one the formula gets None for the others that it has parameters for, and returns a dict with that one.
    """

    cuts: Mapping[str, Cut]


def _no_axes(_: Given) -> Axes:
    return ()


class Products(NamedTuple):
    """Each result is of a row of the matrix `a` and a column of the matrix `b`: it may be cut along all axes.

    A formula gets them as a tile needs them, with blocks of long rows and columns, whose product is `dot`, and the same
    places of all other tensors. `views` gives, by parameter, how a tensor lies beside the products where it is not as
    the desc has it. The results are whole along the axes that `whole` gives. `sizes` gives what says how large the
    sums of a tile are (`tiling.piece.Sizes`), or None.
    """

    views: Mapping[str, Callable[[Any, Given], Any]] = {}
    whole: Callable[[Given], Axes] = _no_axes
    sizes: Callable[[Given], Callable[..., Any] | None] | None = None


class Windows(NamedTuple):
    """Each result is of what a window sees of the first tensor at its place: it may be cut along all axes.

    `window` gives the window over the last dimensions; a formula gets what it sees at the places of a tile, with `fill`
    beyond the edges, and how it sees that (`seen`, a View). `is_reduced` says that the formula only reduces what the
    window sees. One element for each channel, or for all, comes of each other tensor.
    """

    window: Callable[[Given], Window]
    fill: Callable[[Given], Any] = lambda _: 0
    is_reduced: Callable[[Given], bool] = lambda _: True


class PerWindow(NamedTuple):
    """What a formula gives for each place of a window over a tensor: a named tuple of arrays, of 0 where no place is.

    The formula gets what the window sees, with `fill` beyond the edges, and how it sees that (`seen`, a View).
    """

    formula: Callable[..., Any]
    window: Window
    fill: Any = 0


class InWindows(NamedTuple):
    """Each result is of the windows that its element is in: it may be cut along all axes.

    `window` gives the window. Tensors have an element for each of its places, or the row says in `first` what is made
    of a tensor for each of them first, for parts of its batches and channels. A formula gets what is at the places that
    a tile sees, and how its elements see them (`seen`, a View); one that has a parameter `places` gets those of the
    tile, a range for each dimension.
    """

    window: Window
    first: Mapping[str, PerWindow] = {}


class Correlations(NamedTuple):
    """Each result is a sum of products of `filter` and what it sees of `input`: it may be cut along all axes.

    `window` gives how the filter slides over the input, with `fill` beyond the edges; if `is_backward` says so, the
    input has the places of the window, and each result is of those that have it. `taps` gives the filter with {groups,
    output channels of a group, input channels of a group, ...} elements. A formula gets it as rows, one for each output
    channel, and what it sees as columns, one for each place, so that the sums are filter @ input; and of each other
    tensor one element, or one for each output channel. One that has parameters of these names gets the places of the
    tile (`places`), and for which results infinity or NaN in the filter meets no element of the input (`unmet`); `made`
    has, by parameter, what else is made of the desc for all tiles. `sizes` is as that of Products.
    """

    window: Callable[[Given], Window]
    taps: Callable[[Given], Any]
    fill: Callable[[Given], Any] = lambda _: 0
    is_backward: Callable[[Given], bool] = lambda _: False
    made: Mapping[str, Callable[[Given], Any]] = {}
    sizes: Callable[[Given], Callable[..., Any] | None] = lambda _: None


class Undefined(NamedTuple):
    """All results are undefined, whatever the tensors have: the formula is not asked."""


class Neighbours(NamedTuple):
    """Each result is of the region around its element along some axes: it may be cut along all axes.

    `of` gives these axes, and how far a region reaches before and after its element: a pair for each reading of the
    documentation, of which a result may follow any. A formula gets the region (`region`) and tensors with what is
    around the places of a tile, 0 beyond the edges. If it `is_twice`, they also have what is around that, as elements
    in whose regions a place is need it; a formula that has a parameter `inside` gets where there are such elements.
    """

    of: Callable[[Given], tuple[Axes, Sequence[Reach]]]
    is_twice: bool = False


class State(NamedTuple):
    """A state that steps carry, by the parameters of three tensors.

    The initial state is 0 where that tensor is left out; then it meets the numbers of its factor. The last state is an
    output.
    """

    initial: str
    factor: str
    last: str


class Direction(NamedTuple):
    """A direction of the steps along a sequence, with options that the formula has in it."""

    is_backward: bool
    options: Mapping[str, Any]


def _one_reading(_: Given) -> Sequence[Mapping[str, Any]]:
    return [{}]


class Recurrence(NamedTuple):
    """Each result is the state after a step of a sequence: the batch may be cut, and each direction is a tile.

    The formula is a step: it gets what the input has there and the `states`, as numbers of {batch, state}, and returns
    the states after it. It gets the weights of its direction as `gates` makes them of the tensors weight, recurrence,
    bias and peephole. `readings` gives options for each reading of the documentation, the reference's first: each is
    right for a whole sequence. The states after the end of a sequence are 0; unless it `is_padded` they may be the
    state that it had there.
    """

    gates: Callable[..., Any]
    states: Sequence[State]
    directions: Callable[[Given], Sequence[Direction]]
    readings: Callable[[Given], Sequence[Mapping[str, Any]]] = _one_reading
    is_padded: bool = False


def WHOLE(x: Any, places: Places, given: Given) -> Any:  # noqa: ARG001, N802 - a constant among functions
    """Return all of a tensor."""
    return x


def LINES(x: Any, places: Places, given: Given) -> Any:  # noqa: N802 - a constant among functions
    """Return the same places of a tensor along all axes but Axis, and all along that."""
    return x[whole_along(given["axis"], slices(places))]


Tiles = (
    Elements
    | Groups
    | Cut
    | SeparateOutputs
    | EachOutput
    | Products
    | Recurrence
    | Windows
    | Neighbours
    | InWindows
    | Correlations
    | Undefined
)
UNCUT = Cut(lambda _: ())  # one tile of everything


class Kernel(NamedTuple):
    """A row of a family's table: the formula of an operator, and how the engine runs it.

    The formula's parameters are named like the fields: `input` takes InputTensor, `axes` Axes, `output` the TensorDesc
    of OutputTensor; `input_type` and `output_type` the names of these tensors' data types. It takes arrays of a tile,
    and returns arrays, by parameter name where an operator has several outputs. `tiles` declares where the results may
    be cut, which may depend on what the formula gets. `integers` is the formula of integer tensors, if theirs is
    another. `is_exact` says that the formula rounds nothing, so that it gets elements as they are; it may depend on
    what the formula gets. `overflow` says which integer results are undefined where they do not fit the output's type:
    none (they wrap), those of "narrow" types (8 and 16 bits), or "all". `work` says how much there is to compute, where
    that may be much more than the tensors have elements.
    """

    function: Callable[..., Any]
    tiles: Tiles | Callable[[Given], Tiles]
    is_exact: bool | Callable[[Given], bool] = False
    integers: Callable[..., Any] | None = None
    overflow: str = ""
    work: Callable[[Given], Work] | None = None

    def rounds_nothing(self, given: Given) -> bool:
        """Whether the formula rounds nothing of what it gets."""
        return self.is_exact(given) if callable(self.is_exact) else self.is_exact


def elementwise(
    formula: Callable[..., Any], *, integers: Callable[..., Any] | None = None, overflow: str = ""
) -> Kernel:
    """Return the row of a formula over elements, which are float64, int64 or uint64."""
    return Kernel(formula, ELEMENTS, integers=integers, overflow=overflow)


def exact(formula: Callable[..., Any], *, integers: Callable[..., Any] | None = None, overflow: str = "") -> Kernel:
    """Return the row of a formula over elements that rounds nothing, so that it takes them in the tensor's own type.

    With `overflow` integers come in 64 bits, so that it can be seen which results do not fit.
    """
    return Kernel(formula, ELEMENTS, is_exact=True, integers=integers, overflow=overflow)


exact_row = partial(Kernel, is_exact=True)  # of a formula that rounds nothing

# A decorator: the formula has the parameters of another one, which it calls, and a text of its own.
same_parameters = partial(wraps, assigned=(), updated=())

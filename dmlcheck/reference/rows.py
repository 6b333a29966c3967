"""The rows of the kernels' tables: a formula, and how its results may be cut into tiles.

A row declares which axes of an output may be cut, and which part of each tensor a tile needs. `tiling` makes the tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple

from dmlcheck.reference.arrays.places import Index, Places, slices
from dmlcheck.reference.functions.neighbours import Reach
from dmlcheck.reference.functions.windows import Window
from dmlcheck.reference.limits.work import Work

Given = Mapping[str, Any]  # the tensors and attributes of a desc, by parameter
Axes = tuple[int, ...]


class Elements(NamedTuple):
    """Each result depends only on the elements at its own place: all axes may be cut.

    Tensors are broadcast to the sizes of the output.
    """


ELEMENTS = Elements()


def _axes(given: Given) -> Axes:
    return tuple(given["axes"])


class Groups(NamedTuple):
    """Each result depends on one group of elements of the first tensor, along some axes: all other axes may be cut.

    `axes` returns the axes of the groups; a formula with a parameter `axes` gets them. A tile gets the same places of
    each tensor, and all of an axis of size 1. Long groups come in blocks, unless `is_whole` says that the formula needs
    arrays; then memory may be three times that of the tensors.
    """

    axes: Callable[[Given], Axes] = _axes
    is_whole: bool = False


EVERYTHING = Groups(lambda given: tuple(range(given["input"].ndim)))  # one group of all elements


def shared_by(parameter: str) -> Groups:
    """Return groups along the axes on which a tensor has size 1: the elements that share an element of it."""
    return Groups(lambda given: tuple(axis for axis, size in enumerate(given[parameter].shape) if size == 1))


def along(*axes: int) -> Groups:
    """Return groups along fixed axes; -1 is the last one."""
    return Groups(lambda given: tuple(range(given["input"].ndim)[axis] for axis in axes))


Need = Callable[[Any, Places, Given], Any]


def _where(places: Places, _: Given) -> Index:
    return slices(places)


class Cut(NamedTuple):
    """Some axes of the first output may be cut; a tile has all of the others.

    Further outputs are cut along the same axes if their sizes there are the same; else each tile has all of them.

    - `axes` has or returns the axes that may be cut; by default all.
    - `needs` has, by parameter, the part of a tensor that a tile needs, by default the places of the tile: one of the
      functions of `needs`, which take the tensor, the places and the desc's values. For a parameter that is no tensor
      of the desc the function gets None, and makes its value.
    - `blocks` is the most blocks of 65,536 elements in a tile, by default 8 if the formula rounds nothing, else 1.
    - `depth` returns how many elements each result is computed from, so that tiles become smaller; or a number for each
      place along the first axis, and then a tile has one of these places.
    - `as_is` names the tensors that the formula gets in their own type, not as float64 or balls: indices, and elements
      that are picked.
    - `sizes` and `where` are for formulas that compute a part of the output, or in another order of the axes: the sizes
      of their results, which are cut instead, and the index in the output of some of their places.
    - `work` is how much there is to compute, where that is much more than the tensors have elements.

    A formula with a parameter `places` gets the places of the tile, a range for each dimension.
    """

    axes: Axes | Callable[[Given], Axes] | None = None
    needs: Mapping[str, Need] = {}
    blocks: int | None = None
    depth: Callable[[Given], float | Sequence[float]] = lambda _: 1
    sizes: Callable[[Given], tuple[int, ...]] | None = None
    where: Callable[[Places, Given], Index] = _where
    as_is: tuple[str, ...] = ()
    work: Work | None = None


class Section(NamedTuple):
    """A part of an output with a formula of its own, whose parameters are the `needs` of its tiles."""

    formula: Callable[..., Any]
    tiles: Cut
    is_exact: bool = False


class SeparateOutputs(NamedTuple):
    """The formula computes only the first output; the others, by parameter, consist of sections.

    Without tiles of the first output, it consists of sections too.
    """

    first: Cut | None
    others: Mapping[str, Sequence[Section]]


class EachOutput(NamedTuple):
    """Each output has tiles of its own, as `cuts` declares by parameter.

    For a tile of one output the formula gets None for the other outputs, and returns a dict with that one. `work` is as
    in Cut, for all outputs.
    """

    cuts: Mapping[str, Cut]
    work: Work | None = None


class Products(NamedTuple):
    """Each result depends on a row of the matrix `a` and a column of the matrix `b`: all axes may be cut.

    A formula gets the rows and columns of a tile, long ones in blocks, and multiplies them by `dot`; of all other
    tensors it gets the places of the tile. `views` has, by parameter, functions that arrange a tensor for the products:
    transposed, or with other dimensions. `whole` returns the axes that may not be cut. `magnitudes` returns the
    function that computes the magnitudes of the sums of a tile (`magnitudes.Magnitudes`), or None.
    """

    views: Mapping[str, Callable[[Any, Given], Any]] = {}
    whole: Callable[[Given], Axes] = lambda _: ()
    magnitudes: Callable[[Given], Callable[..., Any] | None] | None = None


class Windows(NamedTuple):
    """Each result depends on the elements of the first tensor in a window at its place: all axes may be cut.

    `window` returns the window over the last dimensions. A formula gets the elements that the windows of a tile cover,
    with `fill` beyond the edges, and the View of them (`seen`). `is_reduced` says that the formula only reduces the
    windows. Of each other tensor a tile gets one element for each channel, or one for all.
    """

    window: Callable[[Given], Window]
    fill: Callable[[Given], Any] = lambda _: 0
    is_reduced: Callable[[Given], bool] = lambda _: True


class PerWindow(NamedTuple):
    """Results of a formula for each place of a window over a tensor, as a named tuple of arrays.

    The formula gets the elements that the windows cover, with `fill` beyond the edges, and the View of them (`seen`).
    """

    formula: Callable[..., Any]
    window: Window
    fill: Any = 0


class InWindows(NamedTuple):
    """Each result depends on the windows that contain its element, as in gradients of pooling: all axes may be cut.

    Tensors have an element for each place of `window`; from other tensors `first` makes such arrays, for some batches
    and channels at a time. A formula gets the elements for all windows that contain an element of the tile, and the
    View of them (`seen`); one with a parameter `places` gets the places of the tile, a range for each dimension.
    `options` has further arguments of the formula, the same for all tiles.
    """

    window: Window
    first: Mapping[str, PerWindow] = {}
    options: Mapping[str, Any] = {}


class Correlations(NamedTuple):
    """Each result is a sum of products of `filter` and a window of `input`, as in convolutions: all axes may be cut.

    - `window` returns the window of the filter over the input, which has `fill` beyond its edges. If `is_backward`, the
      convolution is transposed: the input has an element for each place of the window.
    - `taps` returns the filter as {groups, output channels of a group, input channels of a group, ...}.
    - `edges` makes the parameter `edges` of the formula from the desc, the places of the tile, and a mask of the sums
      that leave out an infinity or NaN of the filter.
    - `magnitudes` returns the function that computes the magnitudes of the sums of a tile (`magnitudes.Magnitudes`), or
      None.

    A formula gets the filter as rows, one for each output channel, and the windows as columns, one for each place, so
    that the sums are filter @ input. Of each other tensor it gets one element for each output channel, or one for all.
    """

    window: Callable[[Given], Window]
    taps: Callable[[Given], Any]
    fill: Callable[[Given], Any] = lambda _: 0
    is_backward: Callable[[Given], bool] = lambda _: False
    edges: Callable[[Given, Places, Any], Any] | None = None
    magnitudes: Callable[[Given], Callable[..., Any] | None] = lambda _: None


class Neighbours(NamedTuple):
    """Each result depends on the region around its element along some axes: all axes may be cut.

    `of` returns these axes, and how far a region reaches before and after its element. A formula gets the Region
    (`region`), and tensors with the neighbours of a tile around it, 0 beyond the edges. If `is_twice`, the neighbours
    of these neighbours are there too, which gradients need; a formula with a parameter `inside` gets a mask of the
    elements that are not beyond the edges.
    """

    of: Callable[[Given], tuple[Axes, Reach]]
    is_twice: bool = False


class State(NamedTuple):
    """A state that goes from step to step, by the parameters of three tensors.

    `initial` has the first state, which is 0 if the tensor is left out; `factor` has the weights that multiply it;
    `last` is the output of the last state.
    """

    initial: str
    factor: str
    last: str


class Direction(NamedTuple):
    """A direction of the steps along a sequence, with the arguments of the formula in this direction."""

    is_backward: bool
    options: Mapping[str, Any]


class Recurrence(NamedTuple):
    """Each result is a state after a step of a sequence: the batch may be cut, and each direction has its own tiles.

    The formula computes one step: it gets the input of the step and the `states`, as {batch, state}, and returns the
    next states. It also gets the weights of its direction: `gates` makes them of the tensors weight, recurrence, bias
    and peephole, and a gate `without` one of its products is for a state that is left out. After the end of a sequence
    the states are 0. `is_measured` says whether only DirectML gives these results. Each thread takes up to 20
    bytes for each weight, beyond the tensors and 256 MiB.
    """

    gates: Callable[..., Any]
    states: Sequence[State]
    directions: Callable[[Given], Sequence[Direction]]
    is_measured: Callable[[Given], bool] = lambda _: False


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
)
UNCUT = Cut(())  # one tile


OVERFLOWS = ("", "narrow", "all")
PRODUCTS, VARIANCE = "products", "variance"
SUMS = ("", PRODUCTS, VARIANCE)

WHOLE_STEPS, CHOICES, REMAINDERS = "whole steps", "choices", "remainders"
JUMPS = ("", WHOLE_STEPS, CHOICES, REMAINDERS)

WINOGRAD = "winograd"  # an algorithm

PLACE, MARK = "place", "mark"
SEEKS = ("", PLACE, MARK)

TERMS, NORMS, RANKS, SHARES = "terms", "norms", "ranks", "shares"


class Spread(NamedTuple):
    """How far the errors of tensors move the results, where the formula itself is not run on numbers with errors.

    `by` has one of four ways. TERMS: the results move no more than the formula's for the errors in the place of
    the elements: it moves elements, takes the largest, or adds them up, so that the squares of independent errors add
    up. NORMS: the same for sums of other powers, in which the errors themselves add up. RANKS: elements are sorted.
    SHARES: results are the shares that powers have in their sum along some axes, or the logarithms of these. By
    parameter, `places` are tensors that say where elements are, whose errors nothing bounds, and `factors` multiply the
    elements of those that are `multiplied`. With `of_floats` it is so where all outputs are floats.
    """

    by: str = TERMS
    places: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    multiplied: tuple[str, ...] = ()
    of_floats: bool = False


class Kernel(NamedTuple):
    """A row of a family's table: the formula of an operator, and how the engine runs it.

    The formula's parameters are named like the fields: `input` takes InputTensor, `axes` Axes, `output` the TensorDesc
    of OutputTensor; `input_type` and `output_type` take the names of these tensors' data types. It takes arrays of a
    tile and returns arrays, as a dict by parameter if the operator has several outputs.

    - `tiles` declares how the results may be cut; it may be a function of the tensors and attributes.
    - `is_exact` says that the formula rounds nothing, so that it gets elements in their own type; it may be a function.
    - `integers` is the formula for integer tensors, if that is another.
    - `overflow` says which integer results are undefined where they do not fit the output's type: "" for none (they
      wrap), "narrow" for 8 and 16 bits, or "all".

    The others are facts about the formula that tolerances, drawn values and the search for faults depend on:

    - `sums` says that it has sums of PRODUCTS of two float tensors or of their results, or a VARIANCE; one that is
      computed in one pass is right, but its error is not a likely one.
    - `algorithms` are other ways of computing it that lose more: the values of `--algorithms`.
    - `spread` is for errors of tensors that the formula does not carry to its results.
    - `jumps` says how the results jump where operands have errors: in WHOLE_STEPS, by much more than the operands
      move; as CHOICES, from one operand to another; or as REMAINDERS, by a divisor, in all elements or in none.
    - `interpolates` says that it has weights of places, which an implementation computes once for all channels.
    - `seeks` says that it finds the largest or smallest of a group, and returns its PLACE or a MARK.
    """

    function: Callable[..., Any]
    tiles: Tiles | Callable[[Given], Tiles]
    is_exact: bool | Callable[[Given], bool] = False
    integers: Callable[..., Any] | None = None
    overflow: str = ""
    sums: str = ""
    algorithms: tuple[str, ...] = ()
    spread: Spread | None = None
    jumps: str = ""
    interpolates: bool = False
    seeks: str = ""

    def rounds_nothing(self, given: Given) -> bool:
        """Whether the formula rounds nothing for these tensors and attributes."""
        return self.is_exact(given) if callable(self.is_exact) else self.is_exact


# Of a formula over elements, which are float64, int64 or uint64.
elementwise = partial(Kernel, tiles=ELEMENTS)
# Of a formula over elements that rounds nothing, and takes them in the tensor's own type. With `overflow` integers come
# in 64 bits, which show the results that do not fit.
exact = partial(Kernel, tiles=ELEMENTS, is_exact=True)
exact_row = partial(Kernel, is_exact=True)  # of a formula that rounds nothing

# A decorator: the formula has the parameters of another one, which it calls, and a text of its own.
same_parameters = partial(wraps, assigned=(), updated=())

"""Types of arrays that name their dimensions: `Floats[Batch, Size]` has two.

A formula gets float64 arrays, balls or blocks of these dimensions. The types check nothing; they say what an axis is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NewType

if TYPE_CHECKING:
    from typing_extensions import TypeVarTuple, Unpack

    Dimensions = TypeVarTuple("Dimensions")

    class Floats(Any, Generic[Unpack[Dimensions]]):  # type: ignore[misc] # nothing is known of a ball
        """Float64 numbers or balls."""

    class Integers(Any, Generic[Unpack[Dimensions]]):  # type: ignore[misc]
        """Int64 or uint64 numbers."""

else:
    Floats = Integers = Any

One = NewType("One", int)  # size 1, which is broadcast
Batch = NewType("Batch", int)
Size = NewType("Size", int)  # the numbers of one element of a sequence

# ---- windows
Group = NewType("Group", int)  # channels that are convolved with each other
Channel = NewType("Channel", int)  # of OutputTensor, in a group for convolutions
Term = NewType("Term", int)  # an element of the window in an input channel of the group
Place = NewType("Place", int)  # of the window, in row-major order of the output's elements

# ---- recurrent networks
Hidden = NewType("Hidden", int)  # elements of a state

# ---- attention
Share = NewType("Share", int)  # query heads for one head of the keys
Query = NewType("Query", int)
Key = NewType("Key", int)

# ---- regions
Region = NewType("Region", int)
Corner = NewType("Corner", int)  # x1, y1, x2 and y2
Height = NewType("Height", int)
Width = NewType("Width", int)

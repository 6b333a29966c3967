"""How precisely an implementation must compute: the settings that its tolerances follow from."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.specs.records import Peer

FLOAT32 = "FLOAT32"
FACTORS = (FLOAT32, "TF32", "BFLOAT16")  # types to which FLOAT32 factors may be rounded, the finest first


class Precision(NamedTuple):
    """How precisely an implementation must compute.

    - `accumulate` is the type that it may accumulate in, and round the result of each operation to.
    - `factors` is the type that it may round the FLOAT32 factors of sums of products to.
    - `algorithms` are further algorithms that it may use: "winograd".
    - `is_directml`: it is DirectML, which keeps some intermediate results in FLOAT16, and cuts results off where
      Direct3D converts them to FLOAT16.
    - `peer` is another implementation; its functions may have the errors that the spec lists for it.
    """

    accumulate: str = FLOAT32
    factors: str = FLOAT32
    algorithms: tuple[str, ...] = ()
    is_directml: bool = False
    peer: Peer | None = None


IN_FLOAT32 = Precision()

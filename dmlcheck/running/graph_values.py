"""What the reference engine computes for a DirectML graph on disk, as `dmlcheck eval` prints it."""

from __future__ import annotations

import os
from functools import partial
from typing import NamedTuple

from dmlcheck.diagnostics.record import Diagnostic, collected
from dmlcheck.diagnostics.wording import cut
from dmlcheck.formats.dml_graph.evaluate import evaluate_graph
from dmlcheck.formats.dml_graph.given import load_given
from dmlcheck.formats.dml_graph.read import read_graph
from dmlcheck.running.evaluate import Evaluated


class GraphValues(NamedTuple):
    """The outputs of a graph, or what is wrong with it, and remarks; `is_wrong`: the file is no such graph."""

    evaluated: Evaluated
    remarks: tuple[str, ...] = ()
    is_wrong: bool = False


def graph_values(path: str, inputs: str | None) -> GraphValues:
    """Compute the outputs of a graph from the inputs in a file or a folder; None without."""
    file = path.replace(os.sep, "/")
    name = os.path.splitext(os.path.basename(file))[0]
    graph = read_graph(path)
    if isinstance(graph, Diagnostic):
        return GraphValues(Evaluated(name, diagnostics=(graph,)), is_wrong=True)
    results, findings = collected(evaluate_graph(graph, path, partial(load_given, inputs)))
    if findings:
        wrong = tuple(finding.diagnostic()._replace(file=file) for finding in findings)
        return GraphValues(
            Evaluated(name, diagnostics=wrong), is_wrong=any(one.rule == "graph-syntax" for one in wrong)
        )
    outputs = {cut(key, 1000): (found.values, found.tensor.data_type) for key, found in results.outputs.items()}
    masks = {cut(key, 1000): one.unspecified for key, one in results.outputs.items() if one.unspecified is not None}
    remarks = [
        f"elements of {cut(name, 100)!r} are undefined, and with them what is computed from it"
        for name in results.undefined
    ]
    lost = [cut(key, 100) for key in graph.outputs if key and key not in results.outputs]
    remarks += [f"{key!r} is not printed: it is a constant, and the file does not say of which type" for key in lost]
    return GraphValues(Evaluated(name, outputs, unspecified=masks), tuple(remarks))

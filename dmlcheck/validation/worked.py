"""Expressions of constraints with the numbers of a desc in place of names: `(224 + 3 + 3 - 7) // 2 + 1`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import AT_LEAST, AT_MOST, DIVIDES, ELEMENTS, EQUAL, ONE_OF, RANK
from dmlcheck.files.document import Path
from dmlcheck.validation.conditions import evaluate

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


class Scope:
    """A desc whose numbers expressions are read with; `i` is the number of a dimension or element."""

    def __init__(self, desc: OperatorDesc, i: int | None = None) -> None:
        self.desc = desc
        self.i = i

    def value(self, node: ast.expr) -> Any:
        """Return the value of a part of an expression, or None if it has none."""
        return None if isinstance(node, ast.Slice) else evaluate(ast.unparse(node), self.desc, self.i)

    def chosen(self, node: ast.expr) -> ast.expr:
        """Return the part that decides an expression: a `let`, a branch of a choice, an operand of min or max."""
        if isinstance(node, ast.Name) and node.id in self.desc.spec.let:
            return self.chosen(parsed(self.desc.spec.let[node.id]))
        if isinstance(node, ast.IfExp):
            return self.chosen(node.body if self.value(node.test) else node.orelse)
        if isinstance(node, ast.Call) and _called(node) in ("min", "max") and len(node.args) > 1:
            same = [part for part in node.args if self.value(part) == self.value(node)]
            return self.chosen(max(same, key=lambda part: len(ast.unparse(part)))) if same else node
        return node


def parsed(expression: str) -> ast.expr:
    """Return the tree of an expression."""
    return ast.parse(expression.strip(), mode="eval").body


def sum_text(expression: Any, desc: OperatorDesc, expected: Any, i: int | None = None, at: int | None = None) -> str:
    """Return the working of the expected number for a message: ` = 1 + 2`, or its origin, or "".

    `at` is the number's place in the list that the expression gives.
    """
    if not isinstance(expression, str):
        return ""
    scope, node = Scope(desc, i), parsed(expression)
    worked = _worked(node, scope) if at is None else _element(node, at, scope)
    if worked is None:
        return ""
    if isinstance(worked, ast.Constant):
        return f", as {worked.kind} is" if worked.kind and worked.value == expected else ""
    text = ast.unparse(worked)
    return f" = {text}{_factors(scope.chosen(node), desc)}" if evaluate(text, desc) == expected else ""


def _factors(node: ast.expr, desc: OperatorDesc) -> str:
    """Return the attributes among the operands of an expression, of which only the numbers are there otherwise."""
    operands = [part for one in ast.walk(node) if isinstance(one, ast.BinOp) for part in (one.left, one.right)]
    named = dict.fromkeys(part.id for part in operands if isinstance(part, ast.Name) and part.id in desc.spec.fields)
    return f", where {' and '.join(f'{name} is {desc.values[name]}' for name in named)}" if named else ""


def place_text(node: ast.expr, scope: Scope) -> str | None:
    """Return the name of a part of an expression: a field, or a size of a tensor (`the last size of QueryTensor`)."""
    if isinstance(node, ast.Name):
        return node.id
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "Sizes"):
        return None
    tensor, index, sizes = ast.unparse(node.value.value), scope.value(node.slice), scope.value(node.value)
    return None if index is None or sizes is None else f"{tensor}.Sizes[{index % len(sizes)}]"


def _called(node: ast.expr) -> str | None:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


# ---- sums


def _worked(node: ast.expr, scope: Scope) -> ast.expr | None:
    """Return a part of an expression with numbers in place of names, or None if it is no sum of numbers."""
    is_name = isinstance(node, ast.Name)
    node = scope.chosen(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        left, right = _worked(node.left, scope), _worked(node.right, scope)
        return None if left is None or right is None else ast.BinOp(left, node.op, right)
    if isinstance(node, ast.Subscript):
        index = scope.value(node.slice)
        found = _element(node.value, index, scope) if isinstance(index, int) else None
        if found is not None:
            return found
    if isinstance(node, ast.Call) and _called(node) == "prod":
        return _product(scope.value(node.args[0]))
    value = scope.value(node)
    if type(value) not in (int, float):
        return None
    is_named = is_name and not isinstance(node, ast.Name)
    return ast.Constant(value, kind=place_text(node, scope) if is_named else None)  # `kind` carries where it stands


def _product(factors: Sequence[int] | None) -> ast.expr | None:
    product: ast.expr | None = None
    for factor in factors or ():
        product = ast.Constant(factor) if product is None else ast.BinOp(product, ast.Mult(), ast.Constant(factor))
    return product


def _element(node: ast.expr, at: int, scope: Scope) -> ast.expr | None:
    """Return the sum of one of the numbers that a part of an expression gives."""
    node = scope.chosen(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        head = scope.value(node.left)
        if head is None:
            return None
        return _element(node.left, at, scope) if at < len(head) else _element(node.right, at - len(head), scope)
    if isinstance(node, ast.Tuple):
        return _element_of_tuple(node, at, scope)
    return _element_of_shape(node, at, scope) if isinstance(node, ast.Call) else None


def _element_of_tuple(node: ast.Tuple, at: int, scope: Scope) -> ast.expr | None:
    for part in node.elts:
        if not isinstance(part, ast.Starred):
            if at == 0:
                return _worked(part, scope)
            at -= 1
        else:
            several = scope.value(part.value)
            if several is None or at < len(several):
                return None
            at -= len(several)
    return None


def _element_of_shape(node: ast.Call, at: int, scope: Scope) -> ast.expr | None:
    """Return the sum of one of the sizes that a formula of sizes gives."""
    text, given = _SHAPES.get(_called(node) or ""), [scope.value(part) for part in node.args]
    if text is None or None in given:
        return None
    try:
        return parsed(text(at, *given))
    except IndexError:  # a dimension that is not there
        return None


def _span(window: int, dilation: int) -> str:
    return str(window) if dilation == 1 else f"(({window} - 1) * {dilation} + 1)"


def _pooled(
    k: int,
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    start: Sequence[int],
    end: Sequence[int],
    dilations: Sequence[int] | None = None,
) -> str:
    """Return the sum of a size that `shapes.pooled` gives."""
    size = sizes[len(sizes) - len(window) :][k]
    span = _span(window[k], dilations[k] if dilations else 1)
    return f"({size} + {start[k]} + {end[k]} - {span}) // {strides[k]} + 1"


def _pooled_like(k: int, _: Sequence[int], *given: Any) -> str:
    """Return the sum of a size that `shapes.pooled_like` gives if it is not rounded up."""
    return _pooled(k, *given)


def _transposed(
    k: int,
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    start: Sequence[int],
    end: Sequence[int],
    dilations: Sequence[int],
    output: Sequence[int],
) -> str:
    """Return the sum of a size that `shapes.transposed` gives."""
    size = sizes[len(sizes) - len(window) :][k]
    return f"({size} - 1) * {strides[k]} + {_span(window[k], dilations[k])} + {output[k]} - {start[k]} - {end[k]}"


_SHAPES: dict[str, Callable[..., str]] = {"pooled": _pooled, "pooled_like": _pooled_like, "transposed": _transposed}


# ---- limits


def limit_relation(expression: Any, desc: OperatorDesc, own: str, found: int, expected: int, i: int) -> str:
    """Return AT_MOST or AT_LEAST where an expression limits a size (`own`) and does not fix it, else EQUAL."""
    node = parsed(expression) if isinstance(expression, str) else ast.Constant(expression)
    while isinstance(node, ast.IfExp):
        node = node.body if Scope(desc, i).value(node.test) else node.orelse
    if _called(node) not in ("min", "max") or own not in ast.unparse(node):
        return EQUAL
    return AT_MOST if expected < found else AT_LEAST


def span_text(expression: Any, desc: OperatorDesc, window: int, i: int | None) -> str:
    """Return the width of a window and of the space for it, for an expression `(size - 1) // dilation + 1`.

    `window` is the number of its elements. "" for any other expression.
    """
    node, scope = parsed(expression) if isinstance(expression, str) else None, Scope(desc, i)
    match node:
        case ast.BinOp(ast.BinOp(ast.BinOp(size, ast.Sub(), _), ast.FloorDiv(), step), ast.Add(), _):
            worked, dilation = _worked(size, scope), scope.value(step)
        case _:
            return ""
    if worked is None or type(dilation) is not int or dilation == 1:
        return ""
    spans, padded = (window - 1) * dilation + 1, scope.value(size)
    field = ast.unparse(step).replace("[i]", f"[{i}]")
    size_text = f"the padded size is {padded} = {ast.unparse(worked)}"
    return f": with {field} = {dilation} the window spans {spans} elements, and {size_text}"


# ---- claims


class Broken(NamedTuple):
    """The requirement of a part of an expression: a relation and its limit, and both in words; "" without any."""

    relation: str
    limit: Any
    text: str


NOTHING_KNOWN = Broken("", None, "")


def broken_claims(expression: str, desc: OperatorDesc) -> Iterator[Broken]:
    """Yield the requirements, in numbers, of the parts of an expression that a desc breaks."""
    node, scope = parsed(expression), Scope(desc)
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]
    return (_broken(part, scope) for part in parts if scope.value(part) is False)


def _broken(node: ast.expr, scope: Scope) -> Broken:
    match node:
        case ast.Compare(ast.BinOp(whole, ast.Mod(), _), [ast.Eq()], [ast.Constant(0)]):
            whole = scope.chosen(whole)
            number = scope.value(whole)
            return Broken(DIVIDES, number, f"a divisor of {number}, {_size_in_words(whole, scope)}")
        case ast.Compare(_, [ast.GtE()], [least]):
            number = scope.value(least)
            return Broken(AT_LEAST, number, f"at least {number}")
        case ast.Compare(left, [ast.In()], [ast.Tuple(choices)]):
            return _one_of(left, [scope.value(choice) for choice in choices], scope)
        case ast.Compare(left, [ast.Eq()], [expected]):
            value = scope.value(expected)
            return Broken(EQUAL, value, str(value) if ast.unparse(left).endswith(".DataType") else "")
    return NOTHING_KNOWN


def _one_of(left: ast.expr, choices: list[Any], scope: Scope) -> Broken:
    """Return the words for a value, or its difference from a base, being one of some values."""
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Sub):
        base = scope.value(left.right)
        text = " or ".join(f"{base + more} = {base} + {more}" if more else str(base) for more in choices)
        return Broken(ONE_OF, tuple(base + more for more in choices), text)
    values = tuple(dict.fromkeys(choices))
    return Broken(ONE_OF, values, " or ".join(map(str, values)))


def _size_in_words(node: ast.expr, scope: Scope) -> str:
    """Return the name of a size: `the last size of QueryTensor`."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "-1":
        return f"the last size of {ast.unparse(node.value).removesuffix('.Sizes')}"
    return place_text(node, scope) or ast.unparse(node)


def claimed(expression: str, desc: OperatorDesc) -> tuple[str, Any, Path] | None:
    """Return the number that the first broken part of a claim is about: its name, the number, and the path to it."""
    node, scope = parsed(expression), Scope(desc)
    left = node.left if isinstance(node, ast.Compare) else None
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Sub):
        left = left.left
    match left:
        case ast.Subscript(ast.Attribute(tensor, "Sizes"), index):
            sizes, at = scope.value(left.value), scope.value(index)
            at, name = at % len(sizes), ast.unparse(tensor)
            return f"{name}.Sizes[{at}]", sizes[at], (name, "Sizes", at)
        case ast.Attribute(tensor, "DimensionCount"):
            name = ast.unparse(tensor)
            return f"the number of dimensions of {name}", scope.value(left), (name, RANK)
        case ast.Attribute(tensor, "element_count"):
            name = ast.unparse(tensor)
            return f"the number of elements of {name}", scope.value(left), (name, ELEMENTS)
    return None

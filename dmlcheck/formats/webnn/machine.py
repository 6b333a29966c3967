"""The data of a file of JavaScript: the values of its constants, after the loops and functions that make lists of them.

Only expressions on data are evaluated, in Python: there is no way from them to anything outside of the file. Each
expression that has no such value is `Unknown`, with the reason, and so is all that it may change. Work is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.formats.webnn import arithmetic, builtins
from dmlcheck.formats.webnn.literals import NotData, Wrong, fragment, named_so, number, shown, text_of_node
from dmlcheck.formats.webnn.values import (
    Block,
    Builtin,
    Fields,
    Function,
    Items,
    ScriptValue,
    Unknown,
    is_undefined,
    known,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_STEPS = 2**20  # expressions of a file, each as often as a loop has it
_MOST_DEPTH = 100  # expressions in expressions, including functions that are called
_DEPTH_OF_CALL = 5
_ITEMS_OF_A_STEP = 8
_PROBLEMS = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
_LEAVING = ("return_statement", "break_statement", "continue_statement", "throw_statement")
_FUNCTIONS = ("arrow_function", "function_expression", "function_declaration")
_NAMES = ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern")
_PATTERNS = ("array_pattern", "assignment_pattern", "object_assignment_pattern", "object_pattern", "pair_pattern",
             "parenthesized_expression", "rest_pattern")  # fmt: skip
# The part of a node that is assigned.
_ASSIGNED = {
    "assignment_expression": "left",
    "augmented_assignment_expression": "left",
    "for_in_statement": "left",
    "update_expression": "argument",
    "variable_declarator": "name",
}
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}


class TooManySteps(Exception):
    """A file has more to evaluate than a file of tests has."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"the file has more than {_MOST_STEPS:,} steps up to here")
        self.node = node


class _Leaving(Exception):
    """A statement that leaves a loop or a function."""

    def __init__(self, word: str, value: ScriptValue | None = None) -> None:
        super().__init__(word)
        self.word = word
        self.value = value


class _Place(NamedTuple):
    """The place of a call, for builtins."""

    machine: Machine
    node: Node

    def call(self, function: ScriptValue, given: Sequence[ScriptValue]) -> ScriptValue:
        """Return the result of a function of the file, or of a builtin; `Unknown` where it has none."""
        try:
            return self.machine.called(known(function), given, self.node)
        except (NotData, Wrong) as reason:
            return ScriptValue(self.node, Unknown(reason))

    def spend(self, work: int) -> None:
        """Count items that are copied: most of their expressions have been counted already."""
        self.machine.spend(self.node, work // _ITEMS_OF_A_STEP)


class Machine:
    """The evaluation of a file. `globals` are names that it has in addition to JavaScript's own.

    `on_failure` is called with each part of the file that is not evaluated, and the reason.
    """

    def __init__(
        self, root: Node, globals: Mapping[str, Any], on_failure: Callable[[Node, NotData | Wrong], None]
    ) -> None:
        names = builtins.globals_at(root) | {name: ScriptValue(root, value) for name, value in globals.items()}
        self.root = root
        self.globals = names
        self.scope = Block({}, Block(names), is_function=True)
        self._on_failure = on_failure
        self._steps = self._depth = 0
        self._parts: dict[int, list[Node]] = {}
        self._readers = self._expressions_by_type()
        self._runs = self._statements_by_type()

    def _expressions_by_type(self) -> Mapping[str, Callable[[Node, Block], Any]]:
        return {
            "array": self._array,
            "assignment_expression": self._assigned,
            "augmented_assignment_expression": self._assigned,
            "binary_expression": self._binary,
            "call_expression": self._call,
            "identifier": self._name,
            "member_expression": self._member,
            "new_expression": self._call,
            "object": self._object,
            "parenthesized_expression": self._inner,
            "shorthand_property_identifier": self._name,
            "string": self._text,
            "subscript_expression": self._member,
            "template_string": self._text,
            "ternary_expression": self._ternary,
            "unary_expression": self._unary,
            "update_expression": self._updated,
        }

    def _statements_by_type(self) -> Mapping[str, Callable[[Node, Block], None]]:
        return {
            "break_statement": self._leave,
            "continue_statement": self._leave,
            "expression_statement": self._expression,
            "for_in_statement": self._for_each,
            "for_statement": self._for,
            "if_statement": self._if,
            "lexical_declaration": self._declare,
            "return_statement": self._leave,
            "statement_block": self._block,
            "variable_declaration": self._declare,
        }

    def run(self) -> None:
        """Evaluate the statements of the file in order; TooManySteps where there are too many."""
        self._all(self.root, self.scope)

    def spend(self, node: Node, work: int = 1) -> None:
        """Count work; TooManySteps where it is too much."""
        self._steps += work
        if self._steps > _MOST_STEPS:
            raise TooManySteps(node)

    def parts(self, node: Node) -> list[Node]:
        """Return the parts of a node without its punctuation and its comments; NotData where a list leaves one out."""
        found = self._parts.get(node.id)
        if found is None:
            if node.type in ("array", "array_pattern") and _has_hole(node):
                raise NotData(node)
            found = self._parts[node.id] = [child for child in node.named_children if child.type != "comment"]
        return found

    # ---- expressions

    def value(self, node: Node, scope: Block) -> ScriptValue:
        """Return the value of an expression, `Unknown` where it has none."""
        try:
            return self.exact(node, scope)
        except (NotData, Wrong) as reason:
            return ScriptValue(node, Unknown(reason))

    def exact(self, node: Node, scope: Block) -> ScriptValue:
        """Return the value of an expression; NotData or Wrong where it has none."""
        kind = node.type
        if kind == "number":  # which most are
            return ScriptValue(node, number(node))
        if kind in _WORDS:
            return ScriptValue(node, _WORDS[kind])
        if kind in _FUNCTIONS:
            return ScriptValue(node, Function(node, scope))
        self.spend(node)
        reader = self._readers.get(kind)
        if reader is None or self._depth > _MOST_DEPTH:
            raise NotData(node)
        self._depth += 1
        try:
            made = reader(node, scope)
        except _PROBLEMS:
            raise NotData(node) from None
        finally:
            self._depth -= 1
        return made if isinstance(made, ScriptValue) else ScriptValue(node, made)

    def plain(self, node: Node | None, scope: Block) -> Any:
        """Return the contents of an expression's value; NotData or Wrong where they are not known."""
        if node is None:
            raise TypeError
        return known(self.exact(node, scope))

    def _name(self, node: Node, scope: Block) -> ScriptValue:
        name = text_of_node(node)
        names = scope.holding(name)
        if names is None:
            raise NotData(node, f"{named_so(name)} is no constant of the file")
        found = names[name]
        return ScriptValue(node, found.of) if names is self.globals else found

    def _inner(self, node: Node, scope: Block) -> ScriptValue:
        (inner,) = self.parts(node)
        return self.exact(inner, scope)

    def _text(self, node: Node, scope: Block) -> str:
        texts = []
        for part in node.named_children:
            if part.type == "template_substitution":
                texts.append(builtins.text_of(_Place(self, part), self.plain(self.parts(part)[0], scope)))
            else:
                texts.append(fragment(part))
        return builtins.short(_Place(self, node), "".join(texts))

    def _array(self, node: Node, scope: Block) -> Items:
        parts = self.parts(node)
        self.spend(node, len(parts) // _ITEMS_OF_A_STEP)
        return Items(self._spread(parts, scope))

    def _spread(self, parts: Sequence[Node], scope: Block) -> Iterator[ScriptValue]:
        """Yield the values of the parts of a list, or of arguments."""
        for part in parts:
            if part.type != "spread_element":
                yield self.value(part, scope)
                continue
            inner = self.plain(self.parts(part)[0], scope)
            if not isinstance(inner, Items):
                raise NotData(part)
            self.spend(part, len(inner) // _ITEMS_OF_A_STEP)
            yield from list(inner)

    def _object(self, node: Node, scope: Block) -> Fields:
        found = Fields()
        written = set()
        for part in self.parts(node):
            if part.type == "spread_element":
                inner = self.plain(self.parts(part)[0], scope)
                if not isinstance(inner, Fields):
                    raise NotData(part)
                self.spend(part, len(inner))
                found.update(inner)
                continue
            key, value = self._pair(part, scope)
            if key in written:
                raise Wrong(part, f"the key {named_so(key)} stands here twice")
            written.add(key)
            found[key] = value
        return found

    def _pair(self, part: Node, scope: Block) -> tuple[str, ScriptValue]:
        if part.type == "shorthand_property_identifier":
            return text_of_node(part), self.value(part, scope)
        key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
        if part.type != "pair" or key is None or value is None:
            raise NotData(part, f"{shown(part)} is no key with a value")
        return self._key(key, scope), self.value(value, scope)

    def _key(self, key: Node, scope: Block) -> str:
        if key.type == "computed_property_name":
            return arithmetic.as_text(self.plain(self.parts(key)[0], scope))
        return self._text(key, scope) if key.type == "string" else text_of_node(key)

    def _member(self, node: Node, scope: Block) -> Any:
        base = node.child_by_field_name("object")
        found = self.plain(base, scope)
        if found is None and node.child_by_field_name("optional_chain") is not None:
            return None
        return _member_of(found, self._index(node, scope))

    def _index(self, node: Node, scope: Block) -> Any:
        """Return the name of a member, or the place of an item."""
        name = node.child_by_field_name("property")
        return text_of_node(name) if name is not None else self.plain(node.child_by_field_name("index"), scope)

    def _unary(self, node: Node, scope: Block) -> Any:
        return arithmetic.unary(_sign(node), self.plain(node.child_by_field_name("argument"), scope))

    def _binary(self, node: Node, scope: Block) -> Any:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            raise TypeError
        sign, first = _sign(node), self.exact(left, scope)
        if sign in _SHORTCUTS:
            return first if _SHORTCUTS[sign](known(first)) else self.exact(right, scope)
        return self._computed(node, sign, known(first), self.plain(right, scope))

    def _computed(self, node: Node, sign: str, left: Any, right: Any) -> Any:
        if sign == "+" and isinstance(left, (str, Items)) and isinstance(right, (str, Items)):
            left, right = (builtins.text_of(_Place(self, node), each) for each in (left, right))
        made = arithmetic.binary(sign, left, right)
        return builtins.short(_Place(self, node), made) if isinstance(made, str) else made

    def _ternary(self, node: Node, scope: Block) -> ScriptValue:
        condition = arithmetic.truth(self.plain(node.child_by_field_name("condition"), scope))
        chosen = node.child_by_field_name("consequence" if condition else "alternative")
        if chosen is None:
            raise TypeError
        return self.exact(chosen, scope)

    # ---- calls

    def _call(self, node: Node, scope: Block) -> Any:
        callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        arguments = node.child_by_field_name("arguments")
        if callee is None:
            raise TypeError
        parts = [] if arguments is None else self.parts(arguments)
        function, receiver = self._function(callee, scope)
        if function is None:
            if receiver is None:
                self.spoil(node, scope, NotData(node))
            raise NotData(node)
        given = list(self._spread(parts, scope))
        try:
            return self.called(function, given, node)
        except (NotData, Wrong, *_PROBLEMS):
            if text_of_node(callee.named_children[-1] if callee.named_children else callee) in builtins.CHANGING:
                self.spoil(node, scope, NotData(node))
            raise

    def _function(self, callee: Node, scope: Block) -> tuple[Function | Builtin | None, Any]:
        """Return the function that is called, or None; and the list or text of a method that leaves it as it is."""
        if callee.type not in ("member_expression", "subscript_expression"):
            found = self.value(callee, scope).of
            return (found if isinstance(found, (Function, Builtin)) else None), None
        base = callee.child_by_field_name("object")
        try:
            receiver = self.plain(base, scope)
            name = self._index(callee, scope)
        except (NotData, Wrong):
            return None, None
        method = builtins.METHODS.get(type(receiver), {}).get(name)
        if method is not None:
            return Builtin(lambda site, *given: method(site, receiver, *given)), receiver
        found = receiver.get(name) if isinstance(receiver, Fields) else None
        if isinstance(receiver, Builtin):
            found = ScriptValue(callee, receiver.members.get(name))
        if isinstance(found, ScriptValue) and isinstance(found.of, (Function, Builtin)):
            return found.of, None
        return None, receiver if isinstance(receiver, (Items, str)) and name not in builtins.CHANGING else None

    def called(self, function: Any, given: Sequence[ScriptValue], node: Node) -> ScriptValue:
        """Return the result of a function with arguments, called at a node."""
        if isinstance(function, Builtin):
            made = function.call(_Place(self, node), *given)
            return made if isinstance(made, ScriptValue) else ScriptValue(node, made)
        body = function.node.child_by_field_name("body") if isinstance(function, Function) else None
        if body is None or any(child.type in ("async", "*") for child in function.node.children):
            raise NotData(node)
        if self._depth > _MOST_DEPTH:
            raise NotData(node)
        self._depth += _DEPTH_OF_CALL
        try:
            return self._result(function, body, given, node)
        finally:
            self._depth -= _DEPTH_OF_CALL

    def _result(self, function: Function, body: Node, given: Sequence[ScriptValue], node: Node) -> ScriptValue:
        scope = Block({}, function.scope, is_function=True)
        self._parameters(function.node, given, scope)
        if body.type != "statement_block":
            return self.value(body, scope)
        try:
            self._all(body, scope)
        except _Leaving as left:
            return left.value or ScriptValue(node, None)
        except (NotData, Wrong) as reason:
            self.spoil(body, scope, reason)
            raise
        return ScriptValue(node, None)

    def _parameters(self, function: Node, given: Sequence[ScriptValue], scope: Block) -> None:
        one = function.child_by_field_name("parameter")
        several = function.child_by_field_name("parameters")
        patterns = [one] if one is not None else [] if several is None else self.parts(several)
        for place, pattern in enumerate(patterns):
            if pattern.type == "rest_pattern":
                self._bind(self.parts(pattern)[0], ScriptValue(pattern, Items(given[place:])), scope)
            else:
                self._bind(pattern, given[place] if place < len(given) else ScriptValue(pattern, None), scope)

    def _bind(self, pattern: Node, value: ScriptValue, scope: Block) -> None:
        """Give the names of a pattern their values; `Unknown` where it does not fit them."""
        try:
            self._bind_parts(pattern, value, scope)
        except (NotData, Wrong) as reason:
            for name in walk(pattern, ("identifier", "shorthand_property_identifier_pattern")):
                scope.names[text_of_node(name)] = ScriptValue(pattern, Unknown(reason))

    def _bind_parts(self, pattern: Node, value: ScriptValue, scope: Block) -> None:
        kind = pattern.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            scope.names[text_of_node(pattern)] = value
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            left, right = pattern.child_by_field_name("left"), pattern.child_by_field_name("right")
            if left is None or right is None:
                raise NotData(pattern)
            self._bind(left, self.value(right, scope) if is_undefined(value) else value, scope)
        elif kind == "array_pattern":
            parts, inner = self.parts(pattern), known(value)
            if not isinstance(inner, Items):
                raise NotData(pattern)
            for place, part in enumerate(parts):
                self._bind(part, inner[place] if place < len(inner) else ScriptValue(part, None), scope)
        elif kind == "object_pattern":
            for part in self.parts(pattern):
                self._bind_part(part, value, scope)
        else:
            raise NotData(pattern)

    def _bind_part(self, part: Node, value: ScriptValue, scope: Block) -> None:
        key, inner = part.child_by_field_name("key"), part.child_by_field_name("value")
        name = part if part.type != "object_assignment_pattern" else part.child_by_field_name("left")
        found = known(value)
        if not isinstance(found, Fields) or name is None or part.type == "rest_pattern":
            raise NotData(part)
        label = text_of_node(name) if key is None else self._key(key, scope)
        self._bind(part if inner is None else inner, found.get(label, ScriptValue(part, None)), scope)

    # ---- statements

    def _all(self, node: Node, scope: Block) -> None:
        """Run the statements of a block or a file."""
        for statement in self.parts(node):
            if statement.type == "function_declaration":
                name = statement.child_by_field_name("name")
                if name is not None:
                    scope.names[text_of_node(name)] = ScriptValue(statement, Function(statement, scope))
        for statement in self.parts(node):
            self._statement(statement, scope)

    def _statement(self, node: Node, scope: Block) -> None:
        """Run a statement; all that it may change is not known where it cannot be run."""
        if node.type in ("function_declaration", "empty_statement"):
            return
        self.spend(node)
        try:
            self._run(node, scope)
        except (NotData, Wrong) as reason:
            self.spoil(node, scope, reason)
            if scope is not self.scope and any(True for _ in walk(node, _LEAVING)):
                raise
            self._on_failure(node, reason)

    def _run(self, node: Node, scope: Block) -> None:
        run = self._runs.get(node.type)
        if run is None or self._depth > _MOST_DEPTH:
            raise NotData(node)
        self._depth += 1
        try:
            run(node, scope)
        except _PROBLEMS:
            raise NotData(node) from None
        finally:
            self._depth -= 1

    def _block(self, node: Node, scope: Block) -> None:
        self._all(node, Block({}, scope))

    def _expression(self, node: Node, scope: Block) -> None:
        (inner,) = self.parts(node)
        if inner.type != "string":  # 'use strict'
            known(self.exact(inner, scope))

    def _declare(self, node: Node, scope: Block) -> None:
        is_var = node.type == "variable_declaration"
        home = scope.of_function() if is_var else scope
        for one in self.parts(node):
            name, value = one.child_by_field_name("name"), one.child_by_field_name("value")
            if name is None:
                raise NotData(one)
            if value is None and is_var and text_of_node(name) in home.names:
                continue  # it is declared once more
            made = ScriptValue(one, None) if value is None else self.value(value, scope)
            self._bind(name, made, home)

    def _if(self, node: Node, scope: Block) -> None:
        condition = arithmetic.truth(self.plain(node.child_by_field_name("condition"), scope))
        chosen = node.child_by_field_name("consequence" if condition else "alternative")
        if chosen is not None and chosen.type == "else_clause":
            (chosen,) = self.parts(chosen)
        if chosen is not None:
            self._statement(chosen, scope)

    def _for_each(self, node: Node, scope: Block) -> None:
        word, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
        body = node.child_by_field_name("body")
        inner = self.plain(node.child_by_field_name("right"), scope)
        kind = node.child_by_field_name("kind")
        if left is None or body is None or word is None or kind is None:
            raise NotData(node)
        if not isinstance(inner, Items if word.type == "of" else Fields):
            raise NotData(node)
        for part in list(inner):
            turn = Block({}, scope)
            home = turn.of_function() if kind.type == "var" else turn
            self._bind(left, part if isinstance(part, ScriptValue) else ScriptValue(left, part), home)
            if not self._turn(body, turn):
                break

    def _for(self, node: Node, scope: Block) -> None:
        first, body = node.child_by_field_name("initializer"), node.child_by_field_name("body")
        condition, increment = node.child_by_field_name("condition"), node.child_by_field_name("increment")
        if first is None or body is None or condition is None:
            raise NotData(node)
        inner = Block({}, scope)
        self._declare(first, inner)
        while arithmetic.truth(self.plain(condition, inner)):
            if not self._turn(body, Block({}, inner)):
                break
            if increment is not None:
                self.exact(increment, inner)

    def _turn(self, body: Node, scope: Block) -> bool:
        """Run the body of a loop once, and return whether the loop goes on."""
        try:
            self._statement(body, scope)
        except _Leaving as left:
            if left.word == "return_statement":
                raise
            return left.word != "break_statement"
        return True

    def _leave(self, node: Node, scope: Block) -> None:
        parts = self.parts(node)
        if node.type != "return_statement" and parts:
            raise NotData(node)  # to a label
        raise _Leaving(node.type, self.value(parts[0], scope) if parts else None)

    # ---- changes

    def _assigned(self, node: Node, scope: Block) -> ScriptValue:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            raise NotData(node)
        if node.type == "assignment_expression":
            value = self.value(right, scope)
        else:
            sign = _sign(node).removesuffix("=")
            value = ScriptValue(node, self._computed(node, sign, self.plain(left, scope), self.plain(right, scope)))
        self._set(left, value, scope)
        return value

    def _updated(self, node: Node, scope: Block) -> ScriptValue:
        target = node.child_by_field_name("argument")
        if target is None:
            raise NotData(node)
        before = self.plain(target, scope)
        after = ScriptValue(node, arithmetic.binary(_sign(node)[0], before, 1))
        self._set(target, after, scope)
        is_first = node.children[0].type in ("++", "--")
        return after if is_first else ScriptValue(node, before)

    def _set(self, target: Node, value: ScriptValue, scope: Block) -> None:
        """Give a name, a member or an item another value."""
        if target.type == "identifier":
            names = scope.holding(text_of_node(target))
            if names is None:
                raise NotData(target)
            names[text_of_node(target)] = value
            return
        if target.type not in ("member_expression", "subscript_expression"):
            raise NotData(target)
        base, index = self.plain(target.child_by_field_name("object"), scope), self._index(target, scope)
        if isinstance(base, Fields) and isinstance(index, (str, int)) and not isinstance(index, bool):
            base[str(index)] = value
        elif isinstance(base, Items) and type(index) is int and 0 <= index <= len(base):
            base[index : index + 1] = [value]
        else:
            raise NotData(target)

    def spoil(self, node: Node, scope: Block, reason: NotData | Wrong) -> None:
        """Mark all that a part of the file may change, as it is not evaluated: all that it names, and its parts.

        It may call each function that it names, which changes what this names.
        """
        unknown = ScriptValue(node, Unknown(reason))
        waiting = [Function(node, scope)]
        seen = set()
        while waiting:
            part, around = waiting.pop()
            for found in walk(part, _NAMES):
                self.spend(node)
                for function in self._functions_in_spoiled(found, around, unknown):
                    key = (function.node.id, id(function.scope))
                    if key not in seen:
                        seen.add(key)
                        waiting.append(function)

    def _functions_in_spoiled(self, found: Node, scope: Block, unknown: ScriptValue) -> list[Function]:
        """Mark everything that a name may change, and return the functions that it has."""
        name = text_of_node(found)
        names = scope.holding(name)
        if names is None:
            return []
        value = names[name].of
        if isinstance(value, Items) and _is_pushed(found):
            value.append(unknown)
            return []
        functions = [value] if isinstance(value, Function) else self._mark(value, unknown.of.reason)
        if _is_assigned(found) and not isinstance(value, (Items, Fields)):
            names[name] = unknown
        return functions

    def _mark(self, value: Any, reason: NotData | Wrong) -> list[Function]:
        """Mark a list or an object with its parts, and return the functions among these."""
        functions = []
        waiting: list[Any] = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Function):
                functions.append(one)
            elif isinstance(one, (Items, Fields)) and one.spoiled is None:
                one.spoiled = reason
                self.spend(self.root, len(one))
                waiting.extend(part.of for part in (one if isinstance(one, Items) else one.values()))
        return functions


def _member_of(base: Any, index: Any) -> Any:
    """Return a member of an object, an item of a list, or undefined; TypeError for anything else."""
    if isinstance(base, Builtin):
        return base.members[index]
    if isinstance(base, Fields):
        return base.get(arithmetic.as_text(index))
    if isinstance(base, (Items, str)):
        if index == "length":
            return len(base)
        if isinstance(index, int):
            return base[index] if 0 <= index < len(base) else None
    raise TypeError


def _is_pushed(node: Node) -> bool:
    """Whether a name is used only in front of `.push(`."""
    member, call = node.parent, None if node.parent is None else node.parent.parent
    if member is None or call is None or member.type != "member_expression" or call.type != "call_expression":
        return False
    name = member.child_by_field_name("property")
    return name is not None and name.text == b"push" and call.child_by_field_name("function") == member


def _is_assigned(node: Node) -> bool:
    """Whether a name that is there already gets a value where it stands, by itself or in a pattern."""
    part, parent = node, node.parent
    while parent is not None and parent.type in _PATTERNS:
        part, parent = parent, parent.parent
    field = None if parent is None else _ASSIGNED.get(parent.type)
    if parent is None or field is None or parent.child_by_field_name(field) != part:
        return False
    kind = parent.child_by_field_name("kind")
    is_var = parent.parent is not None and parent.parent.type == "variable_declaration"
    return is_var if parent.type == "variable_declarator" else kind is None or kind.type == "var"


def _has_hole(node: Node) -> bool:
    """Whether a list leaves out an item before a comma."""
    marks = [child.type for child in node.children if child.type != "comment"]
    return any(after == "," and before in ("[", ",") for before, after in pairwise(marks))


def _sign(node: Node) -> str:
    sign = node.child_by_field_name("operator")
    return "" if sign is None else sign.type


def walk(root: Node, types: Sequence[str]) -> Iterator[Node]:
    """Yield the nodes of some types in order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in types:
            yield node
        waiting.extend(reversed(node.named_children))


_SHORTCUTS: Mapping[str, Callable[[Any], bool]] = {
    "&&": lambda value: not arithmetic.truth(value),
    "||": arithmetic.truth,
    "??": lambda value: value is not None,
}

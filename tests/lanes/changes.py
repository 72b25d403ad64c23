"""The changes that scripts/mutate makes, one at a time, in the syntax tree of a file."""

import ast
import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

SWAPPED_OPERATORS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NOT_BEHAVIOUR = ("annotation", "returns", "decorator_list", "type_params", "bases")


class Change(NamedTuple):
    """One node of a syntax tree, and what replaces it."""

    parent: ast.AST
    field: str
    index: int | None  # in the list of the field
    node: ast.AST
    replacement: ast.AST | None  # None removes a keyword argument
    statement: ast.stmt  # the innermost that holds the node
    is_in_function: bool

    @property
    def line(self) -> int:
        return self.node.lineno  # type: ignore[attr-defined]

    def apply(self) -> None:
        if self.index is None:
            setattr(self.parent, self.field, self.replacement)
        elif self.replacement is None:
            del getattr(self.parent, self.field)[self.index]
        else:
            getattr(self.parent, self.field)[self.index] = self.replacement

    @property
    def is_removed_call(self) -> bool:
        return isinstance(self.node, ast.Expr) and isinstance(self.replacement, ast.Pass)

    def describe(self) -> str:
        if isinstance(self.node, ast.FunctionDef):
            return f"{self.node.name}(...) -> return at once"
        after = "(removed)" if self.replacement is None else ast.unparse(self.replacement)
        return f"{ast.unparse(self.node)} -> {after}"


def find_changes(tree: ast.Module) -> list[Change]:
    """Return all changes of a file; annotations, docstrings and the texts of messages are no behaviour."""
    result: list[Change] = []
    waiting: list[tuple[ast.AST, ast.stmt | None, bool]] = [(tree, None, False)]
    while waiting:
        node, statement, is_in_function = waiting.pop()
        for field, index, child in _children(node):
            innermost = child if isinstance(child, ast.stmt) else statement
            assert innermost is not None or not hasattr(child, "lineno")
            is_inside = is_in_function or (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and field == "body")
            if _is_no_behaviour(node, field, child, is_inside):
                continue
            result += [
                Change(node, field, index, child, new, innermost, is_inside)  # type: ignore[arg-type]
                for new in _replacements(node, field, child)
            ]
            waiting.append((child, innermost, is_inside))
    return result


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield field, None, value
        elif isinstance(value, list):
            yield from ((field, i, child) for i, child in enumerate(value) if isinstance(child, ast.AST))


def _is_no_behaviour(node: ast.AST, field: str, child: ast.AST, is_in_function: bool) -> bool:
    is_type_checking = isinstance(child, ast.If) and ast.unparse(child.test) in (
        "TYPE_CHECKING",
        "__name__ == '__main__'",
    )
    is_field = isinstance(child, ast.AnnAssign) and isinstance(node, ast.ClassDef)
    is_type_alias = not is_in_function and isinstance(node, ast.Module) and isinstance(child, ast.Assign) and (
        isinstance(child.value, ast.BinOp) and isinstance(child.value.op, ast.BitOr)
    )  # fmt: skip
    # `zip(strict=True)` is an assertion; `__test__` and `__all__` are read by pytest and linters.
    is_assertion = isinstance(child, ast.keyword) and child.arg == "strict" and _is_call_of(node, "zip")
    is_read_by_tools = isinstance(child, ast.Assign) and ast.unparse(child.targets[0]).endswith(("__test__", "__all__"))
    is_declaration = is_type_checking or is_field or is_type_alias or is_assertion or is_read_by_tools
    return field in NOT_BEHAVIOUR or isinstance(child, ast.JoinedStr) or is_declaration


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _replacements(parent: ast.AST, field: str, node: ast.AST) -> Iterator[ast.AST | None]:
    """Yield the nodes that may replace a node."""
    yield from _other_operators(node)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield ast.Constant(node.value + 1)  # type: ignore[operator]
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield from (_without(node, i) for i in range(len(node.values)))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.FunctionDef) and _returns_nothing(node):
        yield _with(node, body=[ast.Return()])
    elif isinstance(node, ast.keyword) and node.arg is not None and isinstance(parent, ast.Call):
        yield None
    if field == "test" and isinstance(parent, ast.If | ast.IfExp):
        yield from (ast.Constant(True), ast.Constant(False))
    elif field == "test" and isinstance(parent, ast.While):
        yield ast.Constant(False)
    elif field == "ifs":
        yield ast.Constant(True)


def _other_operators(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            yield _with(node, ops=[*node.ops[:i], SWAPPED_OPERATORS[type(operator)](), *node.ops[i + 1 :]])
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPPED_OPERATORS:
        yield _with(node, op=SWAPPED_OPERATORS[type(node.op)]())


def _with(node: ast.AST, **fields: Any) -> Any:
    result = copy.copy(node)
    for name, value in fields.items():
        setattr(result, name, value)
    return result


def _without(node: ast.BoolOp, i: int) -> ast.AST:
    others = [*node.values[:i], *node.values[i + 1 :]]
    return others[0] if len(others) == 1 else _with(node, values=others)


def _returns_nothing(function: ast.FunctionDef) -> bool:
    has_body = any(not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in function.body)
    return has_body and not any(
        isinstance(node, ast.Yield | ast.YieldFrom) or (isinstance(node, ast.Return) and node.value is not None)
        for node in ast.walk(function)
    )

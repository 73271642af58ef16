"""GProb: typed expressions and statements of a first-order generative language.

The language of the paper (section 4): let, sample, observe, factor, for, while, if, return. Statements assign to
variables instead of binding them anew; targets make the state of a loop explicit where their backend asks for it.
All nodes are frozen and carry the span of the Stan text they come from. Names are unique within a function, so that
a pass may move statements without capturing; indices stay 1-based, as in Stan, until a target emits them.
"""
from __future__ import annotations

from .declarations import Constraint, Distribution, Fitted, Sized, Unset
from .expressions import (
    ALL,
    Apply,
    Bound,
    CallUser,
    Cond,
    Const,
    Converted,
    Copied,
    Decided,
    Expr,
    FunctionValue,
    Index,
    IndexExpr,
    Item,
    Limit,
    Logical,
    MakeArray,
    MakeRow,
    MakeTuple,
    Multi,
    Padded,
    Predictor,
    Promote,
    Range,
    Single,
    TargetValue,
    Unbroken,
    Var,
    Widest,
    int_const,
    is_density,
)  # fmt: skip
from .programs import External, FunDef, Network, Parameter, Program, Variable
from .statements import (
    Accumulate,
    Assign,
    Bind,
    Break,
    Check,
    Continue,
    Cumulate,
    Declare,
    Deterministic,
    Factor,
    For,
    ForEach,
    If,
    Last,
    Loop,
    Message,
    Observe,
    Param,
    Place,
    Recur,
    Return,
    Run,
    Sample,
    Step,
    Stmt,
    Unpack,
    While,
    Window,
)  # fmt: skip

__all__ = [
    "ALL", "Accumulate", "Apply", "Assign", "Bind", "Bound", "Break", "CallUser", "Check", "Cond", "Const",
    "Constraint", "Continue", "Converted", "Copied", "Cumulate", "Decided", "Declare", "Deterministic", "Distribution",
    "Expr", "External", "Factor", "Fitted", "For", "ForEach", "FunDef", "FunctionValue", "If", "Index", "IndexExpr",
    "Item", "Last", "Limit", "Logical", "Loop", "MakeArray", "MakeRow", "MakeTuple", "Message", "Multi", "Network",
    "Observe", "Padded", "Param", "Parameter", "Place", "Predictor", "Program", "Promote", "Range", "Recur", "Return",
    "Run", "Sample", "Single", "Sized", "Step", "Stmt", "TargetValue", "Unpack", "Unset", "Var", "Variable", "While",
    "Unbroken", "Widest", "Window", "int_const", "is_density",
]  # fmt: skip

"""Docstrings and signatures with all options of a command."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def documents(help: Mapping[str, str], types: type) -> Callable[[F], F]:
    """Put options into the docstring of a function, for ``**OPTIONS**``, and into its signature.

    Parameters
    ----------
    help : mapping of str to str
        What each option does.
    types : type
        A TypedDict with their types.
    """

    def decorate(function: F) -> F:
        kinds = {name: getattr(kind, "__forward_arg__", str(kind)) for name, kind in types.__annotations__.items()}
        entries = [f"{name} : {_kind(kinds[name])}, optional\n" + _wrapped(text) for name, text in help.items()]
        if function.__doc__ is not None:  # python -OO has none
            function.__doc__ = function.__doc__.replace("**OPTIONS**", textwrap.indent("\n".join(entries), "    ").lstrip())
        plain = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
        options = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for n, kind in kinds.items()]
        function.__signature__ = inspect.Signature([*plain, *options])  # type: ignore[attr-defined]
        return function

    return decorate


def _kind(kind: str) -> str:
    """A type as numpydoc writes it."""
    if kind.startswith("Literal["):
        return "{" + kind[len("Literal[") : -1] + "}"
    names = {"Names": "str or list of str", "Path": "path", "Paths": "path or list of path", "Shares": "str, dict or list of float"}
    return names.get(kind, kind.removeprefix("Union[").removesuffix("]").replace(", ", " or "))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 88, initial_indent="    ", subsequent_indent="    ", break_long_words=False)

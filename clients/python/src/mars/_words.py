"""What the program says in Python's words: flags as keywords, commands as functions."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import Any

from mars._options import AskOptions, CheckOptions, LabelOptions, PredictOptions, ProportionsOptions

# Types of the keywords, by their names: the parameters, and what the options of any function have.
_KINDS: dict[str, str] = {"source": "table", "target": "table", "reference": "table", "prediction": "str", "probability": "str", "model": "Path", "labels": "Path", "label": "str", "for_class": "str"}
for _options in (CheckOptions, PredictOptions, ProportionsOptions, AskOptions, LabelOptions):  # the last has the most methods
    for _name, _kind in _options.__annotations__.items():
        _KINDS[_name] = getattr(_kind, "__forward_arg__", str(_kind))

_FUNCTIONS = "label|predict|proportions|ask|check"
_NAME = r"--(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)"
# A flag, and what may be its value: a word, or what is in quotes.
_FLAG = re.compile(_NAME + r"(?:(?P<by>[= ]|: (?=\"))(?P<value>'[^']*'|\"[^\"]*\"|[^\s;()]*[^\s;():,.]|,))?")
_COMMAND = re.compile(rf"(?<![\w./-])mars (?P<function>{_FUNCTIONS})(?![\w.-])(?!:)")
_OUTPUT = re.compile(r"\s+-o\s+\S+")


# What `--details` prints is an attribute of the answer here.
_DETAILS = {"--details and --json list all": "the attribute table has all", "--details shows what the estimate rests on": "The attribute estimators has what each assumption gives", "(--details)": "(the attribute estimators)"}


def spoken(text: str) -> str:
    """Turn a message of the program into what a caller of this package knows.

    Parameters
    ----------
    text : str
        What the program says, of one or more lines.

    Returns
    -------
    str
        The same with keywords for flags, functions for commands, and without pages of the
        documentation that are not installed.

    Examples
    --------
    >>> from mars._words import spoken
    >>> spoken("row 3: the value is missing: leave the column out with --exclude, or give --missing impute")
    'row 3: the value is missing: leave the column out with exclude=, or give missing="impute"'
    >>> spoken("mars label --unknown 0.01 marks such rows")
    'mars.label(unknown=0.01) marks such rows'
    """
    lines = [line for line in text.split("\n") if not line.startswith("Run 'mars ")]
    text = re.sub(rf"\Amars[ -](?:{_FUNCTIONS}): ", "", "\n".join(lines))
    text = re.sub(r"\S*mars-\w{8}[/\\](labels|predictions|reference)\.arrow", r"\1", text)  # a table on its way to the program
    text = re.sub(r"\s*\(docs/[\w./-]+\)", "", text)
    for printed, attribute in _DETAILS.items():
        text = text.replace(printed, attribute)
    return "".join(_keywords(part) for part in _calls(text))


def _calls(text: str) -> Iterator[str]:
    """The text in parts, with a call for each command."""
    at = 0
    for command in _COMMAND.finditer(text):
        if command.start() < at:
            continue
        yield text[at : command.start()]
        at, arguments = command.end(), []
        while (flag := _FLAG.match(text, at + 1)) and text[at] == " ":
            keyword, at = _keyword(flag, in_command=True)
            arguments.append(keyword)
        arguments.sort(key=lambda keyword: keyword not in ("source", "target"))
        if arguments and (output := _OUTPUT.match(text, at)):
            at = output.end()
        yield f"mars.{command['function']}" + (f"({', '.join(arguments)})" if arguments else "")
    yield text[at:]


def _keywords(text: str) -> str:
    """A text with keywords for its flags."""
    parts, at = [], 0
    while flag := _FLAG.search(text, at):
        parts.append(text[at : flag.start()])
        keyword, at = _keyword(flag)
        parts.append(keyword)
    return "".join(parts) + text[at:]


def _keyword(flag: re.Match[str], in_command: bool = False) -> tuple[str, int]:
    """What stands for a flag, with its value if it has one, and where the text goes on."""
    name = "for_class" if flag["name"] == "for" else flag["name"].replace("-", "_")  # for is Python's own
    after = flag.end("name")
    if name not in _KINDS:
        return flag[0][: after - flag.start()], after
    value = _value(_KINDS[name], flag, in_command)
    if _KINDS[name] == "table":
        return name, after if value is None else flag.end("value")
    if value is not None:
        return f"{name}={value}", flag.end("value")
    if _KINDS[name] == "bool":
        return f"{name}=True", after
    return name + ("" if flag.string[after : after + 1] == ":" else "="), after


def _value(kind: str, flag: re.Match[str], in_command: bool) -> str | None:
    """The value of a flag as Python writes it; None if what follows is none, as in "--unknown marks rows"."""
    text, by = flag["value"], flag["by"]
    if text is None:
        return None
    bare = text[1:-1] if text[0] in "'\"" else text
    if by == " " and bare.isupper():  # stands for what a user has
        return ""
    sure = by != " " or text != bare
    if kind == "bool":
        return {"true": "True", "false": "False"}.get(bare) if by == "=" else None
    if kind.startswith("Literal["):
        return json.dumps(bare, ensure_ascii=False) if sure or bare in re.findall(r"""["']([^"']*)["']""", kind) else None
    if re.fullmatch(r"-?[\d.]*\d", bare) and not text.startswith('"'):
        return bare
    if not sure and (kind in ("int", "float") or not _ends(flag, in_command)):
        return None
    return _text(kind, bare)


def _ends(flag: re.Match[str], in_command: bool) -> bool:
    """Whether a clause ends behind a word, or another flag follows: then it is a value, and no part of the sentence."""
    rest = flag.string[flag.end("value") :]
    return rest == "" or rest[0] in ",;:).\n" or in_command and rest.startswith(" -")


def _text(kind: str, value: str) -> str:
    """Text, or a list of names, as Python writes it."""
    given: Any = value
    if kind == "Names" and "," in value:
        given = next(csv.reader([value]))
    return json.dumps(given, ensure_ascii=False)

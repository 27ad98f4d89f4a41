"""Messages of the program in Python's words."""

from __future__ import annotations

import pytest

from mars._words import spoken

SAID = {
    # Flags, with a value and without.
    'mars label: --assume: "perhaps" is not one of auto, stay': 'assume="perhaps" is not one of auto, stay',
    "--level 2: want a probability": "level=2: want a probability",
    "--unknown: --method source cannot tell": 'unknown: method="source" cannot tell',
    "leave it out with --exclude heat": 'leave it out with exclude="heat"',
    "leave the column out with --exclude, or give --missing impute": 'leave the column out with exclude=, or give missing="impute"',
    "use these alone with --columns a,b, or give it the others": 'use these alone with columns=["a", "b"], or give it the others',
    "name others with --columns": "name others with columns=",
    "give --decimal ,": 'give decimal=","',
    "(--unknown 0.01 labels them so)": "(unknown=0.01 labels them so)",
    "--truth compares with them": "truth=True compares with them",
    "give --source FILE, --target FILE or both": "give source, target or both",
    "name them with --domain-column NAME": "name them with domain_column=",
    "draw them with --source-proportions 0.5,0.5": 'draw them with source_proportions="0.5,0.5"',
    # What has no keyword stays.
    "write it with --output": "write it with --output",
    # Commands.
    "mars label --unknown marks such rows": "mars.label(unknown=) marks such rows",
    "mars label gives each row its class": "mars.label gives each row its class",
    "mars label --source source --target target --label celltype -o labels.csv": 'mars.label(source, target, label="celltype")',
    "mars ask --label celltype --source FILE --target FILE --for blast -o ask.csv": 'mars.ask(source, target, label="celltype", for_class="blast")',
    "Next: mars label --labels each row by them too": "Next: mars.label(labels=) each row by them too",
    "run mars-featurize before": "run mars-featurize before",
    # Pages that are not installed.
    "compare by hand (docs/how-to/doubts.md)": "compare by hand",
    "unknown shape\nRun 'mars label --help' for more": "unknown shape",
}


@pytest.mark.parametrize("text", SAID)
def test_messages_speak_python(text: str) -> None:
    assert spoken(text) == SAID[text]

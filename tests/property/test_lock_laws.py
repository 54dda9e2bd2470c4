"""Laws of the lock: no text makes its reader or its judge fall over, and the order of its inputs is nothing."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lock_cases import lock_of, request_of
from stanza_rows import stanza_text

from gpuprov.document.envelope import seal
from gpuprov.lab.vendor.signing import SigningKey, make_key
from gpuprov.lock.make import LockInputs, make_lock
from gpuprov.lock.moves import moves
from gpuprov.lock.pool_input import PoolInput
from gpuprov.lock.text import KIND, read_edited, read_lock, write_lock
from gpuprov.lock.types import Lock
from gpuprov.lock.verdict import judge
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.sources.definition import SourceDefinition, locked
from gpuprov.sources.index import open_index

CASE: dict[str, Any] = {
    "index": {
        "os": [{"is": "libc6 2.36-9"}, {"is": "htop 3.2-1", "depends": "libc6 (>= 2.34)"}],
        "nvidia": [{"is": "nvidia-open 580.95.05-1", "depends": "libcuda1, libc6"}, {"is": "libcuda1 580.95.05-1"}],
    },
    "pools": {"train": ["nvidia-open 580.*", "htop"], "login": ["htop"]},
    "equal": [{"label": "driver", "names": ["nvidia-open"], "driver": True}],
}
MADE, POOLS, INDEXES = lock_of(CASE)
assert isinstance(MADE, Lock)
LOCK: Lock = MADE
TEXT = write_lock(LOCK)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
PLACES = st.lists(st.integers(min_value=0, max_value=40), min_size=1, max_size=6)


def _use(lock: Lock) -> None:
    """What reads a lock further on."""
    write_lock(lock)
    moves(lock, LOCK)
    judge(lock, spec_inputs="", catalog_inputs={}, sources=(), pools=POOLS, images=(), indexes=INDEXES)
    lock_of({**CASE, "upgrade": ["htop"]}, lock)


def _read(text: str) -> None:
    try:
        lock = read_lock(text, "gpuprov.lock")
    except GpuprovError as error:
        if [d.code for d in error.diagnostics] != ["GP-DOC-006"]:
            return
        try:
            lock = read_edited(text, "gpuprov.lock")[0]
        except GpuprovError:
            return
    _use(lock)


@given(cuts=st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, 40), st.text(max_size=6)), max_size=4))
def test_law_a_mutilated_text_is_read_or_refused(cuts: list[tuple[int, int, str]]) -> None:
    text = TEXT
    for start, length, put in cuts:
        text = text[:start] + put + text[start + length :]
    _read(text)


@given(places=PLACES, put=JSON, gone=st.booleans(), sealed=st.booleans())
def test_law_another_value_at_any_place_is_read_or_refused(
    *, places: list[int], put: Any, gone: bool, sealed: bool
) -> None:
    document = json.loads(TEXT)
    here: Any = document["body"]
    for place in places[:-1]:
        inner = list(here.values()) if isinstance(here, dict) else here
        deeper = [value for value in inner if isinstance(value, dict | list) and value]
        if not deeper:
            break
        here = deeper[place % len(deeper)]
    keys: Sequence[Any] = list(here) if isinstance(here, dict) else range(len(here))
    key = keys[places[-1] % len(keys)]
    if gone:
        del here[key]
    else:
        here[key] = put
    try:
        text = seal(KIND, document["body"]) if sealed else json.dumps(document)
    except GpuprovError:
        return  # a value that no document can hold
    _read(text)


@cache
def _key() -> SigningKey:
    return make_key()


NAMES = ("a", "b", "c", "d")
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "is": st.builds(lambda name, version: f"{name} {version}", st.sampled_from(NAMES), st.sampled_from("123")),
            "depends": st.sampled_from(["", "", "b | c", "d (>= 2)", "m", "c, m"]),
            "provides": st.sampled_from(["", "", "m", "d (= 3)"]),
        }
    ).map(lambda row: {key: value for key, value in row.items() if value}),
    min_size=1,
    max_size=6,
    unique_by=lambda row: row["is"],
)


def _publish(folder: Path, rows: list[dict[str, str]]) -> SourceDefinition:
    folder.mkdir(exist_ok=True)
    text = "\n".join(map(stanza_text, rows)).encode()
    head = f"Date: {format_datetime(datetime.now(UTC), usegmt=True)}\nSHA256:\n"
    release = f"{head} {hashlib.sha256(text).hexdigest()} {len(text)} Packages\n".encode()
    (folder / "Packages").write_bytes(text)
    (folder / "InRelease").write_bytes(_key().sign_clear(release))
    return SourceDefinition(
        name=folder.name, url=folder.as_uri(), suite="./", components=(), keys=_key().public.encode(), on_host=True
    )


def _lock(definitions: Sequence[SourceDefinition], pools: Sequence[PoolInput], cache_folder: Path) -> str:
    with open_index(definitions, arch="amd64", cache=cache_folder, now=datetime.now(UTC)) as index:
        made = make_lock(
            LockInputs(
                spec_inputs="",
                catalog_inputs={},
                pin="owned",
                sources=tuple(locked(definition) for definition in definitions),
                pools=tuple(pools),
                indexes={("debian-12", "amd64"): index},
            )
        )
    return write_lock(made) if isinstance(made, Lock) else "\n".join(d.summary for d in made)


@settings(max_examples=min(settings().max_examples, 25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tables=st.lists(ROWS, min_size=2, max_size=3),
    order=st.permutations(range(3)),
    asked=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
)
def test_law_the_order_of_sources_and_pools_changes_no_byte(
    tables: list[list[dict[str, str]]], order: list[int], asked: list[str], tmp_path: Path
) -> None:
    definitions = [_publish(tmp_path / f"s{number}", rows) for number, rows in enumerate(tables)]
    pools = [
        PoolInput(pool=name, os="debian-12", arch="amd64", requests=tuple(request_of(each) for each in requests))
        for name, requests in (("one", asked), ("two", asked[:1]))
    ]
    shuffled = [definitions[place] for place in order if place < len(definitions)]
    first = _lock(definitions, pools, tmp_path / "cache")
    assert _lock(shuffled, pools[::-1], tmp_path / "other") == first

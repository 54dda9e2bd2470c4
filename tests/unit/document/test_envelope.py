"""The envelope: what was sealed opens again; another kind, another apiVersion or an edit is refused by its own code."""

import json

import pytest

from gpuprov.document.envelope import document_digest, open_document, peek_kind, read_envelope, seal
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.status import ExitStatus

BODY = {"pools": {"train": {"driver": "580.95.05", "packages": [{"name": "a", "version": "1"}]}}, "n": 3}


def codes(text: str, kind: str = "Lock") -> list[str]:
    with pytest.raises(GpuprovError) as caught:
        open_document(text, "gpuprov.lock", kind)
    return [d.code for d in caught.value.diagnostics]


def test_what_was_sealed_opens() -> None:
    text = seal("Lock", BODY)
    assert open_document(text, "gpuprov.lock", "Lock") == BODY
    assert read_envelope(text, "gpuprov.lock", "Lock").digest == document_digest("Lock", BODY)
    assert peek_kind(text) == "Lock"


def test_order_of_keys_and_white_space_are_no_edit() -> None:
    value = json.loads(seal("Lock", BODY))
    assert open_document(json.dumps(value, sort_keys=True, indent=7), "f", "Lock") == BODY


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"580.95.05"', '"580.95.06"', "GP-DOC-006"),
        ('"n": 3', '"n": 3.0', "GP-DOC-002"),
        ('"n": 3', '"n": 3, "n": 4', "GP-DOC-002"),
        ('"n": 3', '"n": NaN', "GP-DOC-002"),
        ('"n": 3', '"n": ', "GP-DOC-002"),
        ('"kind": "Lock"', '"kind": "Plan"', "GP-DOC-004"),
        ('"kind": "Lock"', '"kind": ["Lock"]', "GP-DOC-004"),
        ("gpuprov/v1", "gpuprov/v2", "GP-DOC-005"),
        ('"apiVersion"', '"version"', "GP-DOC-005"),
        ('"digest"', '"was"', "GP-DOC-006"),
        ('"body"', '"content"', "GP-DOC-008"),
    ],
)
def test_a_changed_document_is_refused(old: str, new: str, code: str) -> None:
    text = seal("Lock", BODY)
    assert old in text
    assert codes(text.replace(old, new, 1)) == [code]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "GP-DOC-002"),
        ("[]", "GP-DOC-004"),
        ("3", "GP-DOC-004"),
        ("[" * 100000, "GP-DOC-002"),
        ("\ufeff{}", "GP-DOC-003"),
    ],
)
def test_other_text_is_refused(text: str, code: str) -> None:
    assert codes(text) == [code]


def test_kind_is_part_of_the_digest() -> None:
    assert document_digest("Lock", BODY) != document_digest("Plan", BODY)


def test_an_edit_is_shown_with_both_digests_and_its_place() -> None:
    with pytest.raises(GpuprovError) as caught:
        open_document(seal("Lock", BODY).replace('"n": 3', '"n": 4'), "gpuprov.lock", "Lock")
    (found,) = caught.value.diagnostics
    assert found.status is ExitStatus.REFUSED
    assert document_digest("Lock", BODY) in found.detail
    assert found.span is not None
    assert (found.span.file, found.span.line) == ("gpuprov.lock", 4)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("kind: Recording\n", "Recording"), ('{"kind": "Plan", "x": 1}', "Plan"), ("name: train\n", None), ("", None)],
)
def test_peek_kind(text: str, kind: str | None) -> None:
    assert peek_kind(text) == kind

"""What is said once about a field of the spec: its text, its check, and what this release does not build of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class About:
    """The annotation of a field; the decoder, the schema, the reference and `explain` read it."""

    text: str
    """One sentence for people."""
    check: str = ""
    """Name of a check in scalars.CHECKS; empty: any text."""
    choices: tuple[str, ...] = ()
    """The only texts that are allowed; empty: any."""
    later: tuple[str, ...] = ()
    """Texts that the spec knows and this release does not build: refused with GP-SPEC-006."""
    not_yet: str = ""
    """Not empty: this release converges nothing of the field; what it is for. Refused with GP-SPEC-006."""
    nothing: tuple[str, ...] = ()
    """Texts that ask for nothing, beside null and the empty list or mapping; they are never refused as not built."""
    none_word: str = ""
    """The text that stands for None in a field that must be written, such as `none` of `gpu: none`."""
    null: bool = True
    """Whether an optional field may be written as null; false where null could mean two things."""
    over: str = ""
    """The address that the mapping is laid over, such as `stack`: it has the same fields, and none is required."""
    key: str = ""
    """In a mapping of names: the check of the keys."""
    single: bool = False
    """In a list of texts: whether one text may stand for a list of one."""
    example: str = ""
    """A value as it stands in YAML."""
    minimum: int = 1
    """Of a number: the least that is allowed."""
    maximum: int = 1 << 16
    """Of a number: the most that is allowed."""

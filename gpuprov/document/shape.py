"""Reading plain values out of a document's body: each getter says by address what is missing or has a wrong type."""

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span

T = TypeVar("T")


class Fields:
    """One mapping of a document, read key by key.

    Args:
        value: the mapping; anything else is refused at once.
        file: the document's file name.
        path: the mapping's address in the document, empty for the body itself.

    Every getter raises GpuprovError with GP-DOC-008.
    """

    def __init__(self, value: object, file: str, path: str = "") -> None:
        self.file = file
        self.path = path
        if not isinstance(value, Mapping):
            self._refuse(path, f"a mapping was expected, {_name(value)} was found")
        self.value: Mapping[str, Any] = value

    def text(self, key: str) -> str:
        """A text that must be there."""
        return self._typed(key, str, "a text")

    def integer(self, key: str) -> int:
        """A whole number that must be there."""
        value = self._typed(key, int, "a whole number")
        if isinstance(value, bool):
            self._refuse(self.at(key), "a whole number was expected, a truth value was found")
        return value

    def number(self, key: str) -> float:
        """A number that must be there, whole or not."""
        value = self.raw(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse(self.at(key), f"a number was expected, {_name(value)} was found")
        return value

    def flag(self, key: str) -> bool:
        """A truth value that must be there."""
        return self._typed(key, bool, "a truth value")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts that must be there."""
        members = self._typed(key, list, "a list")
        for index, member in enumerate(members):
            if not isinstance(member, str):
                self._refuse(f"{self.at(key)}[{index}]", f"a text was expected, {_name(member)} was found")
        return tuple(members)

    def rows(self, key: str) -> tuple["Fields", ...]:
        """A list of mappings that must be there."""
        members = self._typed(key, list, "a list")
        return tuple(Fields(member, self.file, f"{self.at(key)}[{index}]") for index, member in enumerate(members))

    def table(self, key: str) -> dict[str, "Fields"]:
        """A mapping of mappings that must be there."""
        members = self._typed(key, dict, "a mapping")
        return {name: Fields(member, self.file, f"{self.at(key)}.{name}") for name, member in members.items()}

    def fields(self, key: str) -> "Fields":
        """A mapping that must be there."""
        return Fields(self._typed(key, dict, "a mapping"), self.file, self.at(key))

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self.value

    def raw(self, key: str) -> Any:
        """Any value that must be there."""
        if key not in self.value:
            self._refuse(self.at(key), "the field is missing")
        return self.value[key]

    def at(self, key: str) -> str:
        """The address of a key."""
        return f"{self.path}.{key}" if self.path else key

    def refuse(self, key: str, what: str) -> NoReturn:
        """Refuse the value of a key with one sentence."""
        self._refuse(self.at(key), what)

    def _typed(self, key: str, kind: type[T], words: str) -> T:
        value = self.raw(key)
        if not isinstance(value, kind):
            self._refuse(self.at(key), f"{words} was expected, {_name(value)} was found")
        return value

    def _refuse(self, address: str, what: str) -> NoReturn:
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-008",
                summary=what,
                address=address,
                hint="machines write this file; take it from version control or make it again",
                span=Span(file=self.file, line=1, column=1),
            )
        )


def _name(value: object) -> str:
    names = {
        str: "a text",
        bool: "a truth value",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "a mapping",
    }
    return "nothing" if value is None else names.get(type(value), f"a {type(value).__name__}")

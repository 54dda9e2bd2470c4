"""Starts Prowler without the libraries of other clouds; run by scan.py with the Python of Prowler's own environment.

Prowler 5.46.0 imports the libraries of every cloud when it starts, and uses those of the one that it is asked for
(read in its source, 2026-11-30). Here those of the others are empty: 2.3 GB are not fetched to look at one account.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

OTHERS = ("alibabacloud_", "google", "huaweicloudsdk", "kubernetes")
"""How the names of the other clouds' libraries begin."""


class _Anything(type):
    """The type of a class in which every name is another one of its kind."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {})


class _Empty(ModuleType):
    """A module in which every name is such a class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if fullname.startswith(OTHERS) else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is nothing in it."""


if __name__ == "__main__":
    sys.meta_path.insert(0, _Finder())
    from prowler.__main__ import prowler  # type: ignore[import-not-found] # of its own environment

    sys.exit(prowler())

"""The part of a spec that says where a base image of one's own comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from gpuprov.spec.about import About


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseImageSpec:
    """Where a base image comes from: by its id, by a parameter of the Systems Manager, or by owner and name."""

    id: Annotated[str, About("The image's id.", check="ami", example="ami-0123456789abcdef0")] = ""
    parameter: Annotated[
        str,
        About(
            "A parameter of the Systems Manager that holds an image's id, such as its publisher keeps.",
            check="parameter",
            example="/aws/service/debian/release/12/latest/amd64",
        ),
    ] = ""
    owner: Annotated[
        str,
        About("Account number of the publisher, or `self` or `amazon`.", check="image_owner", example='"136693071363"'),
    ] = ""
    name: Annotated[
        str,
        About(
            "The image's name, with `*` and `?` for what is open; the newest that fits is taken.",
            check="image_name",
            example='"debian-12-amd64-*"',
        ),
    ] = ""

    def __str__(self) -> str:
        """In words, as the lock keeps it: another text is another image."""
        if self.id:
            return f"id {self.id}"
        return f"parameter {self.parameter}" if self.parameter else f"owner {self.owner}, name {self.name}"


def base_of(bases: Mapping[str, BaseImageSpec], os: str, arch: str) -> BaseImageSpec | None:
    """What is said of an operating system on an architecture, else of the operating system; None where nothing is."""
    return bases.get(f"{os}-{arch}", bases.get(os))

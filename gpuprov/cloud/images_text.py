"""The list of baked images, `gpuprov.images.json`: text and back."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from gpuprov.cloud.types import Image
from gpuprov.document.envelope import open_document, seal
from gpuprov.document.shape import Fields
from gpuprov.store.files import read_text_if_there, write_text

KIND: Final = "Images"
IMAGES_NAME: Final = "gpuprov.images.json"
"""The list's file, beside the spec; it belongs into version control, like the lock."""


def write_images(images: Iterable[Image]) -> str:
    """Write the list as sealed JSON text, oldest image first."""
    rows = [image_row(image) for image in sorted(images, key=lambda image: (image.made, image.id))]
    return seal(KIND, {"images": rows})


def read_images(text: str, file: str) -> tuple[Image, ...]:
    """Read the list.

    Raises:
        GpuprovError: GP-DOC-002 to 008.
    """
    body = Fields(open_document(text, file, KIND), file)
    return tuple(_image(row) for row in body.rows("images"))


def load_images(spec: Path) -> tuple[Image, ...]:
    """The list beside a spec; empty when there is none.

    Args:
        spec: path of the spec.

    Raises:
        GpuprovError: GP-DOC codes when the list is damaged.
    """
    path = images_path(spec)
    text = read_text_if_there(path)
    return () if text is None else read_images(text, str(path))


def save_images(spec: Path, images: Iterable[Image]) -> Path:
    """Write the list beside a spec, atomically; returns its path."""
    path = images_path(spec)
    write_text(path, write_images(images))
    return path


def images_path(spec: Path) -> Path:
    """Where the list of a spec is."""
    return spec.parent / IMAGES_NAME


def image_row(image: Image) -> dict[str, Any]:
    """An image as plain values: a row of the list, and what a program reads of it."""
    return {
        "id": image.id,
        "name": image.name,
        "pool": image.pool,
        "os": image.os,
        "arch": image.arch,
        "region": image.region,
        "baked": image.baked,
        "base": image.base,
        "made": image.made,
        "snapshots": list(image.snapshots),
        "checked": image.checked,
    }


def _image(row: Fields) -> Image:
    return Image(
        id=row.text("id"),
        name=row.text("name"),
        pool=row.text("pool"),
        os=row.text("os"),
        arch=row.text("arch"),
        region=row.text("region"),
        baked=row.text("baked"),
        base=row.text("base"),
        made=row.text("made"),
        snapshots=row.texts("snapshots"),
        checked=row.flag("checked"),
    )

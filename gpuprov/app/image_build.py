"""`image build`: an image of a pool's software, checked, or nothing left behind."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.image_shop import clear, cloud_pool, open_order, open_shop, step, tidy
from gpuprov.app.image_steps import (
    Workshop,
    bake,
    check,
    converge_builder,
    make_builder,
    stop_if_cancelled,
)
from gpuprov.app.rolling import log_trouble
from gpuprov.app.site import Site, open_site
from gpuprov.cloud.images_text import images_path, load_images, save_images
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.model.run import HostResult
from gpuprov.store.lock import hold_site


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildRequest:
    """What `image build` was asked."""

    spec: Path
    pool: str | None = None
    """None: the only pool with hosts in the cloud."""
    again: bool = False
    """Whether to build although the account has a checked image of the same software and base."""
    access: Access = Access()  # noqa: RUF009 - a frozen value


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """What came of it."""

    image: Image
    made: bool
    """False when the account had it already."""
    path: Path
    """The list beside the spec."""
    host: HostResult | None = None
    """The builder's converge."""
    seconds: Mapping[str, float]
    """Step -> how long it took."""
    run: str = ""
    """The run's folder."""
    diagnostics: tuple[Diagnostic, ...] = ()


def build_image(request: BuildRequest, *, report: Report) -> Built:
    """Bake an image of a pool's software: packages, sources, module settings and services.

    A builder without GPUs is converged as every host is, cleaned, stopped and copied; a second host, started from the
    copy, must hold all of it without a change. Both are removed, whatever happens; so is an image that failed.

    Raises:
        GpuprovError: what failed first, and after it what could not be removed.
    """
    site = open_site(request.spec)
    order = open_order(site, cloud_pool(site, request.pool))
    with hold_site(site.state, ["gpuprov", "image", "build"]):
        images = () if request.again else order.account.images(site.spec.name)
        there = _there(images, order.pool.name, order.baked, order.base.id)
        if there is not None:
            path = _list(site, there)
            return Built(image=there, made=False, path=path, seconds={}, diagnostics=site.warnings)
        with open_shop(order, "image build", request.access, report) as shop:
            built = build(shop)
    return replace(built, run=str(shop.journal.folder), diagnostics=(*site.warnings, *built.diagnostics))


def build(shop: Workshop) -> Built:
    """Run the steps, and remove the builder's stack whatever happens."""
    seconds: dict[str, float] = {}
    images: list[str] = []
    try:
        with step(shop, "clear", seconds):
            clear(shop)
        with step(shop, "builder", seconds):
            made = make_builder(shop, image=shop.base.id)
        with step(shop, "converge", seconds):
            result = converge_builder(shop, made)
        with step(shop, "image", seconds):
            image = bake(shop, made, keep=images.append)
        with step(shop, "check", seconds):
            check(shop, make_builder(shop, image=image.id), image)
        stop_if_cancelled(shop)
        shop.account.mark_checked(image.id)
    except BaseException as error:
        late = tidy(shop, images, seconds)
        if isinstance(error, GpuprovError) and late:
            raise GpuprovError(*error.diagnostics, *late) from error
        raise
    late = tidy(shop, (), seconds)
    image = replace(image, checked=True)
    return Built(
        image=image,
        made=True,
        path=_list(shop.site, image),
        host=result,
        seconds=seconds,
        diagnostics=(*late, *log_trouble(shop.journal)),
    )


def _there(images: tuple[Image, ...], pool: str, baked: str, base: str) -> Image | None:
    same = [i for i in images if i.checked and (i.pool, i.baked, i.base) == (pool, baked, base)]
    return same[-1] if same else None


def _list(site: Site, image: Image) -> Path:
    """Put an image into the list beside the spec."""
    listed = load_images(site.path)
    if image in listed:
        return images_path(site.path)
    return save_images(site.path, (*(other for other in listed if other.id != image.id), image))

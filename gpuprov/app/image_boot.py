"""Looking into an image: a host is started from it, in a stack of its own, probed, and removed."""

from dataclasses import replace

from gpuprov.app.access import Access
from gpuprov.app.image_shop import clear, open_order, open_shop, step, tidy
from gpuprov.app.image_steps import Workshop, check, make_builder
from gpuprov.app.site import Site
from gpuprov.cloud.types import Image
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.store.lock import hold_site


def boot_image(site: Site, pool: str, image: Image, access: Access, report: Report) -> tuple[Diagnostic, ...]:
    """Start a host from an image and see that it holds the pool's baked part; it is removed, whatever happens.

    Returns:
        What could not be removed.

    Raises:
        GpuprovError: GP-CLOUD-073 with what it lacks; else what failed on the way, and what could not be removed.
    """
    with (
        hold_site(site.state, ["gpuprov", "image", "verify"]),
        open_shop(open_order(site, site.pool(pool)), "image verify", access, report) as shop,
    ):
        return boot(shop, image)


def boot(shop: Workshop, image: Image) -> tuple[Diagnostic, ...]:
    """Run the steps, and remove the host's stack whatever happens; the image stays."""
    seconds: dict[str, float] = {}
    try:
        with step(shop, "clear", seconds):
            clear(shop)
        with step(shop, "check", seconds):
            check(shop, make_builder(shop, image=image.id), image)
    except BaseException as error:
        late = tidy(shop, (), seconds)
        if isinstance(error, GpuprovError):
            raise GpuprovError(*(_of_the_image(one, image) for one in error.diagnostics), *late) from error
        raise
    return tidy(shop, (), seconds)


def _of_the_image(diagnostic: Diagnostic, image: Image) -> Diagnostic:
    """What a new image lacks makes its build fail; of one that is there, it makes a finding."""
    if diagnostic.code != "GP-ROLL-002":
        return diagnostic
    hint = "no host should start from it: `gpuprov image build --again` bakes another one"
    return replace(diagnostic, code="GP-CLOUD-073", address=f"image.{image.pool}/{image.id}", hint=hint)

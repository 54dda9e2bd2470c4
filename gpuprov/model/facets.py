"""The one table of facets: how each is compared, and what changing it costs."""

from typing import Final

from gpuprov.model import facet_gpu, facet_host
from gpuprov.model.facet import Facet

FACETS: Final[tuple[Facet, ...]] = (*facet_host.ROWS, *facet_gpu.ROWS)
BY_PATTERN: Final = {facet.pattern: facet for facet in FACETS}

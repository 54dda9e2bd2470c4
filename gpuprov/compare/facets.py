"""Which row of the facet table an address has."""

from gpuprov.model.address import pattern_of
from gpuprov.model.facet import Cost, Facet, ParityClass
from gpuprov.model.facets import BY_PATTERN


def facet_of(address: str) -> Facet:
    """Give the facet of an address; one that the table does not know is informational and compared as it is."""
    known = BY_PATTERN.get(pattern_of(address))
    if known is not None:
        return known
    return Facet(
        pattern=pattern_of(address),
        want="",
        collector="",
        comparator="equal",
        parity=ParityClass.INFORMATIONAL,
        cost=Cost.OBSERVED,
        reason="observed only",
    )

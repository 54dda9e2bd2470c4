"""Pages hold every field, code and facet, and every field has a text."""

from gpuprov.model.codes import CODES
from gpuprov.model.facets import FACETS
from gpuprov.reference.pages import codes_page, facets_page, spec_fields, spec_page
from gpuprov.spec.scalars import CHECKS
from gpuprov.spec.tree import field_type


def test_every_field_has_one_row_and_a_sentence() -> None:
    page = spec_page()
    for address, spec_field in spec_fields():
        _, about = field_type(spec_field)
        assert about.text.endswith("."), address
        assert about.check in CHECKS, address
        assert page.count(f"\n| `{address}` |") == 1


def test_known_addresses_are_there() -> None:
    addresses = {address for address, _ in spec_fields()}
    assert {"stack.driver.version", "pools.*.gpu.per_host", "files.*.mode", "stack.packages[*].name"} <= addresses
    assert "pools.*.stack.driver" not in addresses


def test_every_code_and_facet_is_listed() -> None:
    page = codes_page()
    assert [code for code in CODES if f"| {code} |" not in page] == []
    facets = facets_page()
    assert [facet.pattern for facet in FACETS if f"| `{facet.pattern}` |" not in facets] == []

"""Pages hold every field, code and facet, and every field has a text."""

from gpuprov.model.codes import CODES
from gpuprov.model.facets import FACETS
from gpuprov.reference.pages import codes_page, facets_page, spec_page
from gpuprov.spec.fields import spec_fields
from gpuprov.spec.scalars import CHECKS


def test_every_field_has_one_row_and_a_sentence() -> None:
    page = spec_page()
    for field in spec_fields():
        assert field.about.text.endswith("."), field.address
        assert field.about.check in CHECKS, field.address
        assert page.count(f"\n| `{field.address}` |") == 1


def test_known_addresses_are_there() -> None:
    addresses = {field.address for field in spec_fields()}
    assert {"stack.driver.version", "pools.*.gpu.per_host", "files.*.mode", "stack.packages[*].name"} <= addresses
    assert "pools.*.stack.driver" not in addresses


def test_every_code_and_facet_is_listed() -> None:
    page = codes_page()
    assert [code for code in CODES if f"| {code} |" not in page] == []
    facets = facets_page()
    assert [facet.pattern for facet in FACETS if f"| `{facet.pattern}` |" not in facets] == []

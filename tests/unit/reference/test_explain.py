"""Everything that has a name is explained, and a name that means nothing gets the nearest one."""

import pytest

from gpuprov.model.codes import CODES
from gpuprov.model.facets import FACETS
from gpuprov.reference.explain import explain, near, overview, quote_members
from gpuprov.spec.fields import spec_fields


@pytest.mark.parametrize(
    ("subject", "field", "facet", "facets", "codes"),
    [
        ("stack.driver.version", "stack.driver.version", None, False, []),
        ("pools.train.stack.driver.version", "stack.driver.version", None, False, []),
        ("stack.driver.modules", "stack.driver.modules", "stack.driver.modules", False, []),
        ("stack.driver", "stack.driver", None, True, []),
        ('package["docker.io"].version', None, "package[*].version", False, []),
        ("package[docker.io].version", None, "package[*].version", False, []),
        ("package[*].held", None, "package[*].held", False, []),
        ("package", None, None, True, []),
        ('file["/etc/motd"]', None, None, True, []),
        ("files[/etc/motd].mode", "files.*.mode", None, False, []),
        ("gp-spec-003", None, None, False, ["GP-SPEC-003"]),
        ("GP-LAB", None, None, False, ["GP-LAB-001", "GP-LAB-002", "GP-LAB-003"]),
        ("hos", None, None, False, []),
        ("GP-SPEC-0", None, None, False, []),
    ],
)
def test_what_a_name_means(
    subject: str, field: str | None, facet: str | None, *, facets: bool, codes: list[str]
) -> None:
    found = explain(subject)
    assert (found.field.pattern if found.field else None) == field
    assert (found.facet.facet.pattern if found.facet else None) == facet
    assert bool(found.facets) == facets
    assert [code.code for code in found.codes] == codes
    assert found.known == bool(field or facet or facets or codes)


def test_a_field_is_explained_whole() -> None:
    field = explain("stack.driver.version").field
    assert field is not None
    assert field.effect is not None
    assert field.default == "required"
    assert field.example == 'version: "580.*"'
    assert "580.95.05" in field.value
    assert field.effect.cost.value == "reboot"
    assert {"stack.driver.loaded", "package[*].version"} <= set(field.effect.facets)
    assert [address for address, _ in explain("stack.driver").field.keys] == [  # type: ignore[union-attr]
        "stack.driver.version",
        "stack.driver.modules",
        "stack.driver.source",
    ]
    assert [address for address, _ in explain("pools").field.keys][:2] == ["pools.*.gpu", "pools.*.os"]  # type: ignore[union-attr]


def test_everything_has_an_explanation() -> None:
    for field in spec_fields():
        assert explain(field.address).field is not None, field.address
    for facet in FACETS:
        found = explain(facet.pattern).facet
        assert found is not None, facet.pattern
        assert bool(found.fields) == bool(facet.want), facet.pattern
    for code in CODES:
        assert [found.code for found in explain(code).codes] == [code]
    everything = overview()
    assert (len(everything.facets), len(everything.codes)) == (len(FACETS), len(CODES))


def test_near_names() -> None:
    assert near("stack.drivr.version") == "did you mean stack.driver.version?"
    assert near('package["x"].versoin') == "did you mean package[*].version?"
    assert near("GP-SPEC-03") == "did you mean GP-SPEC-003?"
    assert near("qqqqqq") == ""


def test_quotes_that_a_shell_took() -> None:
    assert quote_members("package[docker.io].version") == 'package["docker.io"].version'
    assert quote_members('package["docker.io"].version') == 'package["docker.io"].version'
    assert quote_members("stack.packages[0].name") == "stack.packages[0].name"
    assert quote_members("package[*]") == "package[*]"

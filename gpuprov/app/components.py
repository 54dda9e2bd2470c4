"""The catalog's rows in the form that wants are made with."""

from gpuprov.catalog.load import Catalog, rows
from gpuprov.catalog.rows import GpuRow, ServiceRow
from gpuprov.want.components import Components, UnitRow


def catalog_components(catalog: Catalog) -> Components:
    """Units and NVML names of the rows in force."""
    return Components(
        units=tuple(
            UnitRow(name=row.id, packages=row.packages, gpu=row.gpu, exporter=row.exporter)
            for row in rows(ServiceRow, catalog)
        ),
        nvml_names={row.id: row.nvml_names for row in rows(GpuRow, catalog)},
    )

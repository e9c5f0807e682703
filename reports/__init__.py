"""Reports of the offers that the catalog lacks, with probable causes and confidence intervals.

`report_shop` writes the report of a run as HTML, CSV, XLSX and JSON files; `build_report` returns
it as a value. `list_findings` returns the offers of a run one by one, `measure_completeness` and
`measure_coverage` its figures.

Names are loaded when they are first used, so importing one sub-module does not import all.
"""

from typing import TYPE_CHECKING

import lazy_loader

# The second list of the same names is for type checkers; a test holds the two together.
if TYPE_CHECKING:
    from reports.causes.cause_kinds import CauseKind as CauseKind
    from reports.causes.config import CauseConfig as CauseConfig
    from reports.model.findings import list_findings as list_findings
    from reports.model.report_model import Report as Report
    from reports.model.report_model import build_report as build_report
    from reports.model.report_model import measure_completeness as measure_completeness
    from reports.statistics.completeness import Completeness as Completeness
    from reports.statistics.coverage import Coverage as Coverage
    from reports.statistics.coverage import OfferStatus as OfferStatus
    from reports.statistics.coverage import measure_coverage as measure_coverage
    from reports.statistics.findings_reader import Finding as Finding
    from reports.write.report_files import report_shop as report_shop

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "causes.cause_kinds": ["CauseKind"],
        "causes.config": ["CauseConfig"],
        "model.findings": ["list_findings"],
        "model.report_model": ["Report", "build_report", "measure_completeness"],
        "statistics.completeness": ["Completeness"],
        "statistics.coverage": ["Coverage", "OfferStatus", "measure_coverage"],
        "statistics.findings_reader": ["Finding"],
        "write.report_files": ["report_shop"],
    },
)

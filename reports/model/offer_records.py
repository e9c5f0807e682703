"""Records of a run's findings for the inference of causes."""

from collections.abc import Collection
from dataclasses import replace

from catalog.models import Verdict
from reports.causes.cause_inference import is_valid_ean
from reports.causes.offer_columns import OfferRecord
from reports.causes.page_variants import VariantIndex
from reports.statistics.findings_reader import Finding


def offer_record(finding: Finding, is_new: bool | None) -> OfferRecord:
    """Return the record of a listed or missing finding."""
    return OfferRecord(
        id=finding.url,
        is_missing=finding.is_missing,
        product=finding.variant_of or "",
        category=finding.category,
        brand=finding.brand,
        price=finding.price,
        currency=finding.currency,
        ean=finding.ean,
        is_valid_ean=is_valid_ean(finding.ean),
        availability=finding.availability,
        has_picture=finding.has_picture,
        language=finding.language,
        template=finding.template,
        is_new=is_new,
        sku=finding.sku,
    )


def with_variants(
    record: OfferRecord, variants: VariantIndex, collapsed: Collection[str]
) -> OfferRecord:
    """Return the record, marked if the catalog lists a variant of it.

    `collapsed` are the URLs of missing offers with evidence of a listed variant.
    """
    verdict = Verdict.MISSING if record.is_missing else Verdict.LISTED
    has_listed = variants.has_listed_variant(record.product or None, verdict)
    if record.id in collapsed:
        has_listed = True
    if has_listed is None:
        return record
    return replace(record, has_listed_variant=has_listed)

"""Rules of a shop: learnt when they are asked for and absent.

Learning takes 5 to 60 s of processor time, more than a request may. So the first request starts it
as a process of its own and answers 202 with the address of the job; once it is done, the same
request answers with the rules.
"""

from typing import Annotated

from fastapi import Query, Response
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from catalog.errors import UsageError
from catalog.models import Shop
from scout.inspect.rule_admin import list_rules, load_rules
from scout.job_queue.job_kinds import JobKind
from scout.web.access.guard import Viewer, api_router
from scout.web.api import models
from scout.web.api.responses import problems
from scout.web.context import Context
from scout.web.rendering import path_part

RETRY_AFTER = 5
"""Seconds after which a client asks again for rules that are being learnt."""

router = api_router("rules")


@router.get(
    "/api/v1/shops/{shop}/rules",
    response_model=models.Rules,
    responses={
        **problems(404, 409),
        202: {
            "model": models.JobStatus,
            "description": "The rules are being learnt: ask again.",
            "headers": {
                "Location": {"schema": {"type": "string"}},
                "Retry-After": {"schema": {"type": "string"}},
            },
        },
    },
)
def read_rules(
    context: Viewer,
    shop: str,
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> models.Rules | Response:
    """Return the rules of a shop. Without any, an editor's request learns them from its pages."""
    stored = context.shop(shop)
    try:
        rules = load_rules(context.store, stored, version)
    except UsageError as error:
        if version is not None or not context.may("editor"):
            raise HTTPException(404, str(error)) from error
        return _learn(context, stored)
    rows = [models.RuleRow(**row) for row in list_rules(rules)]
    return models.Rules(version=rules.version, rules=rows, rule_set=rules.to_json())


def _learn(context: Context, shop: Shop) -> Response:
    """Start to learn the rules, or report how that goes. Raises HTTPException, Busy."""
    job = context.jobs.state(shop)
    # A failure is reported once; the next request tries again.
    if job is not None and job.kind is JobKind.LEARN and job.error is not None:
        context.jobs.forget(shop)
        raise HTTPException(409, f"the rules cannot be learnt: {job.error}")
    if job is None or not job.is_open:
        context.jobs.start(shop, JobKind.LEARN)
        context.audit("rules learnt", shop.name)
    status = models.JobStatus(shop=shop.name, job="learn", state="waiting")
    headers = {
        "location": f"/api/v1/shops/{path_part(shop.name)}/rules",
        "retry-after": str(RETRY_AFTER),
    }
    return JSONResponse(status.model_dump(), 202, headers)

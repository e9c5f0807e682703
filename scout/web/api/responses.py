"""Error responses of routes, for the description of the API."""

from typing import Any

from scout.web.api.models import Problem

_DESCRIPTIONS = {
    400: "The query or body cannot be used: `detail` says why.",
    401: "No login and no valid API token.",
    403: "The role does not suffice, or the CSRF token is missing.",
    404: "There is no such thing.",
    409: "Another job works on this shop, or the name is taken.",
    413: "The body is too large.",
    422: "The body or a parameter has another form than described.",
    503: "The database does not answer.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors of a route: those of every route, and the given ones."""
    documented: dict[int | str, dict[str, Any]] = {}
    for status in sorted({400, 401, 403, 413, 422, 503, *statuses}):
        documented[status] = {
            "model": Problem,
            "description": _DESCRIPTIONS[status],
            "content": {"application/problem+json": {}},
        }
    return documented

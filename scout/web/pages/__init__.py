"""Pages of the web application, one module per group, each with a `router`."""

from fastapi import APIRouter

from scout.web.pages import (
    account,
    attention,
    audit,
    deliveries,
    findings,
    imports,
    inspector,
    rules,
    runs,
    schedules,
    shop,
    shop_settings,
)

PAGE_ROUTERS: tuple[APIRouter, ...] = (
    attention.router,
    shop_settings.router,
    shop.router,
    findings.router,
    inspector.router,
    rules.router,
    runs.router,
    schedules.router,
    imports.router,
    deliveries.router,
    account.router,
    audit.router,
)
"""The routers of all pages."""

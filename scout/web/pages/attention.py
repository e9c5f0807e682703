"""The start page: shops that need a look, then all shops."""

from dataclasses import dataclass
from datetime import datetime

from starlette.exceptions import HTTPException
from starlette.responses import Response

from catalog.errors import UsageError
from catalog.models import RunState, utc_now
from catalog.storage.shop_list import NEVER_RUN, ShopFilter, ShopRow, ShopSort, count_shops
from catalog.storage.shop_list import read_shop_page as read_rows
from catalog.storage.trends import read_trends
from scout.attention import (
    dismiss_notice,
    read_notices,
    refresh_attention,
    restore_notice,
)
from scout.overview import describe_row
from scout.schedule.timetable import read_schedules
from scout.schedule.words import describe_cron
from scout.web.access.guard import Reviewer, Viewer, page_router
from scout.web.charts import sparkline
from scout.web.context import Context, Message
from scout.web.query_filters import parse_number
from scout.web.rendering import read_language
from scout.web.stored_rows import RowId

PAGE_SIZE = 50
"""Shops on one page of the list."""

MAX_NOTICES = 30
"""Notices on the start page at most; `?notices=all` shows them all."""

STATES = (*(str(state) for state in RunState if state != RunState.ABANDONED), NEVER_RUN)

router = page_router()

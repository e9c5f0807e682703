"""JSON with decimals and times as text."""

import json
from typing import Any

from starlette.responses import JSONResponse

from scout.terminal.output import json_default


class ScoutJSONResponse(JSONResponse):
    """JSON response with decimals and times as text."""

    def render(self, content: Any) -> bytes:
        """Encode the content as UTF-8 JSON."""
        return json.dumps(content, ensure_ascii=False, default=json_default).encode()

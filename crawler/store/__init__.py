"""Store fetched pages: item pipelines, page processing, repair of bodies."""

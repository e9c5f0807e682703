"""Settings of the Scrapy project: asyncio, politeness, nothing that a page could exploit.

Redirects and retries stay enabled for robots.txt only. Every page request sets `dont_redirect` and
`dont_retry`, because redirects and retries of pages are rows of the page table. Scrapy's spider
middlewares are disabled: the link filter and the page table do their work. By default Scrapy 2.19
opens a remote control and a telnet console, handles file and ftp URLs, and downloads up to 1 GiB.
"""

BOT_NAME = "scout"
SPIDER_MODULES = ["crawler.spider"]
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "Scout"

# Nothing that listens, stores cookies, or changes requests.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
COOKIES_ENABLED = False
HTTPPROXY_ENABLED = False
HTTPCACHE_ENABLED = False
REFERER_ENABLED = False
METAREFRESH_ENABLED = False
AUTOTHROTTLE_ENABLED = False  # crawler.frontier.throttle instead
MEMUSAGE_ENABLED = False
DOWNLOAD_HANDLERS = {"file": None, "data": None, "ftp": None, "s3": None}
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"  # the page table has each URL once

CONCURRENT_REQUESTS = 16  # in all; per shop the setting `concurrency` counts
CONCURRENT_ITEMS = 1
# Bytes: no bound, because pages that wait for their turn must not hold back those before them. The
# dispatcher bounds the pages in flight.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 1_000_000_000_000
DOWNLOAD_DELAY_JITTER = 0.0
DOWNLOAD_FAIL_ON_DATALOSS = True
DOWNLOAD_WARNSIZE = 0
RETRY_TIMES = 2  # of robots.txt
REDIRECT_MAX_TIMES = 5  # of robots.txt; RFC 9309 asks for at least five
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml;q=0.9,application/xml;q=0.8,*/*;q=0.5"
}

# Scrapy's base settings are replaced by the parts of them that are used. It imports all of them,
# also those that are disabled: the remote control alone loads aiohttp, and cookies load requests,
# which takes longer than the crawl of a small shop.
DOWNLOADER_MIDDLEWARES_BASE = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": 100,
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
    "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": 550,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": 590,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": 600,
    "scrapy.downloadermiddlewares.stats.DownloaderStats": 850,
}
DOWNLOADER_MIDDLEWARES: dict[str, int | None] = {
    "crawler.fetch.middlewares.SameSiteMiddleware": 60,
    "crawler.fetch.middlewares.RobotsStatusMiddleware": 560,
    "crawler.fetch.middlewares.StatusRangeMiddleware": 570,
}
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
EXTENSIONS_BASE = {
    "scrapy.extensions.corestats.CoreStats": 0,
    "scrapy.extensions.logcount.LogCount": 0,
    "scrapy.extensions.logstats.LogStats": 0,
}
EXTENSIONS = {"crawler.supervision.CrawlReporter": 0}
ITEM_PIPELINES = {"crawler.store.pipelines.FrontierPipeline": 0}

LOG_LEVEL = "INFO"
LOGSTATS_INTERVAL = 60.0  # seconds
STATS_DUMP = True

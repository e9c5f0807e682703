"""The Scrapy project's settings: asyncio, polite, and nothing that a crawled page could turn against us.

Redirects and retries stay switched on for robots.txt only; every page request says `dont_redirect` and `dont_retry`,
because a page's redirects and retries are rows of the page table. Scrapy's spider middlewares are off: what they look
after, the sieve and the page table do. Scrapy 2.19 would open a remote control and a telnet console, handle file and
ftp URLs, and download up to 1 GiB.
"""

BOT_NAME = "scout"
SPIDER_MODULES = ["crawler.spider"]
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "Scout"

TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
COOKIES_ENABLED = False
HTTPPROXY_ENABLED = False
HTTPCACHE_ENABLED = False
REFERER_ENABLED = False
METAREFRESH_ENABLED = False
AUTOTHROTTLE_ENABLED = False
MEMUSAGE_ENABLED = False
DOWNLOAD_HANDLERS = {"file": None, "data": None, "ftp": None, "s3": None}
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"

CONCURRENT_REQUESTS = 16
CONCURRENT_ITEMS = 1
DOWNLOAD_DELAY_JITTER = 0.0
DOWNLOAD_FAIL_ON_DATALOSS = True
DOWNLOAD_WARNSIZE = 0
RETRY_TIMES = 2
REDIRECT_MAX_TIMES = 5
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml;q=0.9,application/xml;q=0.8,*/*;q=0.5"
}

DOWNLOADER_MIDDLEWARES: dict[str, int | None] = {
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    "crawler.fetch.middlewares.OwnSiteOnly": 60,
    "crawler.fetch.middlewares.RobotsAnswer": 560,
}
SPIDER_MIDDLEWARES = dict.fromkeys(
    (
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
        "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
        "scrapy.spidermiddlewares.referer.RefererMiddleware",
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
        "scrapy.spidermiddlewares.depth.DepthMiddleware",
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
    )
)
EXTENSIONS = {"crawler.supervision.Lifeline": 0}
ITEM_PIPELINES = {"crawler.store.pipelines.Settle": 0}

LOG_LEVEL = "INFO"
LOGSTATS_INTERVAL = 60.0
STATS_DUMP = True

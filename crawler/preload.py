"""Imports of the crawl process: the modules that Scrapy would import by names in its settings.

The process server imports this module once, before it forks the processes of crawls. The reactor is
not among them: each process installs its own.
"""

import fsspec.implementations.local as fsspec_local
import scrapy.core.downloader.handlers.http11 as http_handler
import scrapy.crawler as scrapy_crawler
import scrapy.downloadermiddlewares.defaultheaders as default_headers
import scrapy.downloadermiddlewares.downloadtimeout as download_timeout
import scrapy.downloadermiddlewares.httpcompression as http_compression
import scrapy.downloadermiddlewares.robotstxt as robots_txt
import scrapy.downloadermiddlewares.stats as downloader_stats
import scrapy.downloadermiddlewares.useragent as user_agent
import scrapy.extensions.logcount as log_count
import scrapy.extensions.logstats as log_stats
import scrapy.logformatter as log_formatter
import scrapy.robotstxt as robots_parser
import scrapy.statscollectors as stats_collectors
from scrapy.core import engine
from scrapy.downloadermiddlewares import redirect, retry

from crawler import settings, spider, supervision

__all__ = (
    "default_headers",
    "download_timeout",
    "downloader_stats",
    "engine",
    "fsspec_local",
    "http_compression",
    "http_handler",
    "log_count",
    "log_formatter",
    "log_stats",
    "redirect",
    "retry",
    "robots_parser",
    "robots_txt",
    "scrapy_crawler",
    "settings",
    "spider",
    "stats_collectors",
    "supervision",
    "user_agent",
)

"""The report as a value: findings, statistics, causes and trend of one run."""

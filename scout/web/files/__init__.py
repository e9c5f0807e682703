"""Files that come and go: uploads, downloads made for one request, reports."""

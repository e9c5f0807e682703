"""Write a report as HTML, CSV, XLSX or JSON."""

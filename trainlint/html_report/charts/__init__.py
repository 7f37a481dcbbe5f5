"""Charts as data, drawn as SVG for the page, or handed on as Vega-Lite."""

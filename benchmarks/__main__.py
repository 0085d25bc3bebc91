"""All measurements, one after the other: `make bench`."""

from __future__ import annotations

from benchmarks import content_pane, first_paint, idle, streaming

for benchmark in (content_pane, first_paint, idle, streaming):
    benchmark.main()

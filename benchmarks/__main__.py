"""All measurements, one after the other: `make bench`."""

from __future__ import annotations

from benchmarks import first_paint, idle, streaming

for benchmark in (first_paint, idle, streaming):
    benchmark.main()

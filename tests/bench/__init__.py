"""Benchmarks: what is compared runs in one go, interleaved, and ratios are what counts."""

"""Benchmarks: what is compared runs in one go, interleaved, and the ratio of the medians is what counts."""

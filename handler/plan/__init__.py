"""What a cadence of ticks means for the jobs of an app: how long they wait, and what a month of it costs."""

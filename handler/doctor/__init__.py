"""What may slow or endanger the jobs, looked for from outside: each finding with why it matters and its mend."""

"""What probability says: binomial tails, priors over prunings, whether two samples share rows."""

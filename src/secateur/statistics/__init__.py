"""What probability says: binomial tails, priors over prunings, whether two samples share rows."""

PROBABILITIES = {
    "shrunk": "the shares of the leaf, shrunk towards those of the nodes above it",
    "frequency": "the class shares of the growing rows in the leaf",
    "m-estimate": "the same with two rows more, distributed as in the root",
    "mixture": "the mean over all prunings of the pruned tree, each weighted by its growing errors",
}

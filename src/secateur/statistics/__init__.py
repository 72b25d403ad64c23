"""Statistics: binomial tails, priors over prunings, class probabilities, rankings, and whether samples share rows."""

PROBABILITIES = {
    "shrunk": "the shares of the leaf, shrunk towards those of the nodes above it",
    "frequency": "the class shares of the growing rows in the leaf",
    "m-estimate": "the class shares of the growing rows in the leaf and of two more rows, distributed as in the root",
    "mixture": "the mean over all prunings of the pruned tree, each weighted by its growing errors",
}

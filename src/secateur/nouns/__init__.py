"""The frozen things that verbs take and return: trees, samples counted in them, prunings, bounds, models."""

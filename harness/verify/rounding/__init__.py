"""How far rounding alone can carry one step of a reference, and the tolerances that follow."""

"""How strong a task's tests are: faults are planted in a verified candidate, and the levels have to find them."""

"""What is reached of a reference: which of its lines, branches and features the tests of each level reach; and of a crate.

What is judged is never instrumented. What a level asked it is written down, and asked again of another worker, which
counts; docs/coverage.md says how, and what the figures do not say.
"""

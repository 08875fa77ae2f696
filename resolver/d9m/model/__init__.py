"""Types of everything that is said of determinism: records, conditions, versions, questions and
answers. No I/O, no search.
"""

"""Certification: one verified commit judged once more, by everything there is, and one signed summary of it.

`examination` runs all that a certificate rests on, from a commit and a seed alone; `issue` does it for the newest verified
commit of a session and signs it; `recheck` lets somebody else, who has the record and nothing more, come to it again.
"""

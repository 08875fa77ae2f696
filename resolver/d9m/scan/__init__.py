"""Reads a project's own code and job files, without running them: is what they set in time, right
and enough?
"""

"""The commands that record and compare programs: trace, diff and hunt."""

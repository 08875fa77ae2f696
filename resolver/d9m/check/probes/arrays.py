# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""The arithmetic that adapters of frameworks with NumPy share. Its text comes before theirs."""

import numpy as np


class Arrays:
    def counters(self, count):
        return np.arange(count, dtype=np.int64)

    def real(self, values):
        return np.asarray(values).astype(np.float64)

    def table(self, values):
        return np.array(values, dtype=np.float64)

    def order(self, values):
        return np.argsort(values, kind="stable")

    def distance(self, value, exact):
        """Largest error over the largest true value, and a fingerprint of the truth."""
        error, largest, total = 0.0, 0.0, 0.0
        for one, true in zip(self.parts(value), self.parts(exact)):
            one, true = self.doubles(one).reshape(-1), self.doubles(true).reshape(-1)
            if one.shape != true.shape or not np.array_equal(np.isfinite(one), np.isfinite(true)):
                return {"error": None, "norm": 0.0}
            both = np.isfinite(true)
            if both.any():
                largest = max(largest, float(np.abs(true[both]).max()))
                error = max(error, float(np.abs(one[both] - true[both]).max()))
                total += float((true[both] ** 2).sum())
        return {"error": error / largest if largest else error, "norm": total**0.5}

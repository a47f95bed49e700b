"""k-means of other libraries on scaled records, for `cargo xtask reproduce peers --peers PYTHON`.

Usage: clustering.py RECORDS.csv K EPSILON. Records lie in [-1, 1] per column. Prints one line a method: name, median seconds, and the mean
cost of each of 20 runs (scikit-learn, which is not private: one).
"""

import statistics
import sys
import time
import warnings

import numpy as np
from diffprivlib.models import KMeans as PrivateKMeans
from sklearn.cluster import KMeans

RUNS = 20


def mean_cost(records, centers):
    """Mean squared distance to the nearest center, in parts that fit in memory."""
    total = 0.0
    for part in np.array_split(records, max(1, len(records) // 10_000)):
        distances = ((part[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
        total += distances.min(axis=1).sum()
    return total / len(records)


def main():
    records = np.loadtxt(sys.argv[1], delimiter=",", ndmin=2)
    k, epsilon = int(sys.argv[2]), float(sys.argv[3])
    dimension = records.shape[1]
    bounds = (-np.ones(dimension), np.ones(dimension))
    warnings.simplefilter("ignore")

    costs, seconds = [], []
    for run in range(RUNS):
        start = time.perf_counter()
        model = PrivateKMeans(k, epsilon=epsilon, bounds=bounds, random_state=run).fit(records)
        seconds.append(time.perf_counter() - start)
        costs.append(mean_cost(records, model.cluster_centers_))
    print("diffprivlib", statistics.median(seconds), *costs, sep=",")

    start = time.perf_counter()
    model = KMeans(k, n_init=3, random_state=0).fit(records)
    elapsed = time.perf_counter() - start
    print("scikit-learn (not private)", elapsed, mean_cost(records, model.cluster_centers_), sep=",")


if __name__ == "__main__":
    main()

"""One iteration of scikit-learn's GaussianMixture with full covariances, timed on request: the peer of `reproduce gmm em`.

Reads commands from standard input, one a line, and answers each with one line:

    case <n> <d> <k>         says the sizes; answers "ready"
    means <k*d numbers>      of the start; answers "ready"
    covariances <k*d*d ...>  of the start; makes as many records of that mixture; answers "ready"
    round                    runs one expectation and one maximization from the start; answers its nanoseconds
"""

import sys
import time

import numpy as np
from sklearn.mixture import GaussianMixture


def main() -> None:
    n = d = k = 0
    means = covariances = records = None
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "case":
            n, d, k = map(int, rest)
            print("ready", flush=True)
        elif word == "means":
            means = np.array(rest, float).reshape(k, d)
            print("ready", flush=True)
        elif word == "covariances":
            covariances = np.array(rest, float).reshape(k, d, d)
            rng = np.random.default_rng(1)
            labels = rng.integers(0, k, n)
            lowers = np.linalg.cholesky(covariances)
            normals = rng.standard_normal((n, d))
            records = means[labels] + np.einsum("nij,nj->ni", lowers[labels], normals)
            print("ready", flush=True)
        elif word == "round":
            model = GaussianMixture(k, covariance_type="full")
            model.weights_ = np.full(k, 1.0 / k)
            model.means_ = means.copy()
            model.covariances_ = covariances.copy()
            lowers = np.linalg.cholesky(covariances)
            model.precisions_cholesky_ = np.linalg.inv(lowers).transpose(0, 2, 1).copy()
            start = time.perf_counter_ns()
            _, log_responsibilities = model._e_step(records)
            model._m_step(records, log_responsibilities)
            print(time.perf_counter_ns() - start, flush=True)
        else:
            print("unknown", flush=True)


if __name__ == "__main__":
    main()

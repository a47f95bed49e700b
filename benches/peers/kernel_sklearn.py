"""One Lloyd iteration of scikit-learn, timed on request: the peer of `benches/kernel.rs`.

Reads commands from standard input, one a line, and answers each with one line:

    case <f32|f64> <n> <d> <k> <threads>   makes the records and centers; answers "ready"
    round                                  runs one iteration; answers its nanoseconds
    counts                                 answers the cluster sizes of the last iteration

Records are a hash of their position, so that both processes have the same ones without a file.
"""

import sys
import time

import numpy as np
from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense
from threadpoolctl import threadpool_limits

CHUNK = 1 << 20


def lattice_values(first: int, count: int, dtype: type) -> np.ndarray:
    """Values first..first + count of the sequence: multiples of 2^-22 within [-1, 1)."""
    out = np.empty(count, dtype)
    for start in range(0, count, CHUNK):
        end = min(start + CHUNK, count)
        z = np.arange(first + start, first + end, dtype=np.uint64)
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        out[start:end] = (z >> np.uint64(41)).astype(np.float64) / (1 << 22) - 1.0
    return out


class Case:
    """The arrays of one Lloyd iteration."""

    def __init__(self, dtype: type, n: int, d: int, k: int, threads: int) -> None:
        self.records = lattice_values(k * d, n * d, dtype).reshape(n, d)
        self.centers = lattice_values(0, k * d, dtype).reshape(k, d)
        self.weights = np.ones(n, dtype)
        self.new_centers = np.zeros_like(self.centers)
        self.counts = np.zeros(k, dtype)
        self.labels = np.full(n, -1, dtype=np.int32)
        self.shift = np.zeros(k, dtype)
        self.threads = threads

    def round(self) -> int:
        start = time.perf_counter_ns()
        lloyd_iter_chunked_dense(
            self.records,
            self.weights,
            self.centers,
            self.new_centers,
            self.counts,
            self.labels,
            self.shift,
            self.threads,
        )
        return time.perf_counter_ns() - start


def main() -> None:
    case = None
    # As KMeans does: its threads are its own, each calls BLAS on one thread.
    with threadpool_limits(limits=1, user_api="blas"):
        for line in sys.stdin:
            command, *words = line.split()
            if command == "case":
                case = None  # frees the last one first
                dtype = {"f32": np.float32, "f64": np.float64}[words[0]]
                case = Case(dtype, *map(int, words[1:]))
                print("ready", flush=True)
            elif command == "round":
                print(case.round(), flush=True)
            elif command == "counts":
                print(*case.counts.astype(int), flush=True)


if __name__ == "__main__":
    main()

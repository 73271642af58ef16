"""Stan's side of sampling.py, run by an interpreter that has PyStan 3: `python run_pystan.py JOB.json RESULT.json`.

The job holds program, data and iterations; the result the seconds to build and to sample, and the parameters' draws.
"""
import json
import re
import sys
import time

import stan


def elapsed(outputs):
    """The seconds of warm-up and sampling that Stan itself reports, of all chains together."""
    text = b"".join(outputs).decode()
    return sum(float(s) for s in re.findall(r"([\d.]+) seconds \(Total\)", text))


def main(job, result):
    with open(job) as f:
        job = json.load(f)
    start = time.perf_counter()
    model = stan.build(job["program"], data=job["data"], random_seed=1)
    built = time.perf_counter()
    fit = model.sample(num_chains=job["chains"], num_warmup=job["warmup"], num_samples=job["draws"])
    sampled = time.perf_counter()
    shape = (-1, job["draws"], job["chains"])
    draws = {n: fit[n].reshape(shape, order="F").transpose(2, 1, 0).tolist() for n in job["parameters"]}
    out = dict(build=built - start, wall=sampled - built, elapsed=elapsed(fit.stan_outputs), draws=draws)
    with open(result, "w") as f:
        json.dump(out, f)


if __name__ == "__main__":
    main(*sys.argv[1:])

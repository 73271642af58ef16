"""Stan's side of sampling.py, run by an interpreter that has PyStan 3: `python run_pystan.py JOB.json RESULT.json`.

The job holds program, data and iterations; the result the processor time to build and to sample, and the draws.
"""
import json
import resource
import sys
import time

import httpstan.services_stub
import stan


def children():
    """The processor time in seconds of the processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(job, result):
    with open(job) as f:
        job = json.load(f)
    start = time.process_time() + children()
    model = stan.build(job["program"], data=job["data"], random_seed=1)
    build = time.process_time() + children() - start
    before = children()
    fit = model.sample(num_chains=job["chains"], num_warmup=job["warmup"], num_samples=job["draws"])
    httpstan.services_stub.executor.shutdown(wait=True)  # the chains' processes end
    shape = (-1, job["draws"], job["chains"])  # in PyStan's last axis the chain varies fastest
    draws = {n: fit[n].reshape(shape).transpose(2, 1, 0).tolist() for n in job["parameters"]}
    steps = int(fit["n_leapfrog__"].sum())
    with open(result, "w") as f:
        json.dump(dict(build=build, sampling=children() - before, draws=draws, steps=steps), f)


if __name__ == "__main__":
    main(*sys.argv[1:])

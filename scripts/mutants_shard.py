"""Keep every N-th mutant of a cosmic-ray session: mark the others as skipped, as cosmic-ray's own filters do.

`python -m scripts.mutants_shard SESSION K/N` prints how many are left.
"""

import argparse

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("session")
    parser.add_argument("shard")
    given = parser.parse_args()
    k, n = map(int, given.shard.split("/"))
    with use_db(given.session, WorkDB.Mode.open) as session:
        places = {}
        for item in session.pending_work_items:
            (mutation,) = item.mutations
            places[item.job_id] = (mutation.module_path, mutation.start_pos, mutation.operator_name, mutation.occurrence)
        # Sort by places in the source, because job_ids and the session's order are random.
        inside = sorted(places, key=places.__getitem__)
        for number, job_id in enumerate(inside):
            if number % n != k:
                session.set_result(job_id, WorkResult(output="another shard", worker_outcome=WorkerOutcome.SKIPPED))
    print(f"{len(range(k, len(inside), n))} of {len(inside)} mutants")


if __name__ == "__main__":
    main()

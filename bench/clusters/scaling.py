"""From measured constants to times on 1 to 1,000 cores: a calculation, not a measurement.

    python bench/clusters/scaling.py --rate 3400 --overhead 0.10 --driver 0.053 --merge 0.047

Every node is one worker with all its cores. The driver makes parameters, merges the statistics of the nodes one after the
other, and absorbs them. With more than eight nodes Ray merges on the nodes first, in as many groups as the square root of their
number says, all groups at the same time.
"""

import argparse
import math

CORES = (1, 2, 4, 16, 64, 256, 1000)


def update_seconds(cores, batch, constants, staleness):
    """E-steps on all cores, what the engine adds, and what the driver does alone."""
    e_step = batch / (constants.rate * cores)
    if cores <= constants.cores_per_node:
        return e_step + constants.driver  # one machine needs no engine
    nodes = math.ceil(cores / constants.cores_per_node)
    groups = math.isqrt(nodes) if nodes > constants.few else 0
    merges = nodes if groups == 0 else math.ceil(nodes / groups) + groups
    around = constants.overhead + constants.driver + constants.merge * merges
    # With parameters that are one update old, only what does not fit beside the E-step is waited for.
    return max(e_step, around) if staleness else e_step + around


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, required=True, help="documents per core-second")
    parser.add_argument("--overhead", type=float, required=True, help="seconds that the engine adds to an update")
    parser.add_argument("--driver", type=float, required=True, help="seconds for parameters and absorbing")
    parser.add_argument("--merge", type=float, required=True, help="seconds to merge the statistics of a node")
    parser.add_argument("--few", type=int, default=8, help="nodes whose statistics the driver merges alone")
    parser.add_argument("--cores-per-node", type=int, default=16)
    parser.add_argument("--documents", type=float, default=1e9)
    parser.add_argument("--batch", type=float, nargs="+", default=[5_000, 50_000, 500_000])
    constants = parser.parse_args()
    print(f"{constants.documents:,.0f} documents, hours of a pass with staleness 0 / 1\n")
    print("| cores | " + " | ".join(f"minibatches of {batch:,.0f}" for batch in constants.batch) + " |")
    print("|---:|" + "---:|" * len(constants.batch))
    for cores in CORES:
        cells = []
        for batch in constants.batch:
            updates = constants.documents / batch / 3600
            both = [updates * update_seconds(cores, batch, constants, staleness) for staleness in (0, 1)]
            cells.append(" / ".join(f"{hours:.3g}" for hours in both))
        print(f"| {cores:,} | " + " | ".join(cells) + " |")
    one = constants.cores_per_node
    for batch in constants.batch:
        alone = update_seconds(one, batch, constants, 0)
        more = (nodes for nodes in range(2, 200) if update_seconds(nodes * one, batch, constants, 0) < alone)
        first = next(more, None)
        best = min(range(1, 200), key=lambda nodes: update_seconds(nodes * one, batch, constants, 0))
        print(f"\nminibatches of {batch:,.0f}: faster than one node from {first} nodes on; the best number is {best}")


if __name__ == "__main__":
    main()

"""From measured constants to times on 1 to 1,000 cores: a calculation, not a measurement.

    python bench/clusters/scaling.py --rate 1500 --overhead 0.15 --driver 0.08 --documents 1e6 1e8
"""

import argparse


def hours(documents, cores, rate, batch, overhead, driver, staleness):
    """A pass in minibatches of `batch`: E-steps on all cores, what the engine adds to an update, and the driver alone."""
    e_step = batch / (rate * cores)
    around = 0 if cores == 1 else overhead
    # With parameters that are one update old, only what does not fit beside the E-step is waited for.
    update = max(e_step, around + driver) if staleness and cores > 1 else e_step + around + driver
    return documents / batch * update / 3600


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, required=True, help="documents per core-second")
    parser.add_argument("--overhead", type=float, required=True, help="seconds that the engine adds to an update")
    parser.add_argument("--driver", type=float, required=True, help="seconds for parameters, merging and absorbing")
    parser.add_argument("--documents", type=float, nargs="+", default=[1e6, 1e8])
    parser.add_argument("--batch", type=float, nargs="+", default=[5_000, 50_000, 500_000])
    arguments = parser.parse_args()
    constants = (arguments.overhead, arguments.driver)
    for documents in arguments.documents:
        print(f"\n{documents:,.0f} documents, hours of a pass (staleness 0 / 1)\n")
        print("| cores | " + " | ".join(f"minibatches of {batch:,.0f}" for batch in arguments.batch) + " |")
        print("|---|" + "---|" * len(arguments.batch))
        for cores in (1, 2, 4, 16, 64, 256, 1000):
            cells = []
            for batch in arguments.batch:
                both = [hours(documents, cores, arguments.rate, batch, *constants, staleness) for staleness in (0, 1)]
                cells.append(" / ".join(f"{value:.3g}" for value in both))
            print(f"| {cores} | " + " | ".join(cells) + " |")
    for batch in arguments.batch:
        alone = batch / arguments.rate + arguments.driver
        paying = next((cores for cores in range(2, 2000) if batch / (arguments.rate * cores) + sum(constants) < alone), None)
        half = next(
            (cores for cores in range(1, 100_000) if batch / (arguments.rate * cores) < sum(constants)), None
        )
        print(f"\nminibatches of {batch:,.0f}: faster than one core from {paying} cores on; "
              f"from {half} cores on, more than half of an update is not the E-step")


if __name__ == "__main__":
    main()

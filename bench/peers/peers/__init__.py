"""One module per program. Each has SETTINGS (variants by name) and `train(job)`.

`train` does its work inside `with job.clock:` and calls `job.snapshot(...)` outside of it; only what is inside is
timed. Turning counts into whatever form the program wants is not timed, just as reading is not timed for ours.
"""

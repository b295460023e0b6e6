//! Who runs first: threads that answer requests, before those that learn and make views.

/// How much lower than that of requests the priority of learning and of making views is.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Lowers the priority of this thread, and of those that it starts. Only Linux has priorities of threads.
pub fn yield_to_requests() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!(%error, "the priority could not be lowered");
    }
}

/// The turns that a thread takes while it answers, in nanoseconds: the shortest that Linux knows.
#[cfg(target_os = "linux")]
const TURN_NANOSECONDS: u64 = 100_000;

/// Asks for short turns for this thread. A thread that wakes up waits until the turn of the one that runs is over, some
/// milliseconds, unless its own turns are shorter (Linux 6.12 and newer; older ones ignore this). A lower priority of the other
/// does not spare it that.
#[cfg(target_os = "linux")]
pub fn answer_at_once() {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: rustix::process::getpriority_process(None).unwrap_or(0),
        sched_priority: 0,
        sched_runtime: TURN_NANOSECONDS,
        sched_deadline: 0,
        sched_period: 0,
    };
    #[allow(unsafe_code, reason = "the kernel reads a structure that names its own size")]
    // SAFETY: `attributes` outlives the call, and 0 is this thread.
    let refused = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) } != 0;
    if refused {
        tracing::debug!(error = %std::io::Error::last_os_error(), "short turns were refused");
    }
}

#[cfg(not(target_os = "linux"))]
pub fn answer_at_once() {}

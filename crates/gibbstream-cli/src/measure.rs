//! Memory: what the program has had, and what the machine has.

/// The most memory that the program has had at once, in MiB, where the system tells.
pub fn peak_rss_mib() -> Option<f64> {
    status_kib("VmHWM:").map(|kib| kib as f64 / 1024.0)
}

/// The bytes of the program itself that are in memory, where the system tells. How many there are depends on the size of
/// the pages that its file is in.
pub fn program_bytes() -> Option<u64> {
    status_kib("RssFile:").map(|kib| kib * 1024)
}

fn status_kib(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The memory of this machine in bytes, where the system tells.
pub fn total_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

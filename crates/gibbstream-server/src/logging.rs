//! What the service says while it runs, on standard error.

use tracing::Level;

/// Says as much as is wanted from now on, as text or as JSON lines. Only the first call counts.
pub fn start_logging(level: Level, json: bool) {
    let lines =
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    let _ = if json {
        tracing::subscriber::set_global_default(lines.json().flatten_event(true).finish())
    } else {
        tracing::subscriber::set_global_default(lines.with_ansi(false).finish())
    };
}

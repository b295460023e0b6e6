//! The `gibbstream` program; all of it is in the library beside it.

fn main() -> std::process::ExitCode {
    gibbstream_cli::main()
}

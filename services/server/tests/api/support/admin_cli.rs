//! The command line `knowhow admin`, called with a caller's token.

use std::process::Output;

use serde_json::Value;

use crate::callers::Caller;
use crate::service::knowhow;

/// Runs `knowhow admin` with the caller's token.
pub fn run(caller: &Caller, arguments: &[&str]) -> Output {
    let mut command = knowhow(&["admin", "--url", caller.url(), "--token", caller.token.as_deref().unwrap()]);
    command.args(arguments).output().unwrap()
}

/// Returns the output of a command that succeeds.
#[track_caller]
pub fn printed(caller: &Caller, arguments: &[&str]) -> String {
    let output = run(caller, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the output of a command with `--json`.
#[track_caller]
pub fn json_of(caller: &Caller, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(caller, &[arguments, &["--json"]].concat())).unwrap()
}

/// Asserts that a command fails without output, and that its error contains `words`.
#[track_caller]
pub fn fails(caller: &Caller, arguments: &[&str], words: &str) {
    let output = run(caller, arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains(words), "{arguments:?}: {error}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
}

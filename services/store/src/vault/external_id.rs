//! Rules for the external ids of users.

use knowhow_domain::{Error, Result};
use percent_encoding::percent_decode_str;

/// Checks the external id of a new user. Clients and proxies resolve `.` and `..` in a path, also if they are
/// percent-encoded or between slashes. So requests about a user with such an id would go to another path.
///
/// # Errors
/// `Malformed` with the rule.
pub(crate) fn check_new_external_id(external: &str) -> Result<()> {
    check_external_id(external)?;
    let mut decoded = external.to_owned();
    loop {
        let is_dots = |part: &str| !part.is_empty() && part.trim().chars().all(|c| c == '.');
        if decoded.split(['/', '\\']).any(is_dots) {
            return Err(Error::Malformed(
                "no user can be created with this external id: clients and proxies resolve '.' and '..' in a path, also between \
                 slashes and percent-encoded; use another id"
                    .into(),
            ));
        }
        // Decoding is repeated, because several proxies may each decode the path.
        let next = percent_decode_str(&decoded).decode_utf8_lossy().into_owned();
        if next == decoded {
            return Ok(());
        }
        decoded = next;
    }
}

/// Checks an external id: 1 to 255 characters, no control characters, no blanks around it.
///
/// # Errors
/// `Malformed` with the rule.
pub fn check_external_id(external: &str) -> Result<()> {
    let length = external.chars().count();
    if length == 0 || length > 255 || external.chars().any(char::is_control) || external.trim() != external {
        return Err(Error::Malformed(
            "a user's external id has 1 to 255 characters, no control characters and no blanks around it".into(),
        ));
    }
    Ok(())
}

//! Normalises the paths of an archive. Paths of resources are validated later, by `ResourcePath`.

const MAX_PATH: usize = 1024;
const MAX_DEPTH: usize = 32;

/// Returns the normalised path: relative, with `/` between segments, and without `.` segments.
///
/// # Errors
/// The reason why the path is invalid or does not lie below the archive's root.
pub(super) fn plain(raw: &[u8]) -> Result<String, &'static str> {
    let path = std::str::from_utf8(raw).map_err(|_| "has a path that is not UTF-8")?;
    if path.len() > MAX_PATH {
        return Err("has a path that is too long");
    }
    if path.starts_with('/') {
        return Err("has an absolute path");
    }
    if matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) {
        return Err("has a path with the name of a drive");
    }
    let inner = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = inner.split('/').filter(|segment| *segment != ".").collect();
    if segments.is_empty() || segments.contains(&"") {
        return Err("has a path with an empty segment");
    }
    if segments.contains(&"..") {
        return Err("has a path that leaves its folder");
    }
    if segments.len() > MAX_DEPTH {
        return Err("has a path that is too deep");
    }
    Ok(segments.join("/"))
}

/// Returns an invalid path as text for the report.
pub(super) fn shown(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(MAX_PATH).collect()
}

/// Returns the `.git` folder that contains a path, if there is one.
pub(super) fn git_folder(path: &str) -> Option<&str> {
    let mut end = 0;
    for segment in path.split('/') {
        end += segment.len();
        if segment == ".git" {
            return Some(&path[..end]);
        }
        end += 1;
    }
    None
}

/// Returns whether an operating system created the file, e.g. `.DS_Store`.
pub(super) fn is_left_behind(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|segment| segment == "__MACOSX")
        || last == ".DS_Store"
        || last.starts_with("._")
        || last.eq_ignore_ascii_case("thumbs.db")
}

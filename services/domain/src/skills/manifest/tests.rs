use super::*;

fn entry(path: &str, executable: bool) -> ResourceEntry {
    ResourceEntry {
        path: path.to_owned(),
        media_type: "text/plain".to_owned(),
        size: 1,
        digest: hex(&digest(b"x")),
        executable,
    }
}

#[test]
fn the_executable_bit_changes_the_digest_only_if_it_is_set() {
    let digest = |files: &[ResourceEntry]| hex(&state_digest(&[7; 32], files));
    let plain = digest(&[entry("a", false), entry("b", false)]);
    // This digest was computed before the executable bit existed.
    assert_eq!(plain, "07eb67830720d8f54f8a47fb36f3d0180863d77243ed44046ee9913072ced0ce");
    let [first, second] = [[true, false], [false, true]].map(|[a, b]| digest(&[entry("a", a), entry("b", b)]));
    assert!(plain != first && plain != second && first != second);
    let stored = serde_json::to_value(entry("a", false)).unwrap();
    assert_eq!(stored.get("executable"), None);
    assert_eq!(serde_json::from_value::<ResourceEntry>(stored).unwrap(), entry("a", false));
}

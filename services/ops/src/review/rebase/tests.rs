use super::*;

#[test]
fn different_lines_are_merged_and_changes_of_the_same_line_conflict() {
    let base = "a\nb\nc\nd\ne\nf\ng\n";
    let merged = merge(base, &base.replace("a\n", "A\n"), &base.replace("g\n", "G\n")).unwrap();
    assert_eq!(merged, "A\nb\nc\nd\ne\nf\nG\n");
    let conflict = merge(base, &base.replace("a\n", "x\n"), &base.replace("a\n", "y\n")).unwrap_err();
    assert_eq!(conflict.code(), "merge-conflict");
}

#[test]
fn each_file_is_merged_as_a_whole() {
    let file = |path: &str, digest: &str| ResourceEntry {
        executable: false,
        path: path.into(),
        size: 1,
        digest: digest.into(),
        media_type: "text/plain".into(),
    };
    let base = [file("a", "1"), file("b", "1"), file("gone", "1")];
    let current = [file("a", "2"), file("b", "1"), file("gone", "1"), file("mine", "1")];
    let proposed = [file("a", "1"), file("b", "3"), file("new", "1")];
    let merged = merge_files(&base, &current, &proposed).unwrap();
    let shown: Vec<_> = merged.iter().map(|entry| (entry.path.as_str(), entry.digest.as_str())).collect();
    assert_eq!(shown, [("a", "2"), ("b", "3"), ("mine", "1"), ("new", "1")]);
    let other = [file("a", "9"), file("b", "1"), file("gone", "1")];
    assert_eq!(merge_files(&base, &current, &other).unwrap_err().code(), "merge-conflict");
}

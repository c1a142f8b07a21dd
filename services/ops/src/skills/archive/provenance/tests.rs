use super::*;

fn entry(path: &str, text: &str) -> PackedFile {
    PackedFile::plain(path, text.as_bytes().to_vec())
}

#[test]
fn a_tainted_skill_is_found_by_its_path_or_its_bytes() {
    let mut files = vec![entry("mcp/email/SKILL.md", "text"), entry("plan/SKILL.md", "clean")];
    let mut provenance = Provenance::default();
    let sha256 = manifest::hex(&manifest::digest(b"text"));
    provenance.add("mcp/email/SKILL.md", sha256, vec!["a mail".into()]);
    files.extend(provenance.write().unwrap());
    let read = Provenance::take(&mut files).unwrap();
    assert_eq!(files.len(), 2);
    for (path, text, is_tainted) in [
        ("mcp/email/SKILL.md", "changed", true),
        ("all/mcp/email/SKILL.md", "changed", true),
        ("renamed/SKILL.md", "text", true),
        ("plan/SKILL.md", "clean", false),
        ("xmcp/email/SKILL.md", "changed", false),
    ] {
        let found = read.find(path, text.as_bytes());
        assert_eq!(found, is_tainted.then(|| vec!["a mail".to_owned()]), "{path}");
    }
}

#[test]
fn an_unreadable_provenance_file_is_refused() {
    assert!(Provenance::take(&mut vec![entry("a/knowhow-provenance.json", "{")]).is_err());
    let mut files = vec![entry("a/b/knowhow-provenance.json", "{"), entry("a/b/SKILL.md", "x")];
    assert_eq!(Provenance::take(&mut files).unwrap(), Provenance::default());
    assert_eq!(Provenance::default().write().unwrap(), None);
}

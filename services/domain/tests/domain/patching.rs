//! Patches of whole skills: atomicity, the search for the old text, and repeated patches.

use knowhow_domain::skills::patch::{Edit, Patched, Strategy, apply_edits, edits_digest};
use knowhow_domain::{Error, Limits, SkillDocument};

const RAW: &str =
    "---\nname: a # n\ndescription: Hello—world\ntags: [x]\n---\n\n# Title\n\nfoo   bar baz\nword word\nlast\n";

fn doc() -> SkillDocument {
    SkillDocument::parse(RAW, &Limits::default()).unwrap()
}

fn edit(old: &str, new: &str) -> Edit {
    Edit { old_string: old.into(), new_string: new.into(), replace_all: false, path: None }
}

fn at(path: &str, old: &str, new: &str) -> Edit {
    Edit { path: Some(path.into()), ..edit(old, new) }
}

fn patch_on(doc: &SkillDocument, edits: &[Edit]) -> Result<Patched, Error> {
    let resources = |path: &str| (path == "references/api.md").then(|| "one\ntwo\n".to_owned());
    apply_edits(doc, &resources, edits, &Limits::default())
}

fn patch(edits: &[Edit]) -> Result<Patched, Error> {
    patch_on(&doc(), edits)
}

#[test]
fn edits_search_the_body_before_the_frontmatter() {
    for (edits, from, to, matched) in [
        (vec![edit("last", "end")], "last", "end", Strategy::Exact),
        (vec![edit("foo bar", "XY")], "foo   bar", "XY", Strategy::Whitespace),
        (vec![edit("tags: [x]", "tags: [y]")], "[x]", "[y]", Strategy::Exact),
        (vec![edit("Hello--world", "Bye--world")], "Hello", "Bye", Strategy::Unicode),
        (vec![at("frontmatter", "# n", "# m")], "# n", "# m", Strategy::Exact),
        (vec![at("SKILL.md", "---\n\n# Title", "---\n\n# T")], "# Title", "# T", Strategy::Exact),
    ] {
        let patched = patch(&edits).unwrap();
        assert_eq!(patched.document.raw(), RAW.replace(from, to));
        assert_eq!((patched.matched, patched.replacements, patched.unchanged), (matched, 1, false));
    }
    let shadowed = SkillDocument::parse(&RAW.replace("[x]", "[last]"), &Limits::default()).unwrap();
    let patched = patch_on(&shadowed, &[edit("last", "end")]).unwrap();
    assert!(patched.document.raw().contains("[last]"));
    assert!(matches!(patch(&[at("frontmatter", "last", "absent")]), Err(Error::PatchNoMatch { edit: 0, .. })));
}

#[test]
fn edits_apply_in_order_and_all_or_none() {
    let patched = patch(&[edit("last", "end"), edit("end", "fin"), edit("foo bar", "q")]).unwrap();
    assert!(patched.document.content().ends_with("q baz\nword word\nfin\n"));
    assert_eq!((patched.replacements, patched.matched), (3, Strategy::Whitespace));
    let error = patch(&[edit("last", "end"), edit("foo", "x"), edit("lost", "y")]).unwrap_err();
    let Error::PatchNoMatch { edit: 2, closest, .. } = error else { panic!("{error:?}") };
    assert!(!closest.is_empty());
    let error = patch(&[edit("last", "end"), edit("word", "x")]).unwrap_err();
    let Error::PatchAmbiguous { edit: 1, matches } = error else { panic!("{error:?}") };
    assert_eq!(
        matches.iter().map(|m| (m.line, m.text.as_str())).collect::<Vec<_>>(),
        [(4, "word word"), (4, "word word")]
    );
}

#[test]
fn a_patch_must_leave_a_valid_skill_with_the_same_name() {
    for (edits, words) in [
        (vec![edit("description: Hello—world\n", "")], "/description"),
        (vec![edit("tags: [x]", "tags: [x")], "not valid YAML"),
        (vec![edit("name: a", "name: b")], "cannot rename"),
        (vec![at("SKILL.md", "---\nname", "name")], "no frontmatter"),
        (vec![edit("last", &"x".repeat(300_000))], "too large"),
        (vec![edit(" ", "x")], "/edits/0/old_string"),
        (vec![edit("last", "end"), edit("foo", "foo")], "/edits/1/old_string"),
        (vec![], "/edits"),
        (vec![edit("last", "end"); 101], "/edits"),
        (vec![at("references/none.md", "a", "b")], "no such resource"),
        (vec![at("../x", "a", "b")], "/edits/0/path"),
    ] {
        let error = patch(&edits).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let whole = SkillDocument::parse("---\nname: a\ndescription: d\n---\nonly", &Limits::default()).unwrap();
    assert!(patch_on(&whole, &[edit("only", "")]).unwrap_err().to_string().contains("no text after"));
}

#[test]
fn resources_are_patched_too() {
    let patched = patch(&[at("references/api.md", "two", "2"), at("references/api.md", "one", "1")]).unwrap();
    let texts: Vec<_> = patched.resources.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!((texts, patched.document.raw()), (vec![("references/api.md", "1\n2\n")], RAW));
    assert!(!patched.unchanged);
}

#[test]
fn a_repeated_patch_does_not_match_its_own_result() {
    let edits = [edit("foo   bar", "new\nlines"), at("frontmatter", "[x]", "[y]")];
    let once = patch(&edits).unwrap().document;
    assert!(matches!(patch_on(&once, &edits), Err(Error::PatchNoMatch { edit: 0, .. })));
    assert!(matches!(patch(&[edit("gone", "")]), Err(Error::PatchNoMatch { edit: 0, .. })));
    assert_eq!(edits_digest(&edits), edits_digest(&edits.clone()));
    assert_ne!(edits_digest(&edits), edits_digest(&edits[..1]));
}

#[test]
fn different_edits_have_different_digests() {
    let all = [
        vec![edit("a", "b")],
        vec![edit("ab", "")],
        vec![edit("a", "b"), edit("c", "d")],
        vec![at("frontmatter", "a", "b")],
        vec![Edit { replace_all: true, ..edit("a", "b") }],
    ];
    for (index, edits) in all.iter().enumerate() {
        assert!(all.iter().skip(index + 1).all(|other| edits_digest(other) != edits_digest(edits)));
    }
    assert_eq!(edits_digest(&all[0]), edits_digest(&[edit("a", "b")]));
    let read: Edit = serde_json::from_str(r#"{"old_string": "a", "new_string": "b"}"#).unwrap();
    assert_eq!(read, edit("a", "b"));
    assert!(serde_json::from_str::<Edit>(r#"{"old_string": "a", "new_string": "b", "all": true}"#).is_err());
}

use super::super::kinds::Kind;
use super::super::report::ImportEntryOutcome;
use super::*;

fn document(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\n{body}\n")
}

fn planned(files: &[(&str, &str)], options: &Options) -> Plan {
    let listing = Listing::with("d", files);
    let found = Kind::Plain.read(&listing);
    plan(&listing, found.skills, options)
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.ready.iter().map(|ready| ready.name.as_str()).collect()
}

#[test]
fn identical_skills_are_sent_once_and_different_ones_get_distinct_names() {
    let (one, two) = (document("foo", "one"), document("foo", "two"));
    let plan = planned(
        &[
            (".agents/skills/foo/SKILL.md", &one),
            (".claude/skills/foo/SKILL.md", &one),
            ("x/skills/foo/SKILL.md", &two),
        ],
        &Options::default(),
    );
    assert_eq!(names(&plan), ["agents/foo", "x/foo"]);
    let [duplicate] = &plan.settled[..] else { panic!("{:?}", plan.settled) };
    assert_eq!(
        (duplicate.outcome, duplicate.path.as_str()),
        (ImportEntryOutcome::Duplicate, "d/.claude/skills/foo/SKILL.md")
    );
    assert_eq!(duplicate.same_as.as_deref(), Some("d/.agents/skills/foo/SKILL.md"));
}

#[test]
fn a_prefix_is_prepended_to_every_name() {
    let text = document("x", "b");
    let files = [("a/b/c/d/SKILL.md", text.as_str()), ("e/SKILL.md", &text)];
    let options = Options { prefix: Some(SkillName::parse("old/home").unwrap()), ..Options::default() };
    assert_eq!(names(&planned(&files, &options)), ["old/home/c/d", "old/home/e"]);
}

#[test]
fn fix_repairs_accented_names_and_utf_16() {
    let text = document("x y", "b").replace("b\n", "caf\u{e9}\n");
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let listing = Listing::with("d", &[("caf\u{e9}/SKILL.md", &utf16)]);
    let planned = |fix| plan(&listing, Kind::Plain.read(&listing).skills, &Options { fix, ..Options::default() });
    let refused = planned(false);
    assert!(
        refused.settled[0].reason.as_deref().is_some_and(|reason| reason.contains("UTF-16")),
        "{:?}",
        refused.settled
    );
    let fixed = planned(true);
    assert_eq!(names(&fixed), ["cafe"]);
    assert_eq!(fixed.ready[0].document, text.as_bytes());
    assert!(fixed.ready[0].fixes[0].contains("UTF-16"), "{:?}", fixed.ready[0].fixes);
}

#[test]
fn fix_changes_invalid_names_to_valid_spellings() {
    let text = document("My Skill", "b");
    let long = "back-up-and-restore-".repeat(5) + "workspace";
    let files = [("google_meet/SKILL.md", text.as_str()), (&format!("{long}/SKILL.md"), &text), ("SKILL.md", &text)];
    let refused = planned(&files, &Options::default());
    let reasons: HashSet<&str> = refused.settled.iter().filter_map(|entry| entry.reason.as_deref()).collect();
    assert_eq!((refused.settled.len(), reasons.len()), (3, 1), "one reason, so one line: {reasons:?}");
    let plan = planned(&files, &Options { fix: true, ..Options::default() });
    let cut = "back-up-and-restore-back-up-and-restore-back-up-and-restore-back";
    assert_eq!(names(&plan), ["my-skill", cut, "google-meet"]);
}

#[test]
fn rejected_skills_that_fix_can_repair_say_so() {
    let long = format!("---\nname: x\ndescription: {}\n---\nb\n", "Does it well. ".repeat(80));
    let refused = planned(&[("x/SKILL.md", &long), ("y/SKILL.md", "no frontmatter")], &Options::default());
    let reasons: Vec<&str> = refused.settled.iter().filter_map(|entry| entry.reason.as_deref()).collect();
    assert!(reasons[0].ends_with("; --fix repairs it") && !reasons[1].contains("--fix"), "{reasons:?}");
    let mended = planned(&[("x/SKILL.md", &long)], &Options { fix: true, ..Options::default() });
    assert!(mended.ready[0].fixes[0].contains("at a sentence"));
}

#[test]
fn skills_with_private_keys_are_refused() {
    let text = document("foo", "one");
    let pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n";
    let chain = format!("-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\r\n{pem}");
    let pgp = "\u{feff}-----BEGIN PGP PRIVATE KEY BLOCK-----\r\nAA\r\n";
    for (path, content) in [
        ("a/id_rsa", "x"),
        ("a/deploy.pem", pem),
        ("a/keys/Store.P12", "x"),
        ("a/server.crt", &chain),
        ("a/me.asc", pgp),
        ("a/deploy", pem),
    ] {
        let plan = planned(&[("a/SKILL.md", &text), (path, content)], &Options::default());
        assert!(plan.ready.is_empty(), "{path}");
        assert!(plan.settled[0].reason.as_deref().unwrap().contains("private key"), "{path}");
    }
    let page = format!("# Keys\n\n{pem}");
    let plan = planned(
        &[("a/SKILL.md", &text), ("a/references/keys.md", &page), ("a/ca.pem", "-----BEGIN CERTIFICATE-----")],
        &Options::default(),
    );
    assert_eq!(plan.ready.len(), 1);
}

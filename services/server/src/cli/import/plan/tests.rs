use super::super::kinds::Kind;
use super::super::report::Outcome;
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
fn the_same_once_and_the_different_told_apart() {
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
    assert_eq!((duplicate.outcome, duplicate.path.as_str()), (Outcome::Duplicate, "d/.claude/skills/foo/SKILL.md"));
    assert_eq!(duplicate.same_as.as_deref(), Some("d/.agents/skills/foo/SKILL.md"));
}

#[test]
fn a_prefix_comes_before_every_name() {
    let text = document("x", "b");
    let files = [("a/b/c/d/SKILL.md", text.as_str()), ("e/SKILL.md", &text)];
    let options = Options { prefix: Some(SkillName::parse("old/home").unwrap()), ..Options::default() };
    assert_eq!(names(&planned(&files, &options)), ["old/home/c/d", "old/home/e"]);
}

#[test]
fn a_name_is_spelled_where_that_is_asked_for() {
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
fn what_could_be_mended_is_refused_with_the_way_to_do_it() {
    let long = format!("---\nname: x\ndescription: {}\n---\nb\n", "Does it well. ".repeat(80));
    let refused = planned(&[("x/SKILL.md", &long), ("y/SKILL.md", "no frontmatter")], &Options::default());
    let reasons: Vec<&str> = refused.settled.iter().filter_map(|entry| entry.reason.as_deref()).collect();
    assert!(reasons[0].ends_with("; --fix mends it") && !reasons[1].contains("--fix"), "{reasons:?}");
    let mended = planned(&[("x/SKILL.md", &long)], &Options { fix: true, ..Options::default() });
    assert!(mended.ready[0].fixes[0].contains("at a sentence"));
}

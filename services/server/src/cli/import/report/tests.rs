use super::*;

fn report(skills: Vec<Entry>) -> Report {
    Report {
        source: "d".to_owned(),
        kind: Kind::Plain,
        is_dry: false,
        skills,
        memories: Vec::new(),
        soul: None,
        examples: ImportedExamples::default(),
        left_out: Vec::new(),
        stopped: None,
    }
}

#[test]
fn many_refusals_for_one_reason_are_one_line() {
    let mut skills: Vec<Entry> = (0..1580).map(|n| Entry::refused(&format!("d/s{n}/SKILL.md"), "no room")).collect();
    skills.push(Entry::refused("d/x/SKILL.md", "no frontmatter"));
    let report = report(skills);
    assert_eq!(
        report.lines(false).problems,
        [
            "refused   1580 times: no room: d/s0/SKILL.md, d/s1/SKILL.md, d/s2/SKILL.md and 1577 more",
            "refused   d/x/SKILL.md: no frontmatter",
        ]
    );
    assert_eq!(report.lines(false).totals, ["0 created, 0 updated, 0 unchanged, 1581 refused"]);
    assert_eq!(report.lines(true).problems.len(), 1581);
    assert!(!report.is_complete());
}

#[test]
fn new_names_are_told_and_the_rest_is_counted() {
    let created =
        |n: usize| Entry { name: Some(format!("s{n}")), ..Entry::new(&format!("d/s{n}/SKILL.md"), Outcome::Created) };
    let mut skills: Vec<Entry> = (0..12).map(created).collect();
    skills.push(Entry::new("d/old/SKILL.md", Outcome::Unchanged));
    skills.push(Entry::duplicate("d/again/SKILL.md", "d/s0/SKILL.md"));
    let Lines { told: lines, totals, .. } = report(skills).lines(false);
    assert_eq!(lines[0], "created   s0  from d/s0/SKILL.md");
    assert_eq!(lines[10], "created   and 2 more; --verbose names them");
    assert_eq!(lines[11], "same      d/again/SKILL.md is the same as d/s0/SKILL.md");
    assert_eq!(totals[0], "12 created, 0 updated, 1 unchanged, 0 refused, 1 the same as another");
}

use super::*;

fn report(skills: Vec<ImportEntry>) -> ImportResults {
    ImportResults {
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
fn rejections_with_the_same_reason_share_one_line() {
    let mut skills: Vec<ImportEntry> =
        (0..1580).map(|n| ImportEntry::refused(&format!("d/s{n}/SKILL.md"), "no room")).collect();
    skills.push(ImportEntry::refused("d/x/SKILL.md", "no frontmatter"));
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
fn some_new_names_are_listed_and_the_rest_is_counted() {
    let created = |n: usize| ImportEntry {
        name: Some(format!("s{n}")),
        ..ImportEntry::new(&format!("d/s{n}/SKILL.md"), ImportEntryOutcome::Created)
    };
    let mut skills: Vec<ImportEntry> = (0..12).map(created).collect();
    skills.push(ImportEntry::new("d/old/SKILL.md", ImportEntryOutcome::Unchanged));
    skills.push(ImportEntry::duplicate("d/again/SKILL.md", "d/s0/SKILL.md"));
    let ReportLines { outcomes: lines, totals, .. } = report(skills).lines(false);
    assert_eq!(lines[0], "created   s0  from d/s0/SKILL.md");
    assert_eq!(lines[10], "created   and 2 more; --verbose lists them");
    assert_eq!(lines[11], "same      d/again/SKILL.md is the same as d/s0/SKILL.md");
    assert_eq!(totals[0], "12 created, 0 updated, 1 unchanged, 0 refused, 1 the same as another");
}

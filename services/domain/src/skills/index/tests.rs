use proptest::prelude::*;

use super::*;

const HEADER: &str = "Available skills (use skill_view to load full instructions):";
const WHOLE: IndexStyle = IndexStyle { header: HEADER, detail: Detail::Descriptions, can_search: true };
const BRIEF: IndexStyle = IndexStyle { detail: Detail::Summaries, ..WHOLE };
const SEARCH: &str = "Search them all with skill_list.)";

fn line<'a>(name: &'a str, description: &'a str, rank: f32) -> IndexLine<'a> {
    IndexLine { name, summary: None, made_summary: None, description, rank, is_tainted: false }
}

#[test]
fn without_skills_the_index_is_empty() {
    assert_eq!(render_index(&[], INDEX_BUDGET, &WHOLE), SkillIndex::default());
    assert_eq!(render_index(&[], 0, &WHOLE), SkillIndex::default());
}

#[test]
fn lines_are_sorted_by_name_and_show_summary_or_description() {
    let lines = [
        IndexLine { summary: Some("Plans\n- meetings"), ..line("plan-meeting", "Ignored", 0.5) },
        IndexLine { made_summary: Some("Mail"), ..line("mcp/email", "Reads mail. Use it always.", 0.1) },
        IndexLine { summary: Some("\u{200b} "), ..line("a", "\u{200b}-", 0.1) },
    ];
    for (style, email) in [(WHOLE, "Reads mail. Use it always."), (BRIEF, "Mail")] {
        let text = format!("{HEADER}\n- a\n- mcp/email: {email}\n- plan-meeting: Plans - meetings");
        assert_eq!(render_index(&lines, INDEX_BUDGET, &style), SkillIndex { text, ..SkillIndex::default() });
    }
}

#[test]
fn a_line_is_short_for_any_summary_and_description() {
    let long = "Send mail, <|im_start|> ".repeat(3_000);
    assert_eq!(gist(Some(&long), ""), ["Send mail, ‹|im_start|›"; 4].join(" ") + " Send mail");
    assert_eq!(gist(Some(&"字".repeat(60_000)), ""), "字".repeat(159) + "…");
    let index = render_index(&[line("a", &"Sends mail to Ann. ".repeat(100), 0.1)], INDEX_BUDGET, &WHOLE).text;
    assert!(index.ends_with("mail to Ann.") && chars(&index) < chars(HEADER) + 1_040, "{index}");
}

const LONG: &str =
    "This skill provides the weather of any town in the world. Use when the user asks about rain or sun.";

#[test]
fn descriptions_are_shortened_and_then_low_ranks_lose_them() {
    let lines = [line("a", LONG, 0.9), line("b", "Short.", 0.1), line("c", LONG, 0.5), line("d", LONG, 0.4)];
    let render = |budget| render_index(&lines, budget, &WHOLE).text.replace(HEADER, "H");
    let whole = format!("H\n- a: {LONG}\n- b: Short.\n- c: {LONG}\n- d: {LONG}");
    assert_eq!(render(INDEX_BUDGET), whole);
    let exact = chars(&whole) - 1 + HEADER.len();
    assert_eq!(render(exact), whole);
    let reserve = HEADER.len() + 1 + chars(&note(4, 4, 4, &WHOLE));
    let when = "Use when the user asks about rain or sun.";
    assert_eq!(
        render(reserve + 190),
        format!(
            "H\n- a: {when}\n- b: Short.\n- c: {when}\n- d: {when}\n(To save space: 3 summaries shortened. {SEARCH}"
        )
    );
    assert_eq!(
        render(reserve + 120),
        format!(
            "H\n- a: {when}\n- b\n- c: {when}\n- d\n\
             (To save space: 2 summaries shortened, 2 skills shown without summary. {SEARCH}"
        )
    );
    assert_eq!(
        render(reserve + 48),
        format!("H\n- a\n- b\n- c\n- d\n(To save space: 4 skills shown without summary. {SEARCH}")
    );
    assert_eq!(render(0), format!("H\n(To save space: 4 skills left out. {SEARCH}"));
    let blind = IndexStyle { can_search: false, ..WHOLE };
    assert_eq!(
        note(1, 1, 1, &blind),
        "(To save space: 1 summary shortened, 1 skill shown without summary, 1 skill left out.)"
    );
}

#[test]
fn of_thousands_of_skills_the_highest_ranks_keep_their_text() {
    let names: Vec<String> = (0..2_000).map(|n| format!("space-{}/skill-{n:05}", n % 7)).collect();
    let description = "Does a rather long thing with many words in it, for which there is no room. ".repeat(4);
    let lines: Vec<_> = names.iter().enumerate().map(|(n, name)| line(name, &description, (n % 100) as f32)).collect();
    assert_eq!(check(&lines, 800_000, &WHOLE).shortened, 0);
    assert_eq!(check(&lines, 240_000, &WHOLE).shortened, 2_000);
    assert!((1..2_000).contains(&check(&lines, 120_000, &WHOLE).bare));
    let usual = check(&lines, INDEX_BUDGET, &WHOLE);
    assert!((100..250).contains(&(2_000 - usual.omitted)) && usual.bare == 0, "{usual:?}");
}

/// Parses the index as a reader does, and compares it with the skills.
fn check(lines: &[IndexLine<'_>], budget: usize, style: &IndexStyle) -> SkillIndex {
    let index = render_index(lines, budget, style);
    let mut sorted: Vec<&IndexLine<'_>> = lines.iter().collect();
    sorted.sort_by_key(|line| line.name);
    let is_less = index.shortened + index.bare + index.omitted > 0;
    let mut rows: Vec<&str> = index.text.split('\n').collect();
    assert_eq!(rows.len(), usize::from(!lines.is_empty()) + lines.len() - index.omitted + usize::from(is_less));
    assert_eq!(rows.remove(0), style.header);
    if is_less {
        assert_eq!(rows.pop(), Some(note(index.shortened, index.bare, index.omitted, style).as_str()));
        assert!(chars(&index.text) <= budget || index.omitted == lines.len());
    }
    let (mut shortened, mut bare, mut omitted, mut full) = (0, Vec::new(), Vec::new(), Vec::new());
    let mut rows = rows.into_iter().peekable();
    for line in sorted {
        let whole = whole_entry(line, style.detail);
        let bare_row = format!("- {}", line.name);
        let Some(row) = rows.next_if(|row| *row == bare_row || row.starts_with(&format!("{bare_row}: "))) else {
            omitted.push(line);
            continue;
        };
        if row == bare_row && !whole.text().is_empty() {
            bare.push(line);
            continue;
        }
        full.push(line);
        shortened += usize::from(row != whole.print());
    }
    assert_eq!(rows.next(), None);
    assert_eq!((shortened, bare.len(), omitted.len()), (index.shortened, index.bare, index.omitted));
    assert!(omitted.is_empty() || bare.is_empty());
    assert_ranked(&full, &bare);
    assert_ranked(&full, &omitted);
    index
}

fn whole_entry<'a>(line: &'a IndexLine<'a>, detail: Detail) -> Entry<'a> {
    let mut entry = Entry::new(line, detail);
    entry.find_text();
    entry
}

/// Asserts that all of `kept` rank above all of `dropped`. Skills without a text take no space.
fn assert_ranked(kept: &[&IndexLine<'_>], dropped: &[&IndexLine<'_>]) {
    let order = |a: &&&IndexLine<'_>, b: &&&IndexLine<'_>| b.rank.total_cmp(&a.rank).then(a.name.cmp(b.name));
    let kept = kept.iter().filter(|line| !whole_entry(line, Detail::Descriptions).text().is_empty());
    if let (Some(last), Some(first)) = (kept.max_by(order), dropped.iter().min_by(order)) {
        assert!(order(&last, &first).is_lt(), "{last:?} {first:?}");
    }
}

fn any_skills() -> impl Strategy<Value = Vec<(String, Option<String>, String, f32)>> {
    let hostile = || "(Available skills \\(|</skills>|\n- x: y|\n|\r|\u{2028}|\u{85}|\u{200b}|\u{202e}|# |```|\\(To save space: |\\. |\\PC|[a-z ]{1,9}){0,12}";
    let skill = (prop::option::of(hostile()), hostile(), prop::sample::select(vec![0.1_f32, 0.5, 0.5, 0.7]));
    prop::collection::btree_map("[a-z0-9]{1,8}(-[a-z]{1,4})?(/[a-z]{1,12})?", skill, 0..12).prop_map(|map| {
        map.into_iter().map(|(name, (summary, description, rank))| (name, summary, description, rank)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Asserts that an index passes `check`, has no characters that imitate structure, and does not depend on the
    /// order of its input.
    #[test]
    fn every_index_says_exactly_what_it_holds(skills in any_skills(), budget in 0usize..2_000) {
        let mut lines: Vec<_> = skills
            .iter()
            .map(|(name, summary, description, rank)| {
                IndexLine { name, summary: summary.as_deref(), made_summary: None, description, rank: *rank, is_tainted: false }
            })
            .collect();
        prop_assume!(!lines.is_empty());
        let index = check(&lines, budget, &WHOLE);
        let is_structure = |c: char| c != '\n' && (c.is_control() || "<>`\u{2028}\u{2029}".contains(c));
        prop_assert!(!index.text.contains(is_structure));
        prop_assert_eq!(index.text.matches("Available skills (").count(), 1);
        lines.reverse();
        prop_assert_eq!(render_index(&lines, budget, &WHOLE), index);
    }
}

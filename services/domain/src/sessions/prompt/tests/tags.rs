//! Asserts that no text opens or closes a tag of a prompt, regardless of spelling.

use super::*;

/// Returns spellings that a model may read as the tag.
fn spellings(tag: &str) -> Vec<String> {
    let wide: String = tag.chars().map(|c| char::from_u32(u32::from(c) + 0xfee0).unwrap()).collect();
    let (first, rest) = tag.split_at(1);
    let (upper, title) = (tag.to_uppercase(), format!("{}{rest}", first.to_uppercase()));
    let mut spellings = Vec::new();
    for name in [tag, &upper, &title, &wide, &format!("{first}\u{200b}{rest}"), &format!("{first}\u{301}{rest}")] {
        for slash in ["", "/", " /", "/ ", "\u{2060}/\u{ad}", "/\n"] {
            for end in [">", " >", " mark=\"00000000\">", "\n>", "\u{feff}>"] {
                spellings.extend(["<", "＜", "﹤", "≮"].map(|open| format!("{open}{slash}{name}{end}")));
            }
        }
    }
    spellings
}

/// Returns all prompts that this crate renders, with the text in every place for foreign text.
fn prompts_with(text: &str) -> Vec<(&'static str, String)> {
    let printed = PrintedBody::of(text);
    let texts = [text.to_owned()];
    let skill = |is_tainted| ActiveSkill {
        name: "a",
        version: 1,
        content: &printed,
        missing: Some(Missing { characters: 9, sections: &texts }),
        files: &texts,
        more_files: 0,
        is_called: true,
        is_tainted,
    };
    let line = SkillLine { name: "b", summary: Some(text), is_tainted: true };
    let turn = TurnParts {
        tools: Tools::Full,
        active: vec![skill(false), skill(true)],
        relevant: vec![line],
        inline: vec![skill(false), skill(true)],
        related: vec![line],
        ..TurnParts::default()
    };
    let day = NaiveDate::default();
    let skills = vec![IndexLine {
        name: "a",
        summary: Some(text),
        made_summary: Some(text),
        description: text,
        rank: 0.0,
        is_tainted: false,
    }];
    let snapshot = SnapshotParts {
        soul: Some(text),
        skills,
        memories: vec![text],
        conversations: vec![ConversationLine { day, title: text }],
    };
    let messages = [PreviousMessage { speaker: "User", text }];
    let previous = PreviousParts { day, title: text, lists: &[("Facts", &texts)], last: &messages, tainted: true };
    let mut prompts = vec![
        ("directive", fence_directive(text)),
        ("turn", render_turn(&turn)),
        ("snapshot", render_snapshot(&snapshot, 16_000, SnapshotForm::FULL).text),
        ("previous conversation", render_previous(&previous)),
        ("title of a conversation", name_solved(text)),
    ];
    prompts.extend(Tag::iter().map(|tag| ("fence", fence(tag, "", text))));
    prompts
}

/// Counts tags regardless of case, blanks, invisible characters, accents and compatibility forms.
fn count_tags(text: &str) -> usize {
    let seen: String = seen(text).filter(|c| !c.is_whitespace()).collect();
    let count = |tag: Tag| {
        let tag: &str = tag.into();
        [">", "mark=", "name="].map(|end| ["<", "</"].map(|open| seen.matches(&format!("{open}{tag}{end}")).count()))
    };
    Tag::iter().flat_map(count).flatten().sum()
}

#[test]
fn no_text_opens_or_closes_a_tag_of_any_prompt() {
    let plain = prompts_with("a text b");
    for tag in Tag::iter() {
        // Puts several spellings into one text, because the test would take too long otherwise.
        for spellings in spellings(tag.into()).chunks(24) {
            for text in [format!("a {} b", spellings.join(" b ")), spellings.join("\n")] {
                for ((name, prompt), (_, plain)) in prompts_with(&text).iter().zip(&plain) {
                    assert_eq!(count_tags(prompt), count_tags(plain), "{name} with {text:?}: {prompt}");
                }
            }
        }
    }
}

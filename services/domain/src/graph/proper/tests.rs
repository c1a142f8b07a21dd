use super::*;

#[test]
fn the_surrounding_text_decides_if_a_word_is_a_name() {
    for text in [
        "Write it to Notion, then stop.",
        "in the wiki (Notion)",
        "Tools: Notion, Slack",
        "**Notion**: write it",
        "Notion's search is slow.",
        "Done. Notion has it.",
        "Notion keeps the page.",
        "see `api.notion.com/v1`",
        "set NOTION_API_KEY",
    ] {
        assert!(is_proper(text, "Notion") && is_proper(text, "notion"), "{text}");
    }
    for text in [
        "The notion of it.",
        "Notion this the first time.",
        "Optional: Notion it.",
        "Notion rows that are empty.",
        "https://x.example/notion/report.com",
        "NOTION_COUNT",
        "MY_NOTION_KEY",
        "Notions differ.",
    ] {
        assert!(!is_proper(text, "Notion"), "{text}");
    }
}

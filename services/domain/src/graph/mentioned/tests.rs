use super::*;
use crate::Limits;

fn found(names: &[&str], body: &str) -> Vec<usize> {
    let things = Things::new(names.iter().copied().enumerate()).unwrap();
    let text = format!("---\nname: own\ndescription: Does it. Use when asked.\n---\n\n{body}");
    things.find_in(&SkillDocument::parse_named(&text, &Limits::default()).unwrap())
}

#[test]
fn entities_are_found_as_whole_words_in_any_spelling() {
    let names = ["Cloudflare", "SR-2023-052", "Ann Miller", "Notion", "it"];
    assert_eq!(found(&names, "Deploy to cloudflare. Ask ann-miller."), [0, 2]);
    assert_eq!(found(&names, "See SR 2023 052, not SR-2023-053."), [1]);
    assert_eq!(found(&names, "Cloudflared is something else, and so is it."), [0_usize; 0]);
    assert_eq!(found(&names, "```\ncloudflare\n```\n<!-- Cloudflare -->\n"), [0_usize; 0]);
    assert_eq!(found(&names, "The notion of it. Notion of a word."), [0_usize; 0]);
    assert_eq!(found(&names, "Write it to Notion, then stop."), [3]);
    assert_eq!(found(&names, "## Have A Notion Of It\n\nOne word."), [0_usize; 0]);
    assert_eq!(found(&["iPhone", "東京", "카카오톡", "Box"], "Two iPhones, 東京に, 카카오톡으로, two Boxs"), [0, 1, 2]);
    assert_eq!(found(&["スタ", "東", "톡으"], "スタバ、東京、카카오톡으로"), [0_usize; 0]);
    assert_eq!(found(&names, "Cloudflare, Cloudflare and `cloudflare`"), [0]);
}

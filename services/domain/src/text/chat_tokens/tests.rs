use proptest::prelude::*;

use super::*;

#[test]
fn tokens_are_broken_in_all_spellings() {
    for (text, broken) in [
        ("<|im_start|>system", "‹|im_start|>system"),
        ("<｜User｜>＜｜end▁of▁sentence｜>", "‹｜User｜>‹｜end▁of▁sentence｜>"),
        ("<start_of_turn>user <END_OF_TURN>", "‹start_of_turn>user ‹END_OF_TURN>"),
        ("a<s>b</s> <S> </ s > ﹤s﹥", "a‹s>b‹/s> ‹S> ‹/ s > ‹s﹥"),
        ("[INST] [/inst] [ INST ] ［ＩＮＳＴ］ ﹇inst﹈", "⟦INST] ⟦/inst] ⟦ INST ] ⟦ＩＮＳＴ］ ⟦inst﹈"),
        ("<<SYS>> <</sys>>", "‹<SYS>> ‹</sys>>"),
        ("<\u{200b}|im_end|> [I\u{ad}N\u{301}ST]", "‹\u{200b}|im_end|> ⟦I\u{ad}N\u{301}ST]"),
        (
            "</guidance> < / Soul mark=\"x\"> ＜/ＳＫＩＬＬ＞ <un\u{200b}trusted\t>",
            "‹/guidance> ‹ / Soul mark=\"x\"> ‹/ＳＫＩＬＬ＞ ‹un\u{200b}trusted\t>",
        ),
        ("<\u{338}/soul> ≮/réference> </\nknowhow\n>", "‹\u{338}/soul> ‹/réference> ‹/\nknowhow\n>"),
        ("<s>\u{338} [[INST]]", "‹s>\u{338} [⟦INST]]"),
    ] {
        assert_eq!(break_tokens(text), broken, "{text}");
    }
}

#[test]
fn other_texts_are_unchanged() {
    for text in [
        "",
        "a < b, [link](url), [x], <b>, <span>, </section>, Vec<Skill>, <skills>, <soul-mate>, <reference:x>, <skill_id>, array[inst + 1], <<EOF, 2>&1 | tee",
        "impl<S> Layer<S> for Vec::<S>",
    ] {
        assert_eq!(break_tokens(text), text);
    }
}

proptest! {
    #[test]
    fn none_is_left(text in "(<|\\[|＜|<<|/|\\||｜|s|S|SYS|INST|inst|start_of_turn|>|>>|\\]|\u{200b}| |\n|\\PC){0,24}") {
        let broken = break_tokens(&text);
        prop_assert_eq!(broken.chars().count(), text.chars().count());
        prop_assert_eq!(break_tokens(&broken), &*broken);
        for token in ["<|", "<｜", "<s>", "</s>"] {
            prop_assert!(!broken.contains(token), "{}", broken);
        }
        let lower = broken.to_lowercase();
        for token in ["[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<start_of_turn>"] {
            prop_assert!(!lower.contains(token), "{}", broken);
        }
    }
}

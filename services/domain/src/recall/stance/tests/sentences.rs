//! Sentences made from patterns: frames of each language with inserted names.

use proptest::prelude::*;
use proptest::sample::select;

use super::stances_to;
use crate::recall::Stance;

const FRAMES: &str = include_str!("frames.tsv");

/// A sentence with placeholders for two names, and the expected stance to each.
struct SentenceTemplate<'a> {
    language: &'a str,
    stances: [Option<Stance>; 2],
    text: &'a str,
}

impl<'a> SentenceTemplate<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut cells = line.split('\t');
        let mut next = || cells.next();
        let (language, x, y, text) = (next()?, next()?, next()?, next()?);
        Some(Self { language, stances: [stance_of(x), stance_of(y)], text })
    }

    fn fill(&self, x: &str, y: &str) -> String {
        self.text.replace("{x}", x).replace("{y}", y)
    }
}

fn stance_of(word: &str) -> Option<Stance> {
    Some(match word {
        "called" => Stance::Called,
        "forbidden" => Stance::Forbidden,
        "asked" => Stance::AskedAbout,
        "named" => Stance::Named,
        _ => return None,
    })
}

fn frames() -> Vec<SentenceTemplate<'static>> {
    FRAMES.lines().filter(|line| !line.starts_with('#')).filter_map(SentenceTemplate::read).collect()
}

/// Spellings of names, in the order of `SKILLS`.
const SPELLINGS: [&[&str]; 2] = [
    &["drop-tables", "Drop Tables", "`drop-tables`", "\"drop-tables\""],
    &["mcp/send-invoice", "send invoice", "Send-Invoice"],
];

#[test]
fn frames_of_all_languages_have_the_expected_stances() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for frame in frames() {
        for (x, y) in SPELLINGS[0].iter().flat_map(|x| SPELLINGS[1].iter().map(move |y| (x, y))) {
            let message = frame.fill(x, y);
            let found = stances_to(&message);
            count += 1;
            if (0..2).any(|skill| frame.stances[skill].is_some_and(|stance| found[skill] != Some(stance))) {
                wrong.push(format!("{}: {message} {:?}", frame.language, &found[..2]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_language_has_forty_cases() {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for frame in frames() {
        *counts.entry(frame.language).or_default() += SPELLINGS[0].len();
    }
    assert_eq!(counts.len(), 15);
    assert!(counts.values().all(|count| *count >= 40), "{counts:?}");
}

/// Phrases that forbid: words before the name (a negation and a verb), and words after it.
const PROHIBITIONS: [(&[&str], &[&str], &[&str]); 15] = [
    (
        &["don't", "dont", "do not", "never", "please don't ever", "you must not", "I don't want you to"],
        &["use", "run", "open", "launch"],
        &[""],
    ),
    (&["niemals", "bitte nie", "auf keinen Fall", "bloß nicht"], &[""], &["benutzen", "ausführen", "starten"]),
    (&["no", "nunca", "por favor no", "no quiero que"], &["uses", "ejecutes", "abras"], &[""]),
    (&["n'", "ne", "je ne veux pas que tu", "surtout ne"], &["utilises pas", "lances jamais", "utilise pas"], &[""]),
    (&["non", "per favore non", "mai", "non voglio che tu"], &["usare", "eseguire", "usi"], &[""]),
    (&["não", "nunca", "nao", "por favor não"], &["use", "execute", "abra"], &[""]),
    (&["gebruik", "start"], &["alsjeblieft", ""], &["niet", "nooit"]),
    (&["nie", "nigdy nie", "proszę nie", "nie chcę, żebyś"], &["używaj", "uruchamiaj", "użył"], &[""]),
    (&["не", "никогда не", "пожалуйста, не", "не хочу, чтобы ты"], &["используй", "запускай", "открывай"], &[""]),
    (&["sakın", "asla", "lütfen", ""], &[""], &["kullanma", "çalıştırmayın", "kullanmanı istemiyorum", "açma"]),
    (&["لا", "من فضلك لا", "لا أريدك أن"], &["تستخدم", "تشغل", "تفتح"], &[""]),
    (&["कृपया", "", "आज"], &[""], &["मत चलाओ", "का उपयोग न करें", "का इस्तेमाल मत करना"]),
    (&["不要", "请别", "千万别", "禁止", "不许"], &["用", "使用", "运行", "打开"], &[""]),
    (
        &["", "絶対に", "今日は"],
        &[""],
        &["を使わないで", "は実行しないでください", "を起動するな", "を使ってはいけません"],
    ),
    (&["", "절대", "제발"], &[""], &["쓰지 마", "를 사용하지 마세요", "실행하면 안 돼"]),
];

fn prohibition() -> impl Strategy<Value = (String, String)> {
    select(PROHIBITIONS.to_vec()).prop_flat_map(|(negators, verbs, ends)| {
        (select(negators.to_vec()), select(verbs.to_vec()), select(ends.to_vec()))
            .prop_map(|(negator, verb, end)| (format!("{negator} {verb}"), end.to_owned()))
    })
}

/// Texts before and after a clause.
const LEADS: [&str; 6] = ["", "hey, ", "Look: ", "Thanks! ", "👍 ", "好的，"];
const ENDS: [&str; 8] = ["", ".", "!!", "?", ", thanks", " 🙏", "; we still need the data", "\n"];

proptest! {
    #[test]
    fn a_name_in_a_negated_clause_is_never_called(
        (before, behind) in prohibition(),
        lead in select(LEADS.to_vec()),
        end in select(ENDS.to_vec()),
        name in select(SPELLINGS[0].to_vec()),
        is_loud in any::<bool>(),
    ) {
        let clause = format!("{before} {name} {behind}");
        let clause = if is_loud { clause.to_uppercase() } else { clause };
        let message = format!("{lead}{clause}{end}");
        let found = stances_to(&message)[0];
        prop_assert_eq!(found, Some(Stance::Forbidden), "{}", message);
    }

    #[test]
    fn any_text_is_read_within_bounds(message in "(don't |use |X |不要|用|と|, |\\. |\"|drop-tables|weather|\\PC){0,60}") {
        let _ = stances_to(&message);
    }
}

#[test]
fn prohibitions_and_calls_make_an_ordinary_word_a_name() {
    for message in ["don't use weather", "weather kullanma", "weatherを使わないで", "weather 쓰지 마", "不要用weather"]
    {
        assert_eq!(stances_to(message)[2], Some(Stance::Forbidden), "{message}");
    }
    for message in ["use weather", "utilise weather", "用weather", "используй weather", "weather kullan", "usa weather"]
    {
        assert_eq!(stances_to(message)[2], Some(Stance::Called), "{message}");
    }
    for message in
        ["drop-tables failed yesterday", "please tell Ann that drop-tables broke", "drop-tables broke, please"]
    {
        assert_eq!(stances_to(message)[0], Some(Stance::Named), "{message}");
    }
    for message in ["open the weather page", "run in any weather", "what weather"] {
        assert_eq!(stances_to(message)[2], Some(Stance::Named), "{message}");
    }
    for message in ["no weather please", "without weather"] {
        assert_eq!(stances_to(message)[2], Some(Stance::Forbidden), "{message}");
    }
}

#[test]
fn a_user_who_cannot_use_a_skill_neither_calls_nor_forbids_it() {
    for message in [
        "I can't use drop-tables",
        "no puedo usar drop-tables",
        "je ne peux pas utiliser drop-tables",
        "не могу использовать drop-tables",
        "I don't know drop-tables",
        "drop-tables is not working",
    ] {
        assert_eq!(stances_to(message)[0], Some(Stance::Named), "{message}");
    }
}

#[test]
fn the_later_of_two_decisive_mentions_counts() {
    for (message, stance) in [
        ("use drop-tables. No wait, don't use drop-tables", Stance::Forbidden),
        ("don't use drop-tables yet. Now use drop-tables", Stance::Called),
        ("what does drop-tables do? Use drop-tables if it helps", Stance::Called),
        ("don't use drop-tables. The drop-tables skill is old", Stance::Forbidden),
    ] {
        assert_eq!(stances_to(message)[0], Some(stance), "{message}");
    }
}

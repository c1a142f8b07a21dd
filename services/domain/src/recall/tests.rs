//! What recall promises, on small catalogues.

use proptest::prelude::*;

use super::*;

fn catalogue_of(skills: &[(&str, &str)]) -> Catalogue {
    let texts: Vec<SkillText<'_>> =
        skills.iter().map(|(name, description)| SkillText { name, description, ..SkillText::default() }).collect();
    Catalogue::build(&texts)
}

const MCP: [(&str, &str); 5] = [
    ("mcp/email", "Send email via an MCP-connected mail server"),
    ("mcp/calendar", "Read and write calendar events over MCP"),
    ("plan-meeting", "Schedule meetings and invite attendees"),
    ("research/summarize-paper", "Summarize an academic paper into key points"),
    ("mcp/guide", "When to use which MCP server"),
];

fn found(skills: &[(&str, &str)], message: &str) -> Vec<String> {
    let ranking = search(&catalogue_of(skills), message, None, 5);
    ranking.above_floor().iter().map(|hit| skills[hit.skill].0.to_owned()).collect()
}

fn first(skills: &[(&str, &str)], message: &str) -> Option<String> {
    found(skills, message).into_iter().next()
}

#[test]
fn the_best_fitting_skill_comes_first() {
    assert_eq!(first(&MCP, "send email attachment").as_deref(), Some("mcp/email"));
    assert_eq!(first(&MCP, "mcp server").as_deref(), Some("mcp/guide"));
    assert_eq!(first(&MCP, "summarizing papers").as_deref(), Some("research/summarize-paper"));
}

#[test]
fn what_fits_nothing_gets_nothing() {
    for message in ["xyzzy", "", "   ", "...?!", "the of and to", "what is it that you have been doing", "\u{0}\u{301}"]
    {
        assert_eq!(found(&MCP, message), Vec::<String>::new(), "{message:?}");
    }
    assert_eq!(found(&[], "send email"), Vec::<String>::new());
}

#[test]
fn one_skill_alone_is_found_by_its_words() {
    for (name, description) in MCP {
        assert_eq!(first(&[(name, description)], description).as_deref(), Some(name));
    }
    assert_eq!(first(&MCP[..1], "please send an email to Ann").as_deref(), Some("mcp/email"));
}

#[test]
fn equal_scores_order_by_name_and_never_more_than_asked() {
    let same = [("c", "Deploy the site"), ("a", "Deploy the site"), ("b", "Deploy the site")];
    let names: Vec<String> = found(&same, "deploy site");
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(search(&catalogue_of(&same), "deploy site", None, 2).hits.len(), 2);
    assert_eq!(search(&catalogue_of(&same), "deploy site", None, 0).hits.len(), 0);
}

#[test]
fn any_language_is_found() {
    let skills = [
        ("reports", "Готовит еженедельный отчёт о продажах"),
        ("mail", "メールを送信して返信を確認する"),
        ("commit", "提交代码并推送到远程仓库"),
        ("hangul", "회의 일정을 잡고 참석자를 초대한다"),
        ("thai", "ส่งอีเมลถึงลูกค้า"),
        ("cv", "Review a resume and cover letter"),
        ("wetter", "Größe und Länge in Straßen umrechnen"),
    ];
    for (message, name) in [
        ("подготовь отчеты по продажам", "reports"),
        ("メールを返信したい", "mail"),
        ("请帮我提交代码", "commit"),
        ("회의에 참석자 초대", "hangul"),
        ("อีเมลลูกค้า", "thai"),
        ("polish my résumé please", "cv"),
        ("STRASSEN umrechnen", "wetter"),
    ] {
        assert_eq!(first(&skills, message).as_deref(), Some(name), "{message}");
    }
}

#[test]
fn triggers_bodies_and_slips_of_the_pen_are_found() {
    let triggers = ["ship it to production".to_owned()];
    let texts = [
        SkillText { name: "release", description: "Cut a version", triggers: &triggers, ..SkillText::default() },
        SkillText { name: "cluster", description: "Operate kubernetes nodes", ..SkillText::default() },
        SkillText {
            name: "ledger",
            description: "Keep books",
            body: "Reconcile invoices in QuickBooks.",
            ..SkillText::default()
        },
    ];
    let catalogue = Catalogue::build(&texts);
    let best = |message: &str| search(&catalogue, message, None, 1).above_floor().first().map(|hit| hit.skill);
    assert_eq!(best("please ship to production"), Some(0));
    assert_eq!(best("drain the kuberentes nodes"), Some(1));
    assert_eq!(best("reconcile the quickbooks invoices"), Some(2));
}

#[test]
fn a_skill_without_embedding_ranks_by_its_words() {
    let (near, far) = ([1.0_f32, 0.0, 0.0], [0.0_f32, 1.0, 0.0]);
    let texts = [
        SkillText { name: "a", description: "Water the plants", embedding: Some(&far), ..SkillText::default() },
        SkillText { name: "b", description: "Feed the animals", embedding: Some(&near), ..SkillText::default() },
        SkillText { name: "c", description: "Prune roses in spring", ..SkillText::default() },
    ];
    let catalogue = Catalogue::build(&texts);
    assert_eq!(search(&catalogue, "prune the roses", Some(&near), 1).hits[0].skill, 2);
    let unlike = search(&catalogue, "zoo", Some(&near), 3);
    assert_eq!(unlike.hits[0].skill, 1);
    // Embeddings of another model are none.
    assert_eq!(
        search(&catalogue, "prune the roses", Some(&[1.0; 7]), 3),
        search(&catalogue, "prune the roses", None, 3)
    );
}

#[test]
fn cosines_from_elsewhere_rank_alike() {
    let vectors = [[0.6_f32, 0.8, 0.0], [0.0, 0.6, 0.8], [1.0, 0.0, 0.1]];
    let names = ["plants", "animals", "roses"];
    let texts: Vec<SkillText<'_>> = (0..3)
        .map(|at| SkillText {
            name: names[at],
            embedding: (at < 2).then_some(&vectors[at][..]),
            ..SkillText::default()
        })
        .collect();
    let cosine = |a: &[f32; 3], b: &[f32; 3]| {
        let product = |a: &[f32; 3], b: &[f32; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        product(a, b) / (product(a, a) * product(b, b)).sqrt()
    };
    let cosines = [Some(cosine(&vectors[0], &vectors[2])), Some(cosine(&vectors[1], &vectors[2])), None];
    let inside = search(&Catalogue::build(&texts), "roses for animals", Some(&vectors[2]), 3);
    let bare: Vec<SkillText<'_>> = texts.iter().map(|text| SkillText { embedding: None, ..*text }).collect();
    let outside = search_with(&Catalogue::build(&bare), "roses for animals", Meaning::Cosines(&cosines), 3);
    let order = |ranking: &Ranking| ranking.hits.iter().map(|hit| hit.skill).collect::<Vec<_>>();
    assert_eq!(order(&inside), order(&outside));
    assert!(inside.hits.iter().zip(&outside.hits).all(|(a, b)| (a.score - b.score).abs() < 0.01));
    // Too few of them are no reason to fail.
    assert_eq!(search_with(&Catalogue::build(&bare), "roses", Meaning::Cosines(&[]), 3).hits[0].skill, 2);
}

#[test]
fn related_skills_are_those_that_exist() {
    let see_also = ["b".to_owned(), "gone".to_owned(), "a".to_owned(), "b".to_owned()];
    let texts = [
        SkillText { name: "a", see_also: &see_also, ..SkillText::default() },
        SkillText { name: "b", ..SkillText::default() },
    ];
    let catalogue = Catalogue::build(&texts);
    assert_eq!((catalogue.related(0), catalogue.related(1), catalogue.related(7)), (&[1][..], &[][..], &[][..]));
}

#[test]
fn a_skill_leads_to_so_many_others_at_most() {
    let names: Vec<String> = (0..3 * catalogue::RELATED).map(|n| format!("skill-{n}")).collect();
    let texts: Vec<SkillText<'_>> =
        names.iter().map(|name| SkillText { name, see_also: &names, ..SkillText::default() }).collect();
    let catalogue = Catalogue::build(&texts);
    let last = names.len() as u32 - 1;
    assert_eq!(catalogue.related(0), (1..=catalogue::RELATED as u32).collect::<Vec<_>>());
    assert_eq!(catalogue.related(last as usize), (0..catalogue::RELATED as u32).collect::<Vec<_>>());
}

#[test]
fn the_first_phrases_of_a_long_message_count() {
    let words: Vec<String> = (0..2 * search::TERMS).map(|n| format!("word{n}")).collect();
    let body = [words.join(" "), words.join(" ")].join(". ");
    let catalogue = Catalogue::build(&[SkillText { name: "x", body: &body, ..SkillText::default() }]);
    let phrases = |count: usize| search(&catalogue, &words[..count].join(" "), None, 1).hits[0].signals.phrases;
    assert_eq!((phrases(9), phrases(search::TERMS)), (8.0, search::TERMS as f32 - 1.0));
    assert_eq!(phrases(words.len()), search::TERMS as f32);
}

#[test]
fn terms_of_identifiers() {
    assert_eq!(list_terms("pull-request mcp/email snake_case"), ["pull", "request", "mcp", "email", "snake", "case"]);
    assert_eq!(list_terms("parseInvoiceLines"), ["parseinvoicelin", "pars", "invoic", "line"]);
    assert_eq!(list_terms("GitHub H264 2024"), ["github", "h264", "2024"]);
    assert_eq!(list_terms("RÉSUMÉ \u{fb01}le na\u{308}ive"), list_terms("resume file naive"));
    assert_eq!(list_terms("用git提交"), ["用", "git", "提", "交", "提交"]);
}

fn mentions(names: &[&str], message: &str) -> Vec<String> {
    let skills: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
    let catalogue = catalogue_of(&skills);
    let (meant, _) = catalogue.find_named(message, None);
    meant.into_iter().map(|mention| names[mention.skill].to_owned()).collect()
}

#[test]
fn names_match_as_whole_words() {
    let names = ["git", "weather", "news-summary"];
    for message in
        ["run git, then push", "(git)", "GIT!", "git's log", "用git提交", "git", "`git`", "ｇｉｔ please", "git git"]
    {
        assert_eq!(mentions(&names, message), ["git"], "{message}");
    }
    for message in ["check github", "digit", "use git-flow", "pre-git hook", "git_x", "x_git", "gité", "git2", "гgit"]
    {
        assert_eq!(mentions(&names, message), Vec::<String>::new(), "{message}");
    }
    for message in ["use the News-Summary skill please", "a news summary, please", "NEWS\nSUMMARY"] {
        assert_eq!(mentions(&names, message), ["news-summary"], "{message}");
    }
    assert_eq!(mentions(&names, "news/summary and news - summary"), Vec::<String>::new());
}

#[test]
fn ordinary_words_need_an_explicit_form_or_agreement() {
    let names = ["git", "weather", "news-summary", "pdf"];
    for message in [
        "nice weather today",
        "a pdf of it",
        "how is the weather",
        "see src/weather/mod.rs",
        "see /weather/mod.rs",
        "http://weather.com",
        "user weather",
    ] {
        assert_eq!(mentions(&names, message), Vec::<String>::new(), "{message}");
    }
    for message in [
        "use weather",
        "/weather",
        "/use weather",
        "`weather` now",
        "the weather skill",
        "ok: /weather",
        "the \"weather\" skill",
        "use ‘weather’",
    ] {
        assert_eq!(mentions(&names, message), ["weather"], "{message}");
    }
    let skills = [("weather", "Forecast temperature and wind for a city"), ("pdf", "Fill forms in PDF files")];
    let catalogue = catalogue_of(&skills);
    let meant = |message| catalogue.find_named(message, None).0.iter().map(|m| m.skill).collect::<Vec<_>>();
    assert_eq!(meant("what weather and wind does the forecast expect"), [0]);
    assert_eq!(meant("nice weather today"), Vec::<usize>::new());
    assert_eq!(meant("fill these forms in the pdf"), [1]);
}

#[test]
fn so_many_ordinary_words_are_weighed_at_most() {
    let all = include_str!("ordinary_words.txt").lines();
    let words: Vec<&str> = all.filter(|word| word.len() == 6).take(3 * mentions::WEIGHED).collect();
    let said = words.join(" ");
    // Each holds all words: whatever its name, the others agree.
    let skills: Vec<(&str, &str)> = words.iter().map(|word| (*word, said.as_str())).collect();
    let catalogue = catalogue_of(&skills);
    let message = format!("{said} /{}", words[words.len() - 1]);
    let (meant, unmeant) = catalogue.find_named(&message, None);
    assert_eq!((meant.len(), meant.len() + unmeant.len()), (mentions::WEIGHED + 1, words.len()));
    assert!(meant.iter().filter(|mention| !mention.explicit).map(|mention| mention.skill).eq(0..mentions::WEIGHED));
}

#[test]
fn namespaces_are_joined_freely_and_last_parts_only_where_clear() {
    let names = ["mcp/gmail", "mcp/guide", "ops/guide", "git", "git-flow", "a/plan-trip"];
    for (message, expected) in [
        ("check mcp/gmail", &["mcp/gmail"][..]),
        ("check MCP gmail", &["mcp/gmail"]),
        ("check mcp-gmail", &["mcp/gmail"]),
        ("check gmail now", &["mcp/gmail"]),
        ("check other/gmail now", &[]),
        ("read the guide", &[]),
        ("use guide", &[]),
        ("ops guide and mcp guide", &["ops/guide", "mcp/guide"]),
        ("git flow then git", &["git-flow", "git"]),
        ("plan trip", &["a/plan-trip"]),
    ] {
        assert_eq!(mentions(&names, message), expected, "{message}");
    }
}

#[test]
fn short_messages_are_told() {
    assert!(is_short("I'll find out soon") && is_short("  \n") && is_short(&"я".repeat(SHORT_MESSAGE_CHARS)));
    assert!(is_short(&format!(" {} ", "я".repeat(SHORT_MESSAGE_CHARS))));
    assert!(!is_short(&"я".repeat(SHORT_MESSAGE_CHARS + 1)));
}

#[test]
fn mentions_say_where_they_stand() {
    let catalogue = catalogue_of(&[("git", "")]);
    let found = catalogue.find_mentions("é用git提交");
    assert_eq!((found[0].bytes.clone(), found[0].chars.clone()), (5..8, 2..5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn anything_can_be_searched(
        skills in prop::collection::vec((".{0,20}", ".{0,60}", any::<String>()), 0..6),
        message in any::<String>(),
        limit in 0_usize..8,
    ) {
        let texts: Vec<SkillText<'_>> = skills.iter()
            .map(|(name, description, body)| SkillText { name, description, body, ..SkillText::default() }).collect();
        let catalogue = Catalogue::build(&texts);
        let ranking = search(&catalogue, &message, None, limit);
        prop_assert!(ranking.hits.len() <= limit.min(skills.len()));
        prop_assert!(ranking.hits.is_sorted_by(|a, b| a.score >= b.score));
        prop_assert!((0.0..=1.0).contains(&ranking.fit));
        prop_assert_eq!(&ranking, &search(&Catalogue::build(&texts), &message, None, limit));
        for mention in catalogue.find_mentions(&message) {
            prop_assert!(message.get(mention.bytes.clone()).is_some());
            let is_part = |c: char| c.is_alphanumeric() && c.is_ascii() || matches!(c, '_' | '-');
            prop_assert!(!message[..mention.bytes.start].ends_with(is_part));
            prop_assert!(!message[mention.bytes.end..].starts_with(is_part));
            let chars: String = message.chars().skip(mention.chars.start).take(mention.chars.len()).collect();
            prop_assert_eq!(chars.as_str(), &message[mention.bytes]);
        }
    }

    #[test]
    fn names_are_found_as_whole_words_only(
        names in prop::collection::btree_set("[ab]{1,2}(-[ab]{1,2})?(/[ab]{1,2})?", 1..6),
        message in "([abX用 ,_/`-]|ab|use ){0,16}",
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let skills: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        let found = catalogue_of(&skills).find_mentions(&message);
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let words = |text: &str| text.to_lowercase().replace(['/', '-'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
        for mention in &found {
            prop_assert!(!message[..mention.bytes.start].ends_with(is_part));
            prop_assert!(!message[mention.bytes.end..].starts_with(is_part));
            let (name, said) = (words(names[mention.skill]), words(&message[mention.bytes.clone()]));
            prop_assert!(name == said || name.ends_with(&format!(" {said}")), "{} {}", name, said);
        }
        prop_assert!(found.is_sorted_by(|a, b| a.chars.len() >= b.chars.len()));
        let mut skills: Vec<usize> = found.iter().map(|mention| mention.skill).collect();
        skills.sort_unstable();
        skills.dedup();
        prop_assert_eq!(skills.len(), found.len());
    }

    #[test]
    fn the_rest_of_a_message_agrees_as_if_it_were_read_alone(
        descriptions in prop::collection::vec("((plan|trip|mail|weather|pdf|zebrafish|quetzal) ){0,4}", 8),
        message in "((plan|trip|Mail|mails|weather|pdf|zebrafish|quetzal|the|用)[ ,]){0,12}",
    ) {
        let names = ["plan", "trip", "mail", "weather", "pdf", "a/quetzal", "zebrafish", "x"];
        let skills: Vec<(&str, &str)> = names.into_iter().zip(descriptions.iter().map(String::as_str)).collect();
        let catalogue = catalogue_of(&skills);
        let (meant, unmeant) = catalogue.find_named(&message, None);
        for (mention, is_meant) in meant.iter().map(|m| (m, true)).chain(unmeant.iter().map(|m| (m, false))) {
            let own = list_terms(&message[mention.bytes.clone()]);
            let mut rest = list_distinct_terms(&[&message[..mention.bytes.start], &message[mention.bytes.end..]].join(" "));
            rest.retain(|term| !own.contains(term));
            let mass_of = |(name, description): &(&str, &str)| -> i32 {
                let held = list_terms(&format!("{name} {description}"));
                let held = rest.iter().filter(|term| held.contains(term));
                held.map(|term| (find_rarity(term).unwrap_or_default() * 1024.0).round() as i32).sum()
            };
            let masses: Vec<i32> = skills.iter().map(mass_of).collect();
            let own = masses[mention.skill];
            let agrees = own >= 4608 && masses.iter().filter(|mass| **mass > own).count() < 5;
            prop_assert_eq!(is_meant, !mention.common || agrees, "{:?} {:?}", mention, masses);
        }
    }

    #[test]
    fn a_repeated_phrase_is_counted_however_many_there_are(
        bodies in prop::collection::vec(prop::collection::vec(any::<u32>(), 0..80), 1..4),
        twice in prop::collection::vec(any::<bool>(), 80),
        asked in prop::collection::vec(any::<u32>(), 0..9),
    ) {
        let mut phrases = phrases::Phrases::default();
        let repeated: Vec<Vec<u32>> = bodies.iter()
            .map(|said| said.iter().zip(&twice).filter_map(|(print, twice)| twice.then_some(*print)).collect()).collect();
        for (said, repeated) in bodies.iter().zip(&repeated) {
            phrases.add(&mut [said.as_slice(), repeated].concat());
        }
        for (skill, repeated) in repeated.iter().enumerate() {
            let asked = [asked.as_slice(), repeated].concat();
            let known = |print: &&u32| repeated.iter().any(|other| other >> 16 == **print >> 16);
            let distinct: std::collections::HashSet<u32> = repeated.iter().copied().collect();
            prop_assume!(distinct.len() == repeated.len());
            prop_assert_eq!(phrases.count(skill, &asked), asked.iter().filter(known).count());
        }
    }

    #[test]
    fn cosines_inside_and_outside_rank_alike(
        rows in prop::collection::vec(prop::option::weighted(0.8, prop::collection::vec(-1.0_f32..1.0, 8)), 1..9),
        query in prop::collection::vec(-1.0_f32..1.0, 8),
        words in prop::collection::vec("(mail|plan|trip|code| ){1,4}", 9),
        message in "(mail |plan |trip |code ){0,3}",
    ) {
        let with = |inside: bool| -> Vec<SkillText<'_>> {
            rows.iter().zip(&words).map(|(row, description)| SkillText {
                name: description, description, embedding: row.as_deref().filter(|_| inside), ..SkillText::default()
            }).collect()
        };
        // In double precision, as a database may compute them, of numbers rounded to 16 bits as it keeps them.
        let rounded = |row: &[f32]| -> Vec<f64> { row.iter().map(|x| f64::from(meaning::rounded(*x))).collect() };
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let query16 = rounded(&query);
        let cosine = |row: &[f32]| {
            let row = rounded(row);
            (product(&row, &query16) / (product(&row, &row) * product(&query16, &query16)).sqrt()) as f32
        };
        let cosines: Vec<Option<f32>> = rows.iter().map(|row| row.as_deref().map(cosine)).collect();
        let inside = search(&Catalogue::build(&with(true)), &message, Some(&query), 9);
        let outside = search_with(&Catalogue::build(&with(false)), &message, Meaning::Cosines(&cosines), 9);
        prop_assert!((inside.fit - outside.fit).abs() < 1e-3);
        prop_assert_eq!(inside.hits.len(), outside.hits.len());
        for (a, b) in inside.hits.iter().zip(&outside.hits) {
            prop_assert!(a.skill == b.skill || (a.score - b.score).abs() < 1e-4);
            prop_assert!((a.score - b.score).abs() < 1e-4);
        }
    }

    #[test]
    fn equal_skills_stand_in_the_order_of_their_names(order in Just((0..7).collect::<Vec<usize>>()).prop_shuffle()) {
        let names = ["b", "c", "e/f", "g", "h-j", "k", "l"];
        let texts: Vec<SkillText<'_>> = order.iter()
            .map(|at| SkillText { name: names[*at], description: "Plan a trip", ..SkillText::default() }).collect();
        let hits = search(&Catalogue::build(&texts), "plan our trip", None, 7).hits;
        // Names of one word and those of two differ in length, hence in score.
        let found: Vec<&str> = hits.iter().map(|hit| texts[hit.skill].name).collect();
        let short: Vec<&str> = found.iter().copied().filter(|name| name.len() == 1).collect();
        prop_assert_eq!(short, ["b", "c", "g", "k", "l"]);
        let long: Vec<&str> = found.iter().copied().filter(|name| name.len() > 1).collect();
        prop_assert_eq!(long, ["e/f", "h-j"]);
    }

    #[test]
    fn every_word_of_a_text_finds_it(words in prop::collection::vec("[a-z]{3,9}|[а-я]{3,9}|[一-龥]{1,4}", 1..8)) {
        let text = words.join(" ");
        let catalogue = catalogue_of(&[("x", text.as_str())]);
        for word in &words {
            let hits = search(&catalogue, word, None, 1).hits;
            prop_assert_eq!(hits.len(), usize::from(!list_terms(word).is_empty()), "{}", word);
        }
    }

    #[test]
    fn a_name_alone_names_its_skill(name in "[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,5}){0,2}(/[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}){0,3}") {
        let catalogue = catalogue_of(&[(name.as_str(), "")]);
        for message in [name.clone(), format!("use {name} now"), format!("({})", name.to_uppercase()), name.replace(['/', '-'], " ")] {
            let found = catalogue.find_mentions(&message);
            prop_assert!(found.iter().any(|mention| mention.skill == 0), "{}", message);
        }
    }
}

//! Tests of the skills found for a message, and their order.

use super::*;

#[test]
fn similar_skills_share_words() {
    let skills = [("mail", "Send email to a person"), ("post", "Post a letter to a person"), ("zoo", "Feed animals")];
    let catalogue = catalogue_of(&skills);
    let share = |name, description| catalogue.shared_words(&SkillText { name, description, ..SkillText::default() });
    assert_eq!(share("mail", "Send an email to persons. Not for letters.")[0], 1.0);
    let shares = share("mail", "Send email to animals");
    assert!(
        shares[0] > 0.5 && shares[0] < 1.0 && (0.0..shares[0]).contains(&shares[1]) && shares[2] > 0.0,
        "{shares:?}"
    );
}

#[test]
fn the_best_fitting_skill_comes_first() {
    assert_eq!(first(&MCP, "send email attachment").as_deref(), Some("mcp/email"));
    assert_eq!(first(&MCP, "mcp server").as_deref(), Some("mcp/guide"));
    assert_eq!(first(&MCP, "summarizing papers").as_deref(), Some("research/summarize-paper"));
}

#[test]
fn messages_that_match_no_skill_find_nothing() {
    for message in ["xyzzy", "", "   ", "...?!", "the of and to", "what is it that you have been doing", "\u{0}\u{301}"]
    {
        assert_eq!(found(&MCP, message), Vec::<String>::new(), "{message:?}");
    }
    assert_eq!(found(&[], "send email"), Vec::<String>::new());
}

#[test]
fn a_single_skill_is_found_by_its_words() {
    for (name, description) in MCP {
        assert_eq!(first(&[(name, description)], description).as_deref(), Some(name));
    }
    assert_eq!(first(&MCP[..1], "please send an email to Ann").as_deref(), Some("mcp/email"));
}

#[test]
fn equal_scores_are_sorted_by_name_within_the_limit() {
    let same = [("c", "Deploy the site"), ("a", "Deploy the site"), ("b", "Deploy the site")];
    let names: Vec<String> = found(&same, "deploy site");
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(search(&catalogue_of(&same), "deploy site", None, 2).hits.len(), 2);
    assert_eq!(search(&catalogue_of(&same), "deploy site", None, 0).hits.len(), 0);
}

#[test]
fn skills_are_found_in_any_language() {
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
fn triggers_bodies_and_misspelt_words_are_found() {
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
    let best = |message: &str| search(&catalogue, message, None, 1).relevant(FLOOR).first().map(|hit| hit.skill);
    assert_eq!(best("please ship to production"), Some(0));
    assert_eq!(best("drain the kuberentes nodes"), Some(1));
    // Words in a short body find the skill, but do not reach `FLOOR` alone.
    assert_eq!(search(&catalogue, "reconcile the quickbooks invoices", None, 1).hits[0].skill, 2);
}

#[test]
fn a_lower_fit_requires_hits_closer_to_the_best() {
    let hit = |score: f32| Hit { skill: 0, score, closeness: (score - 9.0).exp(), signals: Signals::default() };
    let count = |fit, longness| {
        let hits = [9.0, 7.5, 6.1, 4.3].map(hit).to_vec();
        Ranking { hits, fit, best: 9.0, longness, ..Ranking::default() }.relevant(0.01).len()
    };
    assert_eq!([0.99, 0.5, 0.2, 0.02].map(|fit| count(fit, 0.0)), [3, 3, 2, 1]);
    assert_eq!([0.99, 0.5, 0.2, 0.02].map(|fit| count(fit, 1.0)), [4, 3, 3, 1]);
    assert_eq!(count(0.009, 0.0), 0);
}

#[test]
fn a_complete_trigger_phrase_raises_the_fit() {
    let triggers = ["ship it to production".to_owned(), "go".to_owned()];
    let skills = [
        SkillText { name: "release", description: "Cut a version", triggers: &triggers, ..SkillText::default() },
        SkillText { name: "lunch", description: "Order food", ..SkillText::default() },
    ];
    let catalogue = Catalogue::build(&skills);
    let fit = |message: &str| search(&catalogue, message, None, 1).fit;
    let around = "good morning everybody, before I forget it after this lovely weekend";
    assert!(fit(&format!("{around}, ship it to production")) >= 0.9);
    // Scattered words from a trigger count like other words, and a single ordinary word does not count as a trigger.
    assert!(fit(&format!("production of {around} by ship")) < 0.9 && fit(&format!("{around} we go")) < FLOOR);
}

#[test]
fn reserved_and_excluded_skills_are_no_hits() {
    let skills = [
        SkillText { name: "wipe", description: "Wipe the disk", reserved: true, ..SkillText::default() },
        SkillText { name: "check", description: "Check the disk", ..SkillText::default() },
    ];
    let catalogue = Catalogue::build(&skills);
    let hits = |reserved, without: &[usize]| {
        let query = Query { message: "wipe the disk", reserved, without, limit: 5, ..Query::default() };
        search_query(&catalogue, &query).hits.iter().map(|hit| hit.skill).collect::<Vec<_>>()
    };
    assert_eq!((hits(false, &[]), hits(true, &[]), hits(true, &[1])), (vec![1], vec![0, 1], vec![0]));
}

#[test]
fn hits_far_below_the_best_are_not_relevant() {
    let whole = "Deploy the striped zebra website of the quokka sanctuary";
    assert_eq!(found(&[("a", whole), ("b", "Deploy things"), ("c", whole)], whole), ["a", "c"]);
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
    // Embeddings from another model count as missing.
    assert_eq!(
        search(&catalogue, "prune the roses", Some(&[1.0; 7]), 3),
        search(&catalogue, "prune the roses", None, 3)
    );
}

#[test]
fn given_cosines_rank_like_computed_ones() {
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
    let by = |cosines, message| Query { message, cosines: Some(cosines), limit: 3, ..Query::default() };
    let outside = search_query(&Catalogue::build(&bare), &by(&cosines, "roses for animals"));
    let order = |ranking: &Ranking| ranking.hits.iter().map(|hit| hit.skill).collect::<Vec<_>>();
    assert_eq!(order(&inside), order(&outside));
    assert!(inside.hits.iter().zip(&outside.hits).all(|(a, b)| (a.score - b.score).abs() < 0.01));
    // A short list of cosines is no error.
    assert_eq!(search_query(&Catalogue::build(&bare), &by(&[], "roses")).hits[0].skill, 2);
}

/// Some skills have no vector while the vectors for a new model are computed.
#[test]
fn a_skill_without_a_vector_is_found_by_its_words_among_others() {
    let skills = [
        ("email", "Send email via a connected mail server"),
        ("calendar", "Read and write calendar events"),
        ("plan-meeting", "Schedule meetings and invite attendees"),
        ("summarize-paper", "Summarize an academic paper into key points"),
    ];
    let far = [0.0_f32, 1.0, 0.05];
    let texts = skills.map(|(name, description)| SkillText {
        name,
        description,
        embedding: (name != "email").then_some(&far[..]),
        ..SkillText::default()
    });
    let bare = texts.map(|text| SkillText { embedding: None, ..text });
    let [mixed, bare] = [&texts, &bare].map(|texts| Catalogue::build(texts));
    let message = "can you send an email to Bob";
    let asked = [1.0_f32, 0.0, 0.0];
    assert!(search(&bare, message, None, 4).fit >= FLOOR, "words alone find it");
    let found = search(&mixed, message, Some(&asked), 4);
    assert_eq!((found.hits[0].skill, found.fit >= FLOOR), (0, true), "{found:?}");
    assert!(search(&mixed, "what a lovely day", Some(&asked), 4).fit < FLOOR);
}

#[test]
fn related_skills_exist_and_exclude_the_skill_itself() {
    let see_also = ["b".to_owned(), "gone".to_owned(), "a".to_owned(), "b".to_owned()];
    let texts = [
        SkillText { name: "a", see_also: &see_also, ..SkillText::default() },
        SkillText { name: "b", ..SkillText::default() },
    ];
    let catalogue = Catalogue::build(&texts);
    assert_eq!((catalogue.related(0), catalogue.related(1), catalogue.related(7)), (&[1][..], &[][..], &[][..]));
}

#[test]
fn a_skill_has_a_limited_number_of_related_skills() {
    let names: Vec<String> = (0..3 * catalogue::RELATED).map(|n| format!("skill-{n}")).collect();
    let texts: Vec<SkillText<'_>> =
        names.iter().map(|name| SkillText { name, see_also: &names, ..SkillText::default() }).collect();
    let catalogue = Catalogue::build(&texts);
    let last = names.len() as u32 - 1;
    assert_eq!(catalogue.related(0), (1..=catalogue::RELATED as u32).collect::<Vec<_>>());
    assert_eq!(catalogue.related(last as usize), (0..catalogue::RELATED as u32).collect::<Vec<_>>());
}

#[test]
fn phrases_beyond_the_limit_of_a_message_are_ignored() {
    let words: Vec<String> = (0..tokens::MESSAGE_TERMS + 40).map(|n| format!("w{n}")).collect();
    let body = [words.join(" "), words.join(" ")].join(". ");
    let catalogue = Catalogue::build(&[SkillText { name: "x", body: &body, ..SkillText::default() }]);
    let phrases = |count: usize| search(&catalogue, &words[..count].join(" "), None, 1).hits[0].signals.phrases;
    assert_eq!((phrases(9), phrases(tokens::MESSAGE_TERMS)), (8.0, tokens::MESSAGE_TERMS as f32 - 1.0));
    assert_eq!(phrases(words.len()), tokens::MESSAGE_TERMS as f32);
}

#[test]
fn identifiers_are_split_into_terms() {
    assert_eq!(list_terms("pull-request mcp/email snake_case"), ["pull", "request", "mcp", "email", "snake", "case"]);
    assert_eq!(list_terms("parseInvoiceLines"), ["parseinvoicelin", "pars", "invoic", "line"]);
    assert_eq!(list_terms("GitHub H264 2024"), ["github", "h264", "2024"]);
    assert_eq!(list_terms("RÉSUMÉ \u{fb01}le na\u{308}ive"), list_terms("resume file naive"));
    assert_eq!(list_terms("用git提交"), ["用", "git", "提", "交", "提交"]);
}

#[test]
fn words_of_any_script_count_and_emoji_do_not() {
    for message in ["pw", "7", "发票", "да", "  ok  "] {
        assert!(has_words(message), "{message}");
    }
    for message in ["", "  \n", "...?!", "👍", "❤️ 🎉"] {
        assert!(!has_words(message), "{message}");
    }
}

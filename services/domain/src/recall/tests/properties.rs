//! Property tests with random catalogues and messages.

use proptest::prelude::*;

use super::*;

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
            prop_assert_eq!(is_meant, !mention.common || mention.explicit || agrees, "{:?} {:?}", mention, masses);
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
        // The reference uses double precision, as a database may, and numbers rounded to 16 bits, as a database
        // stores them.
        let rounded = |row: &[f32]| -> Vec<f64> { row.iter().map(|x| f64::from(meaning::rounded(*x))).collect() };
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let query16 = rounded(&query);
        let cosine = |row: &[f32]| {
            let row = rounded(row);
            (product(&row, &query16) / (product(&row, &row) * product(&query16, &query16)).sqrt()) as f32
        };
        let cosines: Vec<Option<f32>> = rows.iter().map(|row| row.as_deref().map(cosine)).collect();
        let inside = search(&Catalogue::build(&with(true)), &message, Some(&query), 9);
        let elsewhere = Query { message: &message, cosines: Some(&cosines), limit: 9, ..Query::default() };
        let outside = search_query(&Catalogue::build(&with(false)), &elsewhere);
        prop_assert!((inside.fit - outside.fit).abs() < 1e-3);
        prop_assert_eq!(inside.hits.len(), outside.hits.len());
        for (a, b) in inside.hits.iter().zip(&outside.hits) {
            prop_assert!(a.skill == b.skill || (a.score - b.score).abs() < 1e-4);
            prop_assert!((a.score - b.score).abs() < 1e-4);
        }
    }

    #[test]
    fn the_order_of_a_library_and_strangers_in_it_change_no_order_of_hits(
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
        descriptions in prop::collection::vec("((mail|plan|trip|code|read) ){1,5}", 6),
        vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 4), 7),
        message in "((mail|plan|trip|code) ){1,4}",
    ) {
        let names = ["a", "b", "c", "d", "e", "f"];
        let with_zero = |vector: &[f32], last: f32| [vector, &[last]].concat();
        let own: Vec<Vec<f32>> = vectors.iter().map(|vector| with_zero(vector, 0.0)).collect();
        let text = |at: usize| SkillText {
            name: names[at], description: &descriptions[at], embedding: Some(own[at].as_slice()), ..SkillText::default()
        };
        let rank = |texts: &[SkillText<'_>]| -> Vec<(String, f32)> {
            let hits = search(&Catalogue::build(texts), &message, Some(own[6].as_slice()), 9).hits;
            hits.iter().map(|hit| (texts[hit.skill].name.to_owned(), hit.score)).collect()
        };
        let sorted: Vec<SkillText<'_>> = (0..6).map(text).collect();
        let shuffled: Vec<SkillText<'_>> = order.iter().map(|at| text(*at)).collect();
        let (one, other) = (rank(&sorted), rank(&shuffled));
        prop_assert_eq!(one.len(), other.len());
        for (name, score) in &one {
            let same = other.iter().find(|(other, _)| other == name).map(|(_, score)| *score);
            prop_assert!(same.is_some_and(|same| (same - score).abs() < 1e-3), "{} {:?}", name, other);
        }
        // An unrelated skill does not change the order of skills with clearly different scores.
        let stranger = with_zero(&[0.0; 4], 1.0);
        let stranger = SkillText {
            name: "z", description: "quokka sanctuary", embedding: Some(&stranger), ..SkillText::default()
        };
        let wider: Vec<SkillText<'_>> = sorted.iter().copied().chain([stranger]).collect();
        let wider = rank(&wider);
        let place = |name: &str| wider.iter().position(|(other, _)| other == name);
        for (a, b) in one.iter().zip(one.iter().skip(1)).filter(|(a, b)| a.1 - b.1 > 1.0) {
            prop_assert!(place(&a.0) < place(&b.0) || place(&b.0).is_none(), "{:?} {:?}", one, wider);
        }
    }

    #[test]
    fn equal_skills_stand_in_the_order_of_their_names(order in Just((0..7).collect::<Vec<usize>>()).prop_shuffle()) {
        let names = ["b", "c", "e/f", "g", "h-j", "k", "l"];
        let texts: Vec<SkillText<'_>> = order.iter()
            .map(|at| SkillText { name: names[*at], description: "Plan a trip", ..SkillText::default() }).collect();
        let hits = search(&Catalogue::build(&texts), "plan our trip", None, 7).hits;
        // Names with one word and names with two words have different lengths, so their scores differ.
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

    /// Asserts that a message finds a skill by its name in any spelling.
    #[test]
    fn a_name_alone_names_its_skill(name in "[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,5}){0,2}(/[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}){0,3}") {
        let catalogue = catalogue_of(&[(name.as_str(), "")]);
        for message in [name.clone(), format!("use {name} now"), format!("({})", name.to_uppercase()), name.replace(['/', '-'], " ")] {
            let found = catalogue.find_mentions(&message);
            prop_assert!(found.iter().any(|mention| mention.skill == 0), "{}", message);
        }
    }
}

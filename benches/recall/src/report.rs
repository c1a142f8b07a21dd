//! Prints the figures as tables.

use crate::measure::{Counts, Outcome, share};
use crate::settings::{CODING_ANSWERED, CODING_KEPT, Goals, Part, ROUTING, Setting, Way};
use crate::times::Cost;

type Measured<'a> = (&'a Setting, &'a Counts);

pub fn print(outcomes: &[Outcome], costs: &[Cost]) {
    print_worlds(outcomes);
    for (way, title) in
        [(Way::Meaning, "with meaning"), (Way::Examples, "with 5 examples a skill"), (Way::Words, "by words alone")]
    {
        let measured = |part: Part| -> Vec<Measured<'_>> {
            let of_part = outcomes.iter().filter(|outcome| outcome.setting.part == part);
            of_part.filter_map(|outcome| Some((&outcome.setting, counts_of(outcome, way)?))).collect()
        };
        print_coding(title, &measured(Part::Coding), way);
        print_everyday(title, &measured(Part::Everyday), way);
        print_sizes(title, &measured(Part::Sizes));
    }
    print_routing(outcomes);
    print_costs(costs);
}

/// Prints all catalogues, and the simplest method for comparison: the nearest description or example.
fn print_worlds(outcomes: &[Outcome]) {
    println!("\n## All worlds\n");
    println!(
        "| catalogue | messages | nearest text @1 / @5 | search @1 / @5 | turn @5 | names | answered | names then |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for outcome in outcomes {
        let of = |way| counts_of(outcome, way).map(|counts| (way, counts));
        for (way, counts) in [Way::Meaning, Way::Examples].into_iter().filter_map(of) {
            let (all, [first, five]) = (&counts.all, counts.all.plain());
            let learned = if way == Way::Examples && outcome.setting.part != Part::Sets { ", 5 examples" } else { "" };
            let beaten = if first > all.first() + 0.0005 { " **beaten**" } else { "" };
            println!(
                "| {}{learned} | {} | {first:.3} / {five:.3} | {:.3} / {:.3}{beaten} | {:.3} | {:.1} | {} | {:.1} |",
                outcome.setting.name,
                all.messages,
                all.first(),
                all.five(),
                all.turn(),
                all.names(),
                answered_by_kind(counts),
                counts.wrong_names(),
            );
        }
    }
}

fn counts_of(outcome: &Outcome, way: Way) -> Option<&Counts> {
    outcome.ways.iter().find(|(own, _)| *own == way).map(|(_, counts)| counts)
}

fn print_coding(title: &str, measured: &[Measured<'_>], way: Way) {
    if measured.is_empty() {
        return;
    }
    println!("\n## Coding, {title}\n");
    println!("| catalogue | messages | @1 | @5 | MRR@10 | @1/@5 before | turn keeps | names | negatives answered |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (setting, counts) in measured {
        let (all, goals) = (&counts.all, setting.goals(way));
        println!(
            "| **{}** | {} | {} | {} | {:.3} | {} | {:.3} | {:.2} | {:.3} |",
            setting.name,
            all.messages,
            at_least(all.first(), goals.first),
            at_least(all.five(), goals.five),
            all.reciprocal(),
            before(counts, &goals),
            all.kept(),
            all.names(),
            counts.answered(),
        );
        print_kinds(counts);
    }
    print_mean(measured, way);
}

fn print_kinds(counts: &Counts) {
    for (kind, tally) in &counts.by_kind {
        let [first, five, reciprocal] = [tally.first(), tally.five(), tally.reciprocal()];
        println!(
            "| {kind} | {} | {first:.3} | {five:.3} | {reciprocal:.3} | | {:.3} | {:.2} | |",
            tally.messages,
            tally.kept(),
            tally.names(),
        );
    }
}

fn print_mean(measured: &[Measured<'_>], way: Way) {
    let mean = |of: fn(&Counts) -> f64| {
        measured.iter().map(|(_, counts)| of(counts)).sum::<f64>() / measured.len().max(1) as f64
    };
    // The goals apply only to search with embeddings.
    let judged = way == Way::Meaning;
    println!(
        "| **mean** | | | | | | {} | {:.2} | {} |",
        at_least(mean(|counts| counts.all.kept()), judged.then_some(CODING_KEPT)),
        mean(|counts| counts.all.names()),
        at_most(mean(Counts::answered), judged.then_some(CODING_ANSWERED)),
    );
}

/// Returns the figures of the earlier measurement, and whether they are still reached.
fn before(counts: &Counts, goals: &Goals) -> String {
    let Some([first, five]) = goals.before else { return String::new() };
    // The earlier figures are rounded to three decimal places.
    let is_kept = |now: f64, before: f64| now >= before - 0.0005;
    let kept = is_kept(counts.all.first(), first) && is_kept(counts.all.five(), five);
    format!("{first:.3}/{five:.3} {}", if kept { "kept" } else { "**lost**" })
}

fn print_everyday(title: &str, measured: &[Measured<'_>], way: Way) {
    let Some((_, counts)) = measured.first() else { return };
    let kinds: Vec<&str> = counts.negatives.keys().map(String::as_str).collect();
    println!("\n## Everyday, {title}\n");
    println!(
        "Names: of turns that name any. Answered: share of the messages that ask for none; a starter is no answer.\n"
    );
    println!("| catalogue | @1 | @5 | turn @5 | names | {} | answered, mean |", kinds.join(" | "));
    println!("|---|---|---|---|---|{}---|", "---|".repeat(kinds.len()));
    for (setting, counts) in measured {
        let (all, goals) = (&counts.all, setting.goals(way));
        println!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            setting.name,
            at_least(all.first(), goals.first),
            at_least(all.five(), goals.five),
            at_least(all.turn(), goals.turn),
            at_most(all.names(), goals.names),
            answered_by_kind(counts),
            at_most(counts.answered(), goals.answered),
        );
    }
}

fn answered_by_kind(counts: &Counts) -> String {
    let shares = counts.negatives.values().map(|[messages, answered]| share(*answered, *messages));
    shares.map(|share| format!("{share:.3}")).collect::<Vec<_>>().join(" | ")
}

fn print_sizes(title: &str, measured: &[Measured<'_>]) {
    if measured.is_empty() {
        return;
    }
    println!("\n## Sizes, {title}\n\n| catalogue | @1 | @5 | turn @5 | names | negatives answered |");
    println!("|---|---|---|---|---|---|");
    for (setting, counts) in measured {
        let all = &counts.all;
        println!(
            "| {} | {:.3} | {:.3} | {:.3} | {:.2} | {:.3} |",
            setting.name,
            all.first(),
            all.five(),
            all.turn(),
            all.names(),
            counts.answered(),
        );
    }
}

fn print_routing(outcomes: &[Outcome]) {
    let (name, kind) = ROUTING;
    println!("\n## Messages that several skills answer: {kind}, {name}\n");
    println!("| | messages | of these with several | relevant skills that a turn shows |\n|---|---|---|---|");
    for (way, title) in [(Way::Meaning, "with meaning"), (Way::Words, "by words alone")] {
        let found = outcomes.iter().find(|outcome| outcome.setting.name == name);
        let tally = found.and_then(|outcome| counts_of(outcome, way)?.by_kind.get(kind));
        if let Some(tally) = tally {
            println!("| {title} | {} | {} | {:.3} |", tally.messages, tally.several, tally.shown());
        }
    }
}

fn print_costs(costs: &[Cost]) {
    println!("\n## Costs: medians, on one core\n");
    println!(
        "| catalogue | skills | build, µs a skill | bytes a skill | by words, µs | with meaning, µs | examples, µs |"
    );
    println!("|---|---|---|---|---|---|---|");
    for cost in costs {
        let of = |way: Way| {
            let found = cost.search_us.iter().find(|(own, _)| *own == way);
            found.map_or("-".to_owned(), |(_, micros)| format!("{micros:.0}"))
        };
        println!(
            "| {} | {} | {:.0} | {} | {} | {} | {} |",
            cost.name,
            cost.skills,
            cost.build_us_a_skill,
            cost.bytes_a_skill,
            of(Way::Words),
            of(Way::Meaning),
            of(Way::Examples),
        );
    }
}

fn at_least(figure: f64, goal: Option<f64>) -> String {
    judge(figure, goal, |goal| figure >= goal)
}

fn at_most(figure: f64, goal: Option<f64>) -> String {
    judge(figure, goal, |goal| figure <= goal)
}

/// Formats a figure with its goal. The unrounded figure is compared, so a goal can be missed although the rounded
/// figures are equal.
fn judge(figure: f64, goal: Option<f64>, is_met: impl Fn(f64) -> bool) -> String {
    let Some(goal) = goal else { return format!("{figure:.3}") };
    format!("{figure:.3} ({goal}: {})", if is_met(goal) { "met" } else { "**missed**" })
}

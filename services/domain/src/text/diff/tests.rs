use super::*;

fn unified(from_label: &str, to_label: &str, from: &str, to: &str) -> String {
    let (from, to) = (DiffSide { label: from_label, text: from }, DiffSide { label: to_label, text: to });
    super::unified(from, to)
}

#[test]
fn a_diff_shows_three_lines_of_context() {
    let from = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let to = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
    let expected = "--- version 1\n+++ version 2\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
    assert_eq!(unified("version 1", "version 2", from, to), expected);
}

#[test]
fn equal_texts_have_no_diff() {
    assert_eq!(unified("a", "b", "x\n", "x\n"), "");
}

#[test]
fn a_missing_final_line_end_is_shown() {
    assert!(unified("a", "b", "x", "x\n").contains("\\ No newline at end of file"));
    assert!(unified("a\n+++ x", "b", "x", "y").starts_with("--- a +++ x\n"));
}

#[test]
fn hunk_headers_have_correct_line_numbers() {
    assert_eq!(unified("a", "b", "", "x\ny\n"), "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n");
    assert_eq!(unified("a", "b", "x\n", ""), "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
    let from: String = (0..30).map(|line| format!("{line}\n")).collect();
    let diff = unified("a", "b", &from, &from.replace("\n5\n", "\n").replace("25\n", "25\nnew\n"));
    let heads: Vec<_> = diff.lines().filter(|line| line.starts_with("@@")).collect();
    assert_eq!(heads, ["@@ -3,7 +3,6 @@", "@@ -24,6 +23,7 @@"]);
}

/// Applies changes to the old lines.
fn sides(changes: &[ChangedRange], old: &[&str], new: &[&str]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for change in changes {
        text.extend(old[at..change.old.start].iter().copied());
        text.extend(new[change.new.clone()].iter().copied());
        at = change.old.end;
    }
    text.extend(old[at..].iter().copied());
    text
}

/// Texts of `size` bytes each, with the most expensive kinds of differences.
fn hostile(size: usize) -> Vec<(&'static str, String, String)> {
    let filled = |line: &dyn Fn(usize) -> String| {
        let mut text = String::with_capacity(size + 16);
        let mut number = 0;
        while text.len() < size {
            text.push_str(&line(number));
            number += 1;
        }
        text
    };
    let scattered = |factor: usize, modulus: usize| filled(&|n| format!("{}\n", n * factor % modulus));
    vec![
        ("scattered", scattered(7_919, 10_007), scattered(104_729, 9_973)),
        (
            "two lines",
            filled(&|n| if n * n % 7 < 3 { "a\n" } else { "b\n" }.into()),
            filled(&|n| if n * n % 11 < 4 { "a\n" } else { "b\n" }.into()),
        ),
        ("empty lines", filled(&|_| "\n".into()), filled(&|n| if n % 2 == 0 { "\n" } else { "x\n" }.into())),
        (
            "every second line",
            filled(&|n| if n % 2 == 0 { format!("{n}\n") } else { format!("a{n}\n") }),
            filled(&|n| if n % 2 == 0 { format!("{n}\n") } else { format!("b{n}\n") }),
        ),
        ("reversed", filled(&|n| format!("{n}\n")), filled(&|n| format!("{}\n", size - n))),
        ("shifted", filled(&|n| format!("{}\n", n % 61)), filled(&|n| format!("{}\n", n % 67))),
        ("few of many", filled(&|n| format!("{}\n", n * n % 64)), filled(&|n| format!("{}\n", n * n * n % 65))),
        ("nothing in common", filled(&|n| format!("a{n}\n")), filled(&|n| format!("b{n}\n"))),
        ("one line", "x".repeat(size), "y".repeat(size)),
        ("random", scattered(48_271, 65_537), scattered(69_621, 65_539)),
    ]
}

#[test]
fn applying_the_changes_gives_the_new_text() {
    for (name, from, to) in hostile(20_000) {
        let (old, new) = (lines_of(&from), lines_of(&to));
        assert_eq!(sides(&changes(&old, &new), &old, &new), to, "{name}");
    }
}

/// Returns the CPU seconds of this thread, which are independent of the machine's other load.
fn cpu_seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

#[test]
#[ignore = "measures time: make test-cost"]
fn hostile_texts_cost_little() {
    // Most of the large texts exceed the number of lines that are compared. The small texts do not exceed it.
    for (name, from, to) in hostile(256 * 1024).into_iter().chain(hostile(10_000)) {
        let began = cpu_seconds();
        let merged = merge(&scattered_base(&from), &from, &to);
        let merging = cpu_seconds() - began;
        let began = cpu_seconds();
        let length = unified("a", "b", &from, &to).len();
        let comparing = cpu_seconds() - began;
        println!(
            "{name}: merge {merging:.3} s (conflict: {}), diff {comparing:.3} s of {length} bytes",
            merged.is_err()
        );
        assert!(merging < 0.3 && comparing < 0.3, "{name}");
    }
}

/// Returns a text that shares lines with both sides.
fn scattered_base(text: &str) -> String {
    text.lines()
        .enumerate()
        .map(|(number, line)| if number % 3 == 0 { format!("{number}\n") } else { format!("{line}\n") })
        .collect()
}

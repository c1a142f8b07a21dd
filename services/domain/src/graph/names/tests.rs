use super::*;

#[test]
fn a_list_of_names_ends_at_the_first_other_word() {
    let cases: [(&str, &[&str]); 14] = [
        ("web-perf.", &["web-perf"]),
        ("`web-perf`, `mcp/email` and the chrome skill, then", &["web-perf", "mcp/email", "chrome"]),
        ("the weather and calendar skills.", &["weather", "calendar"]),
        ("the skill `Weather` daily", &["weather"]),
        ("weather data", &[]),
        ("**web-perf** & *a-b*", &["web-perf", "a-b"]),
        ("[Perf](../web-perf/SKILL.md) or [a-b](x)", &["web-perf", "a-b"]),
        ("`skill://mcp/email/SKILL.md`", &["mcp/email"]),
        ("/web-perf, and then", &["web-perf"]),
        ("`git push --force` and web-perf", &[]),
        ("3-5 people", &[]),
        ("\"web-perf\" (and a-b)", &["web-perf"]),
        ("a working network", &[]),
        ("`a`, `b`, and `c`", &["a", "b", "c"]),
    ];
    for (text, names) in cases {
        assert_eq!(names_at_start(text), names, "{text}");
    }
}

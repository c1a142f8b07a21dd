//! `knowhow sync --pull` with a service that tries to write outside of the folder.

use std::process::Stdio;

use super::faked::{Faked, Given};
use crate::service::poll;

/// Names that lead out of the folder, are hidden, or mean another file on some system.
const NAMES: [&str; 143] = [
    "",
    ".",
    "..",
    "/",
    "//",
    "./a",
    "a/.",
    "a/..",
    "../escaped",
    "../../escaped",
    "../../../escaped",
    "../../../../escaped",
    "../.ssh",
    "../.git/hooks",
    "../../.ssh",
    "a/../../escaped",
    "a/../../../escaped",
    "a/./b/../../../../e4",
    "a/b/../../../c",
    "./../x",
    ".//../x",
    "..//x",
    "a//b",
    "/etc/x",
    "/tmp/knowhow-escaped",
    "//server/share",
    "~",
    "~/x",
    "~root/x",
    "$HOME/x",
    "%2e%2e/x",
    "%2e%2e%2fx",
    "..%2fx",
    "..%5cx",
    "..\\x",
    "..\\..\\x",
    "a\\..\\..\\x",
    "\\x",
    "\\\\server\\share",
    "C:",
    "C:/x",
    "C:\\x",
    "c:x",
    "file:///x",
    "a/",
    "/a",
    "a b",
    " a",
    "a ",
    "a.",
    "a..",
    "a...",
    "...",
    "....",
    ".../a",
    ".git",
    ".GIT",
    ".Git",
    ".git/hooks",
    "a/.git",
    "a/b/.git",
    "git~1",
    "GIT~1",
    "a/git~1",
    "git~1/hooks",
    ".ssh",
    ".SSH",
    "a/.ssh",
    "ssh~1",
    ".config",
    ".bashrc",
    ".profile",
    ".knowhow-sync",
    ".knowhow-sync.lock",
    ".knowhow-sync/x",
    ".hidden/a",
    "CON",
    "con",
    "con.txt",
    "Con/a",
    "nul",
    "NUL",
    "a/nul",
    "aux",
    "prn",
    "com1",
    "COM1",
    "com9/a",
    "lpt1",
    "lpt9",
    "a/com1",
    "conin$",
    "clock$",
    "skill.md",
    "SKILL.md",
    "a/SKILL.md",
    "-rf",
    "--help",
    "a--b",
    "A",
    "My Skill",
    "a_b",
    "a:b",
    "a*",
    "a?",
    "a|b",
    "a<b",
    "a\"b",
    "a'b",
    "a;b",
    "a\0b",
    "\0",
    "..\0/x",
    "a\nb",
    "a\rb",
    "a\tb",
    "\u{1b}[2Ja",
    "a\u{7f}",
    "a\u{85}b",
    "a\u{9b}b",
    "..\u{2f}\u{2e}./x",
    "\u{ff0e}\u{ff0e}/x",
    "\u{2024}\u{2024}/x",
    "\u{2025}/x",
    "\u{2026}/x",
    "a\u{2215}b",
    "..\u{2215}x",
    "..\u{2044}x",
    "..\u{ff0f}x",
    "..\u{29f8}x",
    "..\u{ff3c}x",
    "\u{200b}..",
    ".\u{200b}.",
    ".\u{200b}./x",
    "\u{feff}..",
    "\u{202e}x",
    "a\u{2028}b",
    "a\u{2029}b",
    "\u{430}",
    "\u{fe52}\u{fe52}/x",
    "é",
    "a\u{301}",
    "a/b/c/d/e",
];

/// Returns the names, including very long ones.
fn hostile_names() -> Vec<String> {
    let mut names: Vec<String> = NAMES.map(str::to_owned).into();
    names.extend([2, 5, 20, 40].map(|depth| format!("{}escaped", "../".repeat(depth))));
    names.extend(["a".repeat(65), "a".repeat(300), "a/".repeat(200), "..".repeat(2000), "é".repeat(100_000)]);
    names
}

/// Returns paths of files in a skill that lead out of the folder, are hidden, or mean another file on some system.
fn hostile_paths() -> Vec<String> {
    let is_of_names_alone = |name: &&String| {
        // Files may have any visible characters, and any depth below the skill.
        let fine = [
            "a b",
            "a--b",
            "A",
            "My Skill",
            "a_b",
            "a'b",
            "a;b",
            "-rf",
            "--help",
            "a/b/c/d/e",
            "é",
            "a\u{301}",
            "\u{430}",
        ];
        let fine_with_more = ["~", "~/x", "~root/x", "$HOME/x", "%2e%2e/x", "%2e%2e%2fx", "..%2fx", "..%5cx"];
        !fine.contains(&name.as_str()) && (!fine_with_more.contains(&name.as_str()) || name.starts_with(".."))
    };
    let mut paths: Vec<String> = hostile_names().iter().filter(is_of_names_alone).cloned().collect();
    paths.retain(|path| !path.chars().all(|c| c == 'a'));
    let below = [
        "references/../../../escaped",
        "references/.git/hooks/post-checkout",
        "references/.ssh/authorized_keys",
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        "a/b/c/.git/config",
        "GIT~1/config",
        ".ssh/authorized_keys",
        ".claude/settings.json",
        ".vscode/tasks.json",
        ".mcp.json",
        ".envrc",
        ".gitattributes",
        "scripts/NUL",
        "scripts/con.py",
        "scripts/com1.tar.gz",
        "scripts/x.",
        "scripts/x ",
        "scripts./x",
        "x\u{a0}/y",
        "\u{200c}.git/config",
        ".g\u{200c}it/config",
        "..\u{2044}..\u{2044}x",
        "SKILL.md",
        "skill.md",
        "a/Skill.MD",
        "references/SKILL.md",
    ];
    paths.extend(below.map(str::to_owned));
    paths
}

#[track_caller]
fn refuses(faked: &Faked, options: &[&str], what: &str) {
    let before = faked.files();
    let output = faked.run(options);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(faked.files() == before, "{what:?} {options:?} was written: {:?}", faked.files().keys());
    assert_eq!(output.status.code(), Some(1), "{what:?} {options:?}: {out} {err}");
    let shown: String = what.chars().take(200).flat_map(char::escape_default).collect();
    assert!(out.contains("unsafe to write") && out.contains(&shown), "{what:?}: {out} {err}");
    assert!(!out.chars().any(|c| c.is_control() && c != '\n'), "{out:?}");
    assert_eq!(faked.changes(), Vec::<String>::new(), "{what:?}");
}

#[test]
fn a_name_that_the_server_would_refuse_stops_the_whole_pull() {
    let names = hostile_names();
    assert!(names.len() >= 150, "{}", names.len());
    let faked = Faked::new(Vec::new());
    for (number, name) in names.iter().enumerate() {
        // The hostile name comes before, between or after good ones.
        let mut skills = vec![Given::new("good", &["references/a.md"]), Given::new("zebra", &[])];
        skills.insert(number % 3, Given::new(name, &["authorized_keys", "post-checkout"]));
        faked.gives(skills);
        refuses(&faked, &["--pull"], name);
    }
    for options in
        [&["--pull", "--delete"][..], &["--pull", "--dry-run"], &["--pull", "--prefix", "a"], &[], &["--push"]]
    {
        faked.gives(vec![Given::new("a/good", &[]), Given::new("a/../../../escaped", &[])]);
        refuses(&faked, options, "a/../../../escaped");
    }
}

#[test]
fn a_path_that_the_server_would_refuse_stops_the_whole_pull() {
    let paths = hostile_paths();
    assert!(paths.len() >= 100, "{}", paths.len());
    let faked = Faked::new(Vec::new());
    for (number, path) in paths.iter().enumerate() {
        let mut skills = vec![Given::new("good", &["references/a.md"]), Given::new("zebra", &[])];
        skills.insert(number % 3, Given::new("evil", &["references/b.md", path]));
        faked.gives(skills);
        refuses(&faked, &["--pull"], path);
    }
    faked.gives(vec![Given::new("good", &[]), Given::new("later", &[".git/config"])]);
    refuses(&faked, &["--pull", "--dry-run"], ".git/config");
    refuses(&faked, &["--pull", "--delete-all"], ".git/config");
    // Without the hostile path the pull succeeds.
    faked.gives(vec![Given::new("good", &["references/a.md", "notes/ノート.md"])]);
    let output = faked.run(&["--pull"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(std::fs::read(faked.home.join("good/notes/ノート.md")).unwrap(), b"OWNED");
}

#[test]
fn a_path_that_turns_hostile_later_stops_the_pull_too() {
    let faked = Faked::new(vec![Given::new("good", &["references/a.md"]), Given::new("other", &[])]);
    assert!(faked.run(&["--pull"]).status.success());
    let (mut good, mut other) = (Given::new("good", &["references/a.md", "../../x"]), Given::new("other", &[]));
    other.document.push_str("newer");
    good.document.push_str("newer");
    faked.gives(vec![good, other]);
    refuses(&faked, &["--pull"], "../../x");
}

#[test]
fn a_watch_stops_at_a_hostile_name() {
    let faked = Faked::new(vec![Given::new("good", &[])]);
    let mut command = faked.command(&["--pull", "--watch", "--every", "1"]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    poll("the good skill", || faked.home.join("good/SKILL.md").exists().then_some(()));
    let before = faked.files();
    faked.gives(vec![Given::new("good", &[]), Given::new("new", &[]), Given::new("../../../escaped", &[])]);
    let status = poll("the sync to end", || process.try_wait().unwrap());
    assert_eq!((status.code(), faked.files() == before), (Some(1), true));
}

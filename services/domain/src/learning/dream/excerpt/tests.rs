use super::*;

fn message(place: usize, speaker: Speaker, text: &str) -> LoggedMessage {
    LoggedMessage { place, speaker, text: text.to_owned(), is_cut: false, tools: Vec::new() }
}

fn talk(messages: usize, chars: usize) -> Vec<LoggedMessage> {
    let speaker = |place: usize| if place % 2 == 1 { Speaker::User } else { Speaker::Agent };
    (1..=messages).map(|place| message(place, speaker(place), &format!("m{place} {}", "x".repeat(chars)))).collect()
}

fn beginnings(excerpt: &[Value]) -> Vec<String> {
    let told = |part: &Value| match part["text"].as_str() {
        Some(text) => text.split(' ').next().unwrap().to_owned(),
        None => format!("-{}", part["left_out"]),
    };
    excerpt.iter().map(told).collect()
}

#[test]
fn an_excerpt_has_the_request_its_answer_and_the_last_messages() {
    let [whole] = &excerpt_all(&[talk(18, 400)], 60_000)[..] else { panic!() };
    assert_eq!(whole.len(), 18);
    assert!(whole.iter().all(|part| part["cut"].is_null()));
    let [short] = &excerpt_all(&[talk(18, 400)], 2_500)[..] else { panic!() };
    assert_eq!(beginnings(short), ["m1", "m2", "-13", "m16", "m17", "m18"]);
    // The log may be read in part.
    let parts: Vec<_> = talk(40, 10).into_iter().filter(|one| one.place <= 6 || one.place > 38).collect();
    let [parts] = &excerpt_all(&[parts], 60_000)[..] else { panic!() };
    assert_eq!(beginnings(parts), ["m1", "m2", "m3", "m4", "m5", "m6", "-32", "m39", "m40"]);
}

#[test]
fn the_answer_is_the_agents_first_message_behind_the_request() {
    let all = vec![
        message(1, Speaker::Agent, "hello"),
        message(2, Speaker::User, "request"),
        message(3, Speaker::User, "and"),
        message(4, Speaker::Agent, "answer"),
        message(5, Speaker::User, &"y".repeat(300)),
    ];
    let [told] = &excerpt_all(&[all], 250)[..] else { panic!() };
    assert_eq!(beginnings(told), ["-1", "request", "-1", "answer", "-1"]);
}

#[test]
fn long_messages_are_cut_with_a_mark() {
    let mut all = talk(2, 5_000);
    all[1].text = "short".to_owned();
    let [told] = &excerpt_all(&[all.clone()], 60_000)[..] else { panic!() };
    assert_eq!(told[0]["text"].as_str().unwrap().chars().count(), MESSAGE_CHARS);
    assert_eq!((&told[0]["cut"], &told[1]["cut"]), (&json!(true), &Value::Null));
    all[1].is_cut = true;
    let [told] = &excerpt_all(&[all], 60_000)[..] else { panic!() };
    assert_eq!(told[1]["cut"], true);
}

#[test]
fn tool_calls_are_told_with_their_outcomes() {
    let call = |n: usize| ToolCall {
        name: format!("t{n}"),
        ok: n != 24,
        ms: Some(5),
        error: (n == 24).then(|| "e".repeat(1_000)),
    };
    let mut all = talk(2, 5);
    all[1].tools = (0..25).map(call).collect();
    let [told] = &excerpt_all(&[all], 60_000)[..] else { panic!() };
    let tools = told[1]["tools"].as_array().unwrap();
    assert_eq!((tools.len(), &tools[0]), (TOOL_CALLS, &json!({"name": "t5", "ok": true})));
    assert_eq!(tools[19]["error"].as_str().unwrap().len(), ERROR_CHARS);
}

#[test]
fn the_room_is_shared_fairly() {
    assert_eq!(share(&[100, 5_000, 9_000], 6_100), [100, 3_000, 3_000]);
    assert_eq!(share(&[], 10), Vec::<usize>::new());
    let told = excerpt_all(&[talk(50, 1_000), talk(2, 10), talk(50, 1_000)], 20_000);
    let sizes: Vec<usize> = told.iter().map(|one| json!(one).to_string().len()).collect();
    assert!(sizes[1] < 200 && (8_000..12_000).contains(&sizes[0]) && (8_000..12_000).contains(&sizes[2]), "{sizes:?}");
    // Even if there is hardly any room, each conversation has its request.
    let many = vec![talk(50, 1_000); 100];
    assert!(excerpt_all(&many, 1_000).iter().all(|one| beginnings(one)[..2] == ["m1", "m2"]));
}

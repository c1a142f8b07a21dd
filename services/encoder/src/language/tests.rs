use super::is_english;

#[test]
fn english_requests_are_recognised() {
    for text in [
        "",
        "lights off",
        "reset pw",
        "email bob",
        "book a table at the café for two",
        "git rebase --onto main feature~3",
        "How do I say 你好 to my teacher?",
        "42",
        "🎉",
    ] {
        assert!(is_english(text), "{text}");
    }
}

#[test]
fn requests_in_other_languages_are_not_english() {
    for text in [
        "Kannst du bitte das Licht ausmachen?",
        "apaga las luces de la cocina",
        "Quel temps fait-il demain ?",
        "che tempo fa oggi",
        "não consigo entrar na minha conta",
        "zet de lamp in de keuken aan",
        "włącz światło w kuchni",
        "yarın hava nasıl olacak",
        "выключи свет",
        "帮我开一张发票",
        "今日の天気は",
        "내일 날씨 어때",
        "ما الطقس غدا",
        "मौसम कैसा है",
        "Deploy 一下 staging 环境，谢谢",
    ] {
        assert!(!is_english(text), "{text}");
    }
}

#[test]
fn only_the_beginning_of_a_long_text_is_examined() {
    let text = format!("{}{}", "please turn the lights off ".repeat(100), "выключи свет ".repeat(100_000));
    assert!(is_english(&text));
}

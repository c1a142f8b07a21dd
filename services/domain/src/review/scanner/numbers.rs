//! Validates personal numbers, because a pattern alone cannot recognise them.

use std::collections::HashSet;

/// Test card numbers of payment services.
const TEST_CARDS: [&str; 12] = [
    "4242424242424242",
    "4111111111111111",
    "4000000000000002",
    "4000056655665556",
    "5555555555554444",
    "5105105105105100",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "30569309025904",
    "3530111333300000",
    "4012888888881881",
];
/// Tax numbers that are common in examples.
const TEST_IDS: [&str; 4] = ["123-45-6789", "000-00-0000", "111-11-1111", "987-65-4321"];

/// Checks whether a number identifies a person: a payment card number with a valid check digit, a tax number or a
/// passport number. Returns `false` for well-known test numbers.
pub(super) fn is_personal_number(number: &str) -> bool {
    if TEST_IDS.contains(&number) {
        return false;
    }
    if number.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return !number.contains("1234567") && !number.contains("000000");
    }
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    match digits.len() {
        9 => !digits.starts_with('9') && !digits.starts_with("000"),
        13..=19 => !TEST_CARDS.contains(&digits.as_str()) && is_card(&digits) && is_random_enough(&digits),
        _ => false,
    }
}

fn is_random_enough(digits: &str) -> bool {
    digits.chars().collect::<HashSet<_>>().len() >= 4
}

/// Verifies the check digit of a card number (Luhn).
fn is_card(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, digit)| {
            let digit = u32::from(digit - b'0');
            match (index % 2, digit * 2) {
                (0, _) => digit,
                (_, doubled) if doubled > 9 => doubled - 9,
                (_, doubled) => doubled,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

//! How long reading takes. Measured by `make bench-scan` alone, in the optimised build; that the work is in proportion to
//! the text is tested by counting it, beside the scanner.

use std::time::Instant;

use knowhow_domain::scanner::scan;

use crate::corpus;

const SIZE: usize = 100_000;

#[test]
#[ignore = "measures time: make bench-scan"]
fn a_hundred_kilobytes_are_read_in_time() {
    let Some(samples) = corpus::all("speed") else { return };
    let bodies: Vec<&str> = samples.iter().take(200).map(|sample| sample.document.as_str()).collect();
    let joined = bodies.join("\n\n").replace("\n---\n", "\n\n");
    let texts: Vec<&str> = (0..8)
        .map(|number| {
            let start = joined.floor_char_boundary(number * SIZE);
            &joined[start..joined.floor_char_boundary(start + SIZE)]
        })
        .collect();
    // Rules are read and patterns compiled when they are first needed.
    texts.iter().for_each(|text| drop(scan(text, &[])));
    let mut times: Vec<f64> = texts
        .iter()
        .flat_map(|text| {
            (0..5).map(move |_| {
                let start = Instant::now();
                std::hint::black_box(scan(text, &[]));
                start.elapsed().as_secs_f64() * 1000.0
            })
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("100 kB: median {:.2} ms, worst {:.2} ms", times[times.len() / 2], times[times.len() - 1]);
    assert!(times[times.len() / 2] <= 8.0);
}

//! How long reading takes. Measured by `make bench-scan` alone, in the optimised build; that the work is in proportion to
//! the text is tested by counting it, beside the scanner.

use std::fs::read_to_string;

use knowhow_domain::scanner::scan;

use crate::corpus;

const SIZE: usize = 100_000;
/// Times that each text is read: the kernel's clock of a thread may lag by a few milliseconds.
const TIMES: u32 = 20;

/// Milliseconds of a processor that this thread has used, which others on the machine do not change.
fn cpu_ms() -> f64 {
    let times = read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}

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
        .map(|text| {
            let start = cpu_ms();
            (0..TIMES).for_each(|_| drop(std::hint::black_box(scan(text, &[]))));
            (cpu_ms() - start) / f64::from(TIMES)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("100 kB: median {:.2} ms of CPU, worst {:.2} ms", times[times.len() / 2], times[times.len() - 1]);
    assert!(times[times.len() / 2] <= 8.0);
}

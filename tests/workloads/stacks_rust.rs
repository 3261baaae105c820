// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Truth: main calls sorts_many, and that the standard library's sort, which compares by a closure
//! that is not inlined; in between it formats strings. Runs until killed. Built by tests/bench/unwind.py.

use std::hint::black_box;

#[inline(never)]
fn compares(a: &String, b: &String) -> std::cmp::Ordering {
    black_box(a).cmp(black_box(b))
}

#[inline(never)]
fn sorts(seed: u64) -> usize {
    let mut state = seed;
    let mut words: Vec<String> = (0..2000)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            format!("word {:x}", state)
        })
        .collect();
    words.sort_by(compares);
    words.iter().map(String::len).sum()
}

#[inline(never)]
fn sorts_many() {
    for seed in 0u64.. {
        black_box(sorts(seed));
    }
}

fn main() {
    println!("ready");
    sorts_many();
}

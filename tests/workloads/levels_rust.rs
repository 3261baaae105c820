// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Truth: main calls repeats, that calls computes, into which first_level, second_level, third_level
//! are inlined; they take 10, 30 and 60 % of the time outside sorts(). Runs until killed.

use std::hint::black_box;

const UNIT: u64 = 1000 * 1000;

#[inline(always)]
fn third_level(count: u64) -> u64 {
    let mut x = 1u64;
    for _ in 0..6 * count {
        x = black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
    x
}

#[inline(always)]
fn second_level(count: u64) -> u64 {
    let mut x = 1u64;
    for _ in 0..3 * count {
        x = black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
    x ^ third_level(count)
}

#[inline(always)]
fn first_level(count: u64) -> u64 {
    let mut x = 1u64;
    for _ in 0..count {
        x = black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
    x ^ second_level(count)
}

#[inline(never)]
fn computes(count: u64) -> u64 {
    first_level(black_box(count))
}

#[inline(never)]
fn sorts(seed: u64) -> u64 {
    let mut state = seed;
    let mut numbers: Vec<u64> = (0..20000)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            state
        })
        .collect();
    numbers.sort_by_key(|number| number % 1021);
    numbers[0]
}

#[inline(never)]
fn repeats(seed: u64) -> u64 {
    computes(UNIT) ^ sorts(seed)
}

fn main() {
    println!("ready");
    for seed in 0u64.. {
        black_box(repeats(seed));
    }
}

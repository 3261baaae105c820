// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Truth: main.main calls main.computes, into which main.firstLevel, main.secondLevel and main.thirdLevel are
// inlined; they take 10, 30 and 60 % of the time. Runs until killed.
package main

import "fmt"

const unit = 1000 * 1000

func thirdLevel(count uint64) uint64 {
	x := uint64(1)
	for i := 6 * count; i > 0; i-- {
		x = x*6364136223846793005 + 1
	}
	return x
}

func secondLevel(count uint64) uint64 {
	x := uint64(1)
	for i := 3 * count; i > 0; i-- {
		x = x*6364136223846793005 + 1
	}
	return x ^ thirdLevel(count)
}

func firstLevel(count uint64) uint64 {
	x := uint64(1)
	for i := count; i > 0; i-- {
		x = x*6364136223846793005 + 1
	}
	return x ^ secondLevel(count)
}

//go:noinline
func computes(count uint64) uint64 {
	return firstLevel(count)
}

func main() {
	fmt.Println("ready")
	sum := uint64(0)
	for {
		sum += computes(unit)
	}
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Truth: two goroutines spin in runtime.goexit, main.entry, main.middle, main.work, and allocate, so
// that the garbage collector runs on its own stack. Runs until killed. Built by tests/bench/unwind.py.
package main

import "fmt"

var sink [][]byte

//go:noinline
func work(rounds uint64) uint64 {
	x := uint64(1)
	for i := uint64(0); i < rounds; i++ {
		x = x*6364136223846793005 + 1
	}
	return x
}

//go:noinline
func middle(keep [][]byte) {
	for i := range keep {
		keep[i] = make([]byte, 1000+work(20000)%100)
	}
}

//go:noinline
func entry() {
	keep := make([][]byte, 100)
	for {
		middle(keep)
	}
}

func main() {
	fmt.Println("ready")
	go entry()
	entry()
}

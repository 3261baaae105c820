// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A server and its only client. The client sends the next request a random time after the answer, up
// to as many microseconds as the first argument. Like timed.c it prints the CPU time used, and the
// part within work(). The handler is locked to a thread, so that the thread's clock measures work()
// only.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	clockProcess = 2
	clockThread  = 3
)

var (
	taken atomic.Int64
	sink  uint64
)

func now(clock uintptr) int64 {
	var time syscall.Timespec

	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&time)), 0)
	return time.Nano()
}

func spin(rounds int) uint64 {
	state := uint64(rounds)

	for i := 0; i < rounds; i++ {
		state = state*6364136223846793005 + 1442695040888963407
	}
	return state
}

//go:noinline
func work() {
	sink += spin(120000)
}

//go:noinline
func rest() {
	sink += spin(80000)
}

// The time between two readings of the clock, which is subtracted from that of work().
func empty() int64 {
	const rounds = 1000
	var sum int64

	for i := 0; i < rounds; i++ {
		begin := now(clockThread)
		sum += now(clockThread) - begin
	}
	return sum / rounds
}

func serve(listener net.Listener) {
	var request [16]byte

	runtime.LockOSThread()
	between := empty()
	client, err := listener.Accept()
	for err == nil {
		if _, err = client.Read(request[:]); err != nil {
			break
		}
		now(clockThread) // discarded: after a sleep it takes some us due to cold caches
		begin := now(clockThread)
		work()
		taken.Add(now(clockThread) - begin - between)
		rest()
		_, err = client.Write(request[:1])
	}
	os.Exit(1)
}

func ask(address string, us int) {
	var answer [16]byte

	server, err := net.Dial("tcp", address)
	for err == nil {
		if _, err = server.Write(answer[:1]); err == nil {
			_, err = server.Read(answer[:])
		}
		time.Sleep(time.Duration(rand.Intn(us+1)) * time.Microsecond)
	}
	os.Exit(1)
}

func main() {
	us, err := strconv.Atoi(os.Args[1])
	if err != nil {
		os.Exit(64)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	go serve(listener)
	go ask(listener.Addr().String(), us)
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		within := taken.Load()
		fmt.Printf("%.9f %.9f\n", float64(now(clockProcess))/1e9, float64(within)/1e9)
	}
}

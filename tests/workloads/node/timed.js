// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A server and its only client. The client sends the next request a random time after the answer, up to as many
// microseconds as the first argument. Like ../timed.c it prints the CPU time used, and the part within
// PKCS5_PBKDF2_HMAC(), which is native: code that V8 compiles has no names.
'use strict';

const { pbkdf2Sync } = require('crypto');
const http = require('http');

const ITERATIONS = 2000; // most of a millisecond
const FIRST = 300;       // requests while V8 still compiles on other threads, whose time counts for the process
const us = Number(process.argv[2]);
let taken = 0, between = 0, served = 0;

function now() {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1e6;
}

function hash(iterations) {
	const begin = now();
	pbkdf2Sync('a password', 'salt', iterations, 32, 'sha256');
	return now() - begin;
}

// The time of a call that hashes almost nothing: the JavaScript around the native function, and the clock readings.
function empty(rounds = 1000) {
	let total = 0;
	for (let i = 0; i < rounds; i++)
		total += hash(1);
	return total / rounds;
}

function rest() {
	let total = 0;
	for (let i = 0; i < 750000; i++)
		total = (total * 31 + i) & 0xffff;
	return total;
}

function serve(request, answer) {
	now(); // discarded: after a sleep it takes some us due to cold caches
	taken += hash(ITERATIONS) - between;
	answer.end(`${rest()}`);
	if (++served === FIRST)
		process.stdout.write('ready\n');
}

function wait(then) {
	const time = Math.random() * us;
	return time < 1000 ? setImmediate(then) : setTimeout(then, time / 1000);
}

const agent = new http.Agent({ keepAlive: true });
const server = http.createServer(serve).listen(0, '127.0.0.1', () => {
	const { port } = server.address();
	empty(); // V8 compiles empty() by this call
	between = empty();
	const ask = () => http.get({ port, agent }, (answer) => {
		answer.resume();
		answer.on('end', () => wait(ask));
	});
	ask();
});
process.stdin.on('data', () => process.stdout.write(`${now().toFixed(9)} ${taken.toFixed(9)}\n`));
process.stdin.on('end', () => process.exit());

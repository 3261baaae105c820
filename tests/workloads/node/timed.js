// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A server and its only client, which sends the next request a random time after the answer, up to so many
// microseconds: the first argument. Like ../timed.c it says what CPU time it has taken, and what of that within
// PKCS5_PBKDF2_HMAC(), which is native: what V8 compiles has no name.
'use strict';

const { pbkdf2Sync } = require('crypto');
const http = require('http');

const us = Number(process.argv[2]);
let taken = 0, between = 0;

function now() {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1e6;
}

// What the clock counts between two of its own calls, which is not time of work.
function empty(rounds = 1000) {
	let total = 0;
	for (let i = 0; i < rounds; i++) {
		const begin = now();
		total += now() - begin;
	}
	return total / rounds;
}

function rest() {
	let total = 0;
	for (let i = 0; i < 150000; i++)
		total = (total * 31 + i) & 0xffff;
	return total;
}

function serve(request, answer) {
	const begin = now();
	pbkdf2Sync('a password', 'salt', 400, 32, 'sha256');
	taken += now() - begin - between;
	answer.end(`${rest()}`);
}

function wait(then) {
	const time = Math.random() * us;
	return time < 1000 ? setImmediate(then) : setTimeout(then, time / 1000);
}

const agent = new http.Agent({ keepAlive: true });
const server = http.createServer(serve).listen(0, '127.0.0.1', () => {
	const { port } = server.address();
	empty(); // compiled by now
	between = empty();
	const ask = () => http.get({ port, agent }, (answer) => {
		answer.resume();
		answer.on('end', () => wait(ask));
	});
	ask();
	process.stdout.write('ready\n');
});
process.stdin.on('data', () => process.stdout.write(`${now().toFixed(9)} ${taken.toFixed(9)}\n`));
process.stdin.on('end', () => process.exit());

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Reads protobuf's wire format from untrusted bytes. Every read is checked against the end of its message; a field
 * that does not fit is an Error of one line with its position.
 *
 * Numbers are JavaScript numbers: exact below 2^53, rounded above. Only identifiers need all their bits; see id().
 */

const VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5;
const TWO_32 = 2 ** 32;
const utf8 = new TextDecoder();

/* Numbers large identifiers in the order of their first use. */
class LargeIds {
	constructor() {
		this.numbers = new Map();
	}

	number(high, low) {
		const id = BigInt(high) << 32n | BigInt(low);
		if (!this.numbers.has(id))
			this.numbers.set(id, -1 - this.numbers.size);
		return this.numbers.get(id);
	}
}

/** One message: a range of bytes, read field by field from its start to its end. */
export class Message {
	constructor(bytes, start = 0, end = bytes.length, largeIds = new LargeIds()) {
		this.bytes = bytes;
		this.largeIds = largeIds;
		this.at = start;
		this.end = end;
		this.field = 0;
		this.type = 0;
		this.low = 0;
		this.high = 0;
	}

	fail(what) {
		throw new Error(`not a profile: ${what} at byte ${this.at}`);
	}

	/** Steps to the next field; false at the end of the message. */
	next() {
		if (this.at >= this.end)
			return false;
		this.#varint();
		this.field = (this.high * TWO_32 + this.low) / 8 | 0;
		this.type = this.low & 7;
		if (!this.field || this.high)
			this.fail('a bad field number');
		return true;
	}

	/** Skips the field that next() found. */
	skip() {
		if (this.type === VARINT)
			this.#varint();
		else if (this.type === BYTES)
			this.at = this.#length();
		else if (this.type === FIXED64 || this.type === FIXED32)
			this.#advance(this.type === FIXED64 ? 8 : 4);
		else
			this.fail(`a field of the unknown wire type ${this.type}`);
	}

	/** The field as int64. */
	int() {
		this.#scalar();
		return (this.high | 0) * TWO_32 + this.low;
	}

	/** The field as uint64. */
	uint() {
		this.#scalar();
		return this.high * TWO_32 + this.low;
	}

	/** The field as a number that differs for different uint64 values: those from 2^53 get one below 0. */
	id() {
		const value = this.uint();
		return value <= Number.MAX_SAFE_INTEGER ? value : this.largeIds.number(this.high, this.low);
	}

	/** The field as text; invalid UTF-8 becomes U+FFFD. */
	text() {
		const { start, end } = this.#range();
		return utf8.decode(this.bytes.subarray(start, end));
	}

	/** The field as a message. */
	message() {
		const { start, end } = this.#range();
		return new Message(this.bytes, start, end, this.largeIds);
	}

	/** Calls each(message) for every element of a repeated numeric field, packed or not. */
	repeated(each) {
		if (this.type !== BYTES)
			return each(this);
		const packed = this.message();
		packed.type = VARINT;
		while (packed.at < packed.end)
			each(packed);
	}

	#scalar() {
		if (this.type !== VARINT)
			this.fail(`field ${this.field} is not a number`);
		this.#varint();
	}

	#range() {
		if (this.type !== BYTES)
			this.fail(`field ${this.field} is not a text or message`);
		const end = this.#length(), start = this.at;
		this.at = end;
		return { start, end };
	}

	/* Reads a length; returns the end of the bytes that follow it. */
	#length() {
		this.#varint();
		const end = this.at + this.high * TWO_32 + this.low;
		if (end > this.end)
			this.fail(`${end - this.end} bytes are missing`);
		return end;
	}

	#advance(count) {
		if (this.at + count > this.end)
			this.fail('a truncated field');
		this.at += count;
	}

	/* Reads into low and high, both unsigned: at most ten bytes of seven bits, one bit of the tenth. */
	#varint() {
		/* Most are one byte long. */
		if (this.at < this.end && this.bytes[this.at] < 0x80) {
			this.low = this.bytes[this.at++];
			this.high = 0;
			return;
		}
		this.#longVarint();
	}

	#longVarint() {
		let low = 0, high = 0;
		for (let shift = 0; ; shift += 7) {
			if (this.at >= this.end)
				this.fail('a truncated number');
			const byte = this.bytes[this.at++];
			if (shift > 63 || (shift === 63 && byte > 1))
				this.fail('a number of more than 64 bits');
			if (shift < 28) {
				low |= (byte & 0x7f) << shift;
			} else if (shift === 28) {
				low |= (byte & 0x0f) << 28;
				high = (byte & 0x7f) >> 4;
			} else {
				high |= (byte & 0x7f) << (shift - 32);
			}
			if (byte < 0x80)
				break;
		}
		this.low = low >>> 0;
		this.high = high >>> 0;
	}
}

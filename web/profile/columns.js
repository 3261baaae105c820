// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** A typed array that grows. */
export class Column {
	/** @param {typeof Uint32Array | typeof Float64Array} type */
	constructor(type, capacity = 256) {
		this.array = new type(capacity);
		this.length = 0;
	}

	push(value) {
		if (this.length === this.array.length) {
			const larger = new this.array.constructor(this.length * 2);
			larger.set(this.array);
			this.array = larger;
		}
		this.array[this.length++] = value;
	}

	/** The elements that were pushed, without a copy. */
	view() {
		return this.array.subarray(0, this.length);
	}
}

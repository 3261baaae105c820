/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "http/kept_body.h"

#include "base/clock.h"

static const uint64_t window_ns = 250 * NSEC_PER_MSEC;

bool kept_body_suffices(struct kept_body *kept, struct request *request, const char *type)
{
	uint64_t now_ns = clock_mono_ns();
	struct buf body = BUF_INIT;

	if (now_ns - kept->since_ns >= window_ns) {
		kept->since_ns = now_ns;
		kept->made = 0;
	}
	if (kept->made < KEPT_BODY_FRESH || !kept->bytes.len) {
		kept->made++;
		return false;
	}
	buf_add(&body, kept->bytes.data, kept->bytes.len);
	request_answer(request, type, &body);
	return true;
}

void kept_body_answer(struct kept_body *kept, struct request *request, const char *type,
                      struct buf *body)
{
	buf_clear(&kept->bytes);
	buf_add(&kept->bytes, body->data, body->len);
	if (buf_error(&kept->bytes) || buf_error(body))
		buf_release(&kept->bytes);
	request_answer(request, type, body);
}

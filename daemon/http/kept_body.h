/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct kept_body - the latest body of an answer that takes milliseconds of the loop's time to
 * make. A client with a thousand connections may ask for it in one turn of the loop: in a quarter
 * of a second KEPT_BODY_FRESH answers are made anew, and the others get the latest of these. All
 * zero: empty. Loop thread only.
 */
#pragma once

#include "http/request.h"

enum { KEPT_BODY_FRESH = 16 };

/* Whether the request was answered with the body that is kept. Otherwise the caller makes a new
 * one, and answers with kept_body_answer(). */
bool kept_body_suffices(struct kept_body *kept, struct request *request, const char *type);
/* Keeps a copy. Takes ownership of the body's bytes. */
void kept_body_answer(struct kept_body *kept, struct request *request, const char *type,
                      struct buf *body);

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Telling the kernel half who is one account (base/accounts.h), as of the start.
 */
#pragma once

#include "collect/bpf.h"

/* Before the core is loaded; 0 or negative errno. */
int bpf_accounts_size(struct bpf *bpf);
/* After. */
int bpf_accounts_tell(const struct bpf *bpf);

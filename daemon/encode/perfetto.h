/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct trace_writer - writes a Perfetto trace, packet by packet. Private to perfetto.c, which
 * writes everything in order, and perfetto_names.c, which interns what samples refer to. Errors are
 * kept by the buffer that `gzip` writes to.
 */
#pragma once

#include "base/buf.h"
#include "base/gzip.h"
#include "profile/profile.h"
#include "proto/perfetto_trace.pb-c.h"

struct trace_writer {
	const struct profile *profile;
	struct gzip gzip;
	bool begun;            /* a packet was written */
	struct buf scratch;    /* of one packet: a text, or a list of ids */
	uint8_t *sources_told; /* by string id: interned as a source path */
	uint8_t *nodes_told;   /* by node id: interned as a call stack */
};

/* Appends the packet, in the trace's only sequence. */
void trace_put(struct trace_writer *writer, Perfetto__Protos__TracePacket *packet);
/* The string in a form that Perfetto accepts, in `scratch`. */
char *trace_text(struct trace_writer *writer, const char *string);

/* Interns all functions, mappings and frames. */
void trace_put_names(struct trace_writer *writer);
/* Interns the call path that ends with this node, under the node's id, unless it is interned
 * already. */
void trace_put_callstack(struct trace_writer *writer, uint32_t leaf);

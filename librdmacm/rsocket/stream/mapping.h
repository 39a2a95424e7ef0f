/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapping.h - the memory that riomap() has registered for a stream on this side.
 */
#ifndef RSOCKET_MAPPING_H
#define RSOCKET_MAPPING_H

#include "librdmacm/rsocket/stream/stream.h"

struct riomapping {
	struct riomapping *next;
	struct ibv_mr *mr;
	uint64_t offset;
	int index; /* -1: used by this side only */
};

/* Returns the link to the mapping of exactly this memory, or to the end of the list. */
struct riomapping **rdmacm_mapping_find(struct stream *stream, const void *buf, size_t len);
/* Takes the first unused index within the peer's table, or returns -1. */
int rdmacm_mapping_take_index(struct stream *stream);
/* Frees the mapping, its region and its index. */
void rdmacm_mapping_free(struct stream *stream, struct riomapping *mapping);
void rdmacm_stream_free_mappings(struct stream *stream);

#endif

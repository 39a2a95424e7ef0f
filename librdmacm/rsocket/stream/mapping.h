/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapping.h - the memory of this side that riomap() has registered for a stream.
 */
#ifndef RSOCKET_MAPPING_H
#define RSOCKET_MAPPING_H

#include "librdmacm/rsocket/stream/stream.h"

struct riomapping {
	struct riomapping *next;
	struct ibv_mr *mr;
	uint64_t offset;
	int index; /* -1 for a mapping that only this side uses */
};

/* Returns where the mapping of exactly this memory is in the list, or the list's end. */
struct riomapping **rdmacm_mapping_find(struct stream *stream, const void *buf, size_t len);
/* Returns an index that the other side has room for and no mapping uses, or -1. */
int rdmacm_mapping_free_index(const struct stream *stream);
void rdmacm_stream_free_mappings(struct stream *stream);

#endif

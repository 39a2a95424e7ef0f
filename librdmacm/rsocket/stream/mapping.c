/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapping.c - the list of a stream's own mappings. See mapping.h.
 */
#include "librdmacm/rsocket/stream/mapping.h"

#include <stdlib.h>

struct riomapping **rdmacm_mapping_find(struct stream *stream, const void *buf, size_t len)
{
	struct riomapping **at = &stream->mappings;

	while (*at && ((*at)->mr->addr != buf || (*at)->mr->length != len))
		at = &(*at)->next;
	return at;
}

enum { WORD_BITS = 64 };

int rdmacm_mapping_take_index(struct stream *stream)
{
	uint64_t *word = stream->mapping_indexes;
	int index;

	for (size_t i = 0; i < ARRAY_SIZE(stream->mapping_indexes); i++) {
		if (!~word[i])
			continue;
		index = (int)i * WORD_BITS + __builtin_ctzll(~word[i]);
		if (index >= (int)stream->remote.mappings)
			return -1;
		word[i] |= UINT64_C(1) << (index % WORD_BITS);
		return index;
	}
	return -1;
}

static void index_return(struct stream *stream, int index)
{
	stream->mapping_indexes[index / WORD_BITS] &= ~(UINT64_C(1) << (index % WORD_BITS));
}

void rdmacm_mapping_free(struct stream *stream, struct riomapping *mapping)
{
	if (mapping->index >= 0)
		index_return(stream, mapping->index);
	ibv_dereg_mr(mapping->mr);
	free(mapping);
}

void rdmacm_stream_free_mappings(struct stream *stream)
{
	struct riomapping *mapping;

	while ((mapping = stream->mappings) != NULL) {
		stream->mappings = mapping->next;
		rdmacm_mapping_free(stream, mapping);
	}
}

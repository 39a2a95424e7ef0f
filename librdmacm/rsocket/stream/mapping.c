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

static bool is_index_used(const struct stream *stream, int index)
{
	for (const struct riomapping *at = stream->mappings; at; at = at->next) {
		if (at->index == index)
			return true;
	}
	return false;
}

int rdmacm_mapping_free_index(const struct stream *stream)
{
	int index = 0;

	while (is_index_used(stream, index))
		index++;
	return index < (int)stream->remote.mappings ? index : -1;
}

void rdmacm_stream_free_mappings(struct stream *stream)
{
	struct riomapping *mapping;

	while ((mapping = stream->mappings) != NULL) {
		stream->mappings = mapping->next;
		ibv_dereg_mr(mapping->mr);
		free(mapping);
	}
}

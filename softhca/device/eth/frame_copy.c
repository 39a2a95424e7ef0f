/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_copy.c - copies of a frame that flow tables have changed. See frame_copy.h.
 */
#include <stdlib.h>

#include "softhca/device/eth/frame_copy.h"

uint8_t *frame_copy_add(struct frame_copy **copies)
{
	struct frame_copy *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->next = *copies;
	*copies = copy;
	return copy->bytes;
}

void frame_copies_free(struct frame_copy **copies)
{
	struct frame_copy *copy;

	while ((copy = *copies) != NULL) {
		*copies = copy->next;
		free(copy);
	}
}

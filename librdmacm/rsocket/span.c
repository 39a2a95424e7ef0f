/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * span.c - reads from and writes to the front of a program's buffers; see span.h.
 */
#include "librdmacm/rsocket/span.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/types.h>

int rdmacm_span_init(struct span *span, const struct iovec *iov, size_t count)
{
	*span = (struct span){ .iov = iov };
	for (size_t i = 0; i < count; i++) {
		if (iov[i].iov_len > SSIZE_MAX - span->left)
			return EINVAL;
		span->left += iov[i].iov_len;
	}
	return 0;
}

/* Skips empty buffers, so that the front has bytes as long as any are left. */
static void span_settle(struct span *span)
{
	while (span->left && span->offset == span->iov->iov_len) {
		span->iov++;
		span->offset = 0;
	}
}

void *rdmacm_span_front(const struct span *span, size_t *size)
{
	struct span at = *span;
	size_t here;

	span_settle(&at);
	if (!at.left) {
		*size = 0;
		return NULL;
	}
	here = at.iov->iov_len - at.offset;
	if (*size > here)
		*size = here;
	return (uint8_t *)at.iov->iov_base + at.offset;
}

/* Consumes the contiguous bytes at the front, *SIZE at most, and returns their address. *SIZE
 * becomes their number. */
static inline void *span_consume(struct span *span, size_t *size)
{
	size_t here;

	span_settle(span);
	here = span->iov->iov_len - span->offset;
	if (*size > here)
		*size = here;
	return span_take(span, *size);
}

void rdmacm_span_skip(struct span *span, size_t size)
{
	size_t part;

	for (; size; size -= part) {
		part = size;
		(void)span_consume(span, &part);
	}
}

void rdmacm_span_read(struct span *span, void *to, size_t size)
{
	const void *front;
	size_t part;

	for (; size; size -= part) {
		part = size;
		front = span_consume(span, &part);
		memcpy(to, front, part);
		to = (uint8_t *)to + part;
	}
}

void rdmacm_span_write(struct span *span, const void *from, size_t size)
{
	void *front;
	size_t part;

	for (; size; size -= part) {
		part = size;
		front = span_consume(span, &part);
		memcpy(front, from, part);
		from = (const uint8_t *)from + part;
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * span.h - a program's buffers (an iovec array) as one sequence of bytes, consumed from the front.
 */
#ifndef RSOCKET_SPAN_H
#define RSOCKET_SPAN_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

struct span {
	const struct iovec *iov;
	size_t offset;
	size_t left;
};

/* Returns EINVAL if the length does not fit a ssize_t, as the call returns the number of bytes in
 * one. */
static inline int span_of_buffer(struct span *span, const struct iovec *buffer)
{
	*span = (struct span){ .iov = buffer, .left = buffer->iov_len };
	return buffer->iov_len > SSIZE_MAX ? EINVAL : 0;
}

/* Returns whether the next SIZE bytes are contiguous, so that a caller can use them in place. */
static inline bool span_has_run(const struct span *span, size_t size)
{
	return size && span->iov->iov_len - span->offset >= size;
}

/* Returns the address of the next SIZE bytes, which are contiguous, and consumes them. */
static inline void *span_take(struct span *span, size_t size)
{
	void *front = (uint8_t *)span->iov->iov_base + span->offset;

	span->offset += size;
	span->left -= size;
	return front;
}

int rdmacm_span_init(struct span *span, const struct iovec *iov, size_t count);
/* Returns the contiguous bytes at the front. *SIZE is the wanted maximum, and becomes their
 * number. */
void *rdmacm_span_front(const struct span *span, size_t *size);
void rdmacm_span_skip(struct span *span, size_t size);
void rdmacm_span_read(struct span *span, void *to, size_t size);
void rdmacm_span_write(struct span *span, const void *from, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * span.h - a program's buffers (an iovec array) as one run of bytes that is used up from the front.
 */
#ifndef RSOCKET_SPAN_H
#define RSOCKET_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct span {
	const struct iovec *iov;
	size_t offset; /* bytes of the first buffer that are used up */
	size_t left;   /* bytes that are left in all buffers */
};

/* Returns EINVAL if the sum of the lengths does not fit a ssize_t. */
int rdmacm_span_init(struct span *span, const struct iovec *iov, size_t count);
/* Returns the first bytes that lie together; *SIZE, which is the most that is wanted, becomes how
 * many they are. */
void *rdmacm_span_front(const struct span *span, size_t *size);
void rdmacm_span_skip(struct span *span, size_t size);
/* Both calls take a SIZE of at most span->left. */
void rdmacm_span_read(struct span *span, void *to, size_t size);
void rdmacm_span_write(struct span *span, const void *from, size_t size);

#endif

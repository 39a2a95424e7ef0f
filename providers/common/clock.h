/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.h - pages of a device's clock, each mapped at its first use, and the clock in them: two
 * big-endian words, the upper one first.
 */
#ifndef PROVIDERS_COMMON_CLOCK_H
#define PROVIDERS_COMMON_CLOCK_H

#include <pthread.h>
#include <sys/types.h>

#include "libibverbs/driver.h"

struct clock_page {
	pthread_mutex_t lock;
	const void *addr; /* NULL: not mapped; set under the lock, read without it */
	size_t size;
};

void provider_clock_page_init(struct clock_page *page);
void provider_clock_page_destroy(struct clock_page *page);
/* Sets *ADDR to page NUMBER of the device's file. Returns 0 or an errno. */
int provider_clock_page_get(struct clock_page *page, const struct ibv_context *context,
			    unsigned int number, const void **addr);

void provider_clock_fill(const volatile __be32 *words, struct ibv_values_ex *values);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * store.h - a program's allocator for the queues of a context, as mlx5dv_set_context_attr() and
 * mlx4dv_set_context_attr() take one: records the memory that it gave and that was freed.
 */
#ifndef TESTS_LIB_STORE_H
#define TESTS_LIB_STORE_H

#include <stdbool.h>
#include <stddef.h>

#define PIECES 64

struct store {
	unsigned int given, back;
	unsigned int room; /* allocations until it refuses */
	struct {
		char *addr;
		size_t size;
	} piece[PIECES];
};

/* The allocator's callbacks; ARG is the store. */
void *store_give(size_t size, void *arg);
void store_take(void *addr, void *arg);
bool store_has(const struct store *store, const void *addr);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * store.c - a program's allocator for the queues of a context.
 */
#include "tests/lib/store.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/say.h"

void *store_give(size_t size, void *arg)
{
	struct store *store = arg;
	char *addr;

	if (!store->room || store->given == PIECES)
		return NULL;
	store->room--;
	MUST(!posix_memalign((void **)&addr, (size_t)sysconf(_SC_PAGESIZE), size));
	memset(addr, 0xa5, size);
	store->piece[store->given].addr = addr;
	store->piece[store->given++].size = size;
	return addr;
}

void store_take(void *addr, void *arg)
{
	struct store *store = arg;

	store->back++;
	for (unsigned int i = 0; i < store->given; i++)
		if (store->piece[i].addr == addr) {
			store->piece[i].addr = NULL;
			free(addr);
			return;
		}
	say_check(false, "what was never given came back");
}

bool store_has(const struct store *store, const void *addr)
{
	for (unsigned int i = 0; i < store->given; i++)
		if ((uintptr_t)addr - (uintptr_t)store->piece[i].addr < store->piece[i].size)
			return true;
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table.c - finds the socket of a number without a lock, in pages of pointers that are allocated on
 * demand and never freed. A count per number protects threads that use a socket while another
 * thread may close it: they increment the count before they read the pointer, and closing clears
 * the pointer before it reads the count.
 */
#include "librdmacm/rsocket/rs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAP_US = 20 };

struct rs_page *rdmacm_rs_pages[RS_PAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a page is allocated */

static struct rs_page *page_get(int index)
{
	return __atomic_load_n(&rdmacm_rs_pages[index], __ATOMIC_ACQUIRE);
}

static struct rs_page *page_make(int index)
{
	struct rs_page *page;

	pthread_mutex_lock(&lock);
	page = page_get(index);
	if (!page) {
		page = calloc(1, sizeof(*page));
		__atomic_store_n(&rdmacm_rs_pages[index], page, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return page;
}

int rdmacm_rs_table_add(struct rs *rs)
{
	struct rs_page *page;

	if (rs->fd < 0 || rs->fd >= RS_PAGES * RS_PAGE_SIZE)
		return EMFILE;
	page = page_make(rs->fd >> RS_PAGE_BITS);
	if (!page)
		return ENOMEM;
	__atomic_store_n(&page->sockets[rs->fd & (RS_PAGE_SIZE - 1)], rs, __ATOMIC_RELEASE);
	return 0;
}

void rdmacm_rs_table_remove(struct rs *rs)
{
	struct rs_page *page = page_get(rs->fd >> RS_PAGE_BITS);
	int index = rs->fd & (RS_PAGE_SIZE - 1);

	__atomic_store_n(&page->sockets[index], NULL, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&page->users[index], __ATOMIC_SEQ_CST) > 0)
		usleep(NAP_US);
}

struct rs *rdmacm_rs_find(int fd)
{
	return rs_find(fd);
}

struct rs *rdmacm_rs_get(int fd)
{
	return rs_get(fd);
}

void rdmacm_rs_put(int fd)
{
	rs_put(fd);
}

void rdmacm_rs_table_each(void (*call)(struct rs *rs))
{
	struct rs *rs;
	int fd;

	for (int i = 0; i < RS_PAGES; i++) {
		for (int j = 0; page_get(i) && j < RS_PAGE_SIZE; j++) {
			fd = i * RS_PAGE_SIZE + j;
			rs = rdmacm_rs_get(fd);
			if (!rs)
				continue;
			call(rs);
			rdmacm_rs_put(fd);
		}
	}
}

/* Resets the counts in a child, because the parent's other threads will not release their
 * references. A thread that forks in a signal handler may still release its own reference, which
 * leaves a negative count. */
void rdmacm_rs_table_forked(void)
{
	struct rs_page *page;

	pthread_mutex_init(&lock, NULL);
	for (int i = 0; i < RS_PAGES; i++) {
		page = page_get(i);
		if (page)
			memset(page->users, 0, sizeof(page->users));
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table.c - finds the socket of a number without a lock, in pages of pointers that are made when
 * they are needed and stay. Besides there is a count, for each number, of those who look at its
 * socket while another thread may close it: they count before they look, who closes takes the
 * socket out before it reads the count.
 */
#include "rs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_BITS = 10, PAGE_SIZE = 1 << PAGE_BITS, PAGES = 1024, NAP_US = 20 };

struct page {
	struct rs *sockets[PAGE_SIZE];
	int users[PAGE_SIZE];
};

static struct page *pages[PAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a page is made */

static struct page *page_get(int index)
{
	return __atomic_load_n(&pages[index], __ATOMIC_ACQUIRE);
}

static struct page *page_make(int index)
{
	struct page *page;

	pthread_mutex_lock(&lock);
	page = page_get(index);
	if (!page) {
		page = calloc(1, sizeof(*page));
		__atomic_store_n(&pages[index], page, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return page;
}

int rdmacm_rs_table_add(struct rs *rs)
{
	struct page *page;

	rdmacm_rs_watch_forks();
	if (rs->fd < 0 || rs->fd >= PAGES * PAGE_SIZE)
		return EMFILE;
	page = page_make(rs->fd >> PAGE_BITS);
	if (!page)
		return ENOMEM;
	__atomic_store_n(&page->sockets[rs->fd & (PAGE_SIZE - 1)], rs, __ATOMIC_RELEASE);
	return 0;
}

void rdmacm_rs_table_remove(struct rs *rs)
{
	struct page *page = page_get(rs->fd >> PAGE_BITS);
	int index = rs->fd & (PAGE_SIZE - 1);

	__atomic_store_n(&page->sockets[index], NULL, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&page->users[index], __ATOMIC_SEQ_CST) > 0)
		usleep(NAP_US);
}

struct rs *rdmacm_rs_find(int fd)
{
	struct page *page;

	if (fd < 0 || fd >= PAGES * PAGE_SIZE)
		return NULL;
	page = page_get(fd >> PAGE_BITS);
	return page ? __atomic_load_n(&page->sockets[fd & (PAGE_SIZE - 1)], __ATOMIC_ACQUIRE)
		    : NULL;
}

struct rs *rdmacm_rs_get(int fd)
{
	struct rs *rs = rdmacm_rs_find(fd); /* most descriptors are none of ours */
	struct page *page;

	if (!rs)
		return NULL;
	page = page_get(fd >> PAGE_BITS);
	__atomic_add_fetch(&page->users[fd & (PAGE_SIZE - 1)], 1, __ATOMIC_SEQ_CST);
	rs = __atomic_load_n(&page->sockets[fd & (PAGE_SIZE - 1)], __ATOMIC_SEQ_CST);
	if (!rs)
		rdmacm_rs_put(fd);
	return rs;
}

void rdmacm_rs_put(int fd)
{
	struct page *page = page_get(fd >> PAGE_BITS);

	__atomic_sub_fetch(&page->users[fd & (PAGE_SIZE - 1)], 1, __ATOMIC_SEQ_CST);
}

void rdmacm_rs_table_each(void (*call)(struct rs *rs))
{
	struct rs *rs;
	int fd;

	for (int i = 0; i < PAGES; i++) {
		for (int j = 0; page_get(i) && j < PAGE_SIZE; j++) {
			fd = i * PAGE_SIZE + j;
			rs = rdmacm_rs_get(fd);
			if (!rs)
				continue;
			call(rs);
			rdmacm_rs_put(fd);
		}
	}
}

/* The parent's other threads put nothing back here. A thread that forks in a signal's handler may
 * do so, and leaves a count below 0. */
void rdmacm_rs_table_forked(void)
{
	struct page *page;

	pthread_mutex_init(&lock, NULL);
	for (int i = 0; i < PAGES; i++) {
		page = page_get(i);
		if (page)
			memset(page->users, 0, sizeof(page->users));
	}
}

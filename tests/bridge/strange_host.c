/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strange_host.c - a libibverbs that is not laid out as its release is: preloaded before the
 * distribution's, it changes one answer. STRANGE_HOST names it:
 *
 *	context   contexts have another size
 *	table     operations have another order
 *	mask      no QP has ibv_wr_*
 *
 * The symbols have no version, so that they serve references to any.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ibv_device;
struct ibv_qp;
struct ibv_qp_ex;

#define EXPORT __attribute__((visibility("default")))
EXPORT void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t size,
					   void *at, uint32_t driver_id);
EXPORT void verbs_set_ops(void *context, void *const *ops);
EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp);

enum { TABLE_ENTRIES = 77 }; /* of releases 44 and 56.1: bridge/tables */

static int is_strange(const char *what)
{
	const char *wanted = getenv("STRANGE_HOST");

	return wanted && !strcmp(wanted, what);
}

static void *real(const char *name)
{
	void *address = dlsym(RTLD_NEXT, name);

	if (!address)
		abort();
	return address;
}

/* The size stands before the public part of a context, which begins with its device. AT is an
 * offset in the allocation. */
static void change_size(char *made, size_t at, size_t size, const struct ibv_device *device)
{
	for (size_t word = at + sizeof(void *); word + sizeof(void *) <= size;
	     word += sizeof(void *)) {
		if (memcmp(made + word, &device, sizeof(device)))
			continue;
		*(size_t *)(void *)(made + word - sizeof(size_t)) += sizeof(void *);
		return;
	}
	abort();
}

void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t size, void *at,
				    uint32_t driver_id)
{
	void *(*next)(struct ibv_device *, int, size_t, void *, uint32_t) = real(__func__);
	void *made = next(device, cmd_fd, size, at, driver_id);

	if (made && is_strange("context"))
		change_size(made, (uintptr_t)at, size, device);
	return made;
}

void verbs_set_ops(void *context, void *const *ops)
{
	void (*next)(void *, void *const *) = real(__func__);
	void *turned[2 * TABLE_ENTRIES] = { NULL };

	if (!is_strange("table")) {
		next(context, ops);
		return;
	}
	for (int i = 0; i < TABLE_ENTRIES; i++)
		turned[i] = ops[(i + 1) % TABLE_ENTRIES];
	next(context, turned);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct ibv_qp_ex *(*next)(struct ibv_qp *) = real(__func__);

	return is_strange("mask") ? NULL : next(qp);
}

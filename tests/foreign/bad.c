/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bad.c - a provider of a private number of the distribution's libibverbs, for the driver that has
 * mlx5's number. BAD in the environment names its fault:
 *
 *	table     the table lacks alloc_device
 *	small     its context is smaller than struct verbs_context of the release
 *	empty     it installs no operations, so that nothing can free its context
 *	shifted   its table of operations is of another release: each is a slot too early
 *	none      none: it matches no device
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct match {
	void *data;
	uint64_t driver_id;
	uint16_t vendor, device;
	uint8_t kind;
};

/* Sizes of the interface that are the same for each number */
enum { MATCH_DRIVER_ID = 3, DEVICE_SIZE = 712, CONTEXT_SIZE = 800, DRIVER_MLX5 = 1 };

/* The table of operations: as many as fit in any, and the place of one of them */
enum { TABLE_SLOTS = 90, SLOT_ATTACH_MCAST = 9 };

struct table {
	const char *name;
	uint32_t min_abi, max_abi;
	const struct match *match;
	const void *static_providers, *match_device;
	void *(*alloc_context)(struct ibv_device *device, int cmd_fd, void *how);
	void *(*import_context)(struct ibv_device *device, int cmd_fd);
	void *(*alloc_device)(void *sysfs);
	void (*uninit_device)(void *device);
};

void REGISTER(const struct table *table);
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t size, void *at,
				    uint32_t driver_id);
void verbs_set_ops(void *context, void *const *ops);

static bool is_bad(const char *how)
{
	const char *bad = getenv("BAD");

	return bad && !strcmp(bad, how);
}

static void *alloc_context(struct ibv_device *device, int cmd_fd, void *how)
{
	const size_t size = is_bad("small") ? 64 : CONTEXT_SIZE;
	static void *ops[TABLE_SLOTS];
	void *context = _verbs_init_and_alloc_context(device, cmd_fd, size, NULL, DRIVER_MLX5);

	(void)how;
	if (context && is_bad("shifted")) {
		ops[SLOT_ATTACH_MCAST - 1] =
			dlvsym(RTLD_DEFAULT, "ibv_cmd_attach_mcast", "IBVERBS_PRIVATE_34");
		verbs_set_ops(context, ops);
	}
	return context;
}

static void *alloc_device(void *sysfs)
{
	(void)sysfs;
	return calloc(1, DEVICE_SIZE);
}

static void uninit_device(void *device)
{
	free(device);
}

static void __attribute__((constructor)) register_bad(void)
{
	static struct match match[2] = { { .driver_id = DRIVER_MLX5, .kind = MATCH_DRIVER_ID } };
	static struct table table = {
		.name = "bad",
		.max_abi = 9,
		.match = match,
		.alloc_context = alloc_context,
		.alloc_device = alloc_device,
		.uninit_device = uninit_device,
	};

	if (is_bad("table"))
		table.alloc_device = NULL;
	if (is_bad("none"))
		match[0].driver_id = 1000;
	REGISTER(&table);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bad.c - a provider of a private number of the distribution's libibverbs, for the driver that has
 * mlx5's number. BAD in the environment names its fault:
 *
 *	table     the table lacks alloc_device
 *	small     its context is smaller than struct verbs_context of the release
 *	empty     it installs no operations, so that nothing can free its context
 *	shifted   its table of operations is of another release: each is a slot too early
 *	strange   its table has data in the place of alloc_device
 *	matches   its table of matches is not in its file
 *	whole     none: no file's name tells its release, but its operations agree with its commands
 *	later     the same, but its operations are of a release that lacks one: those behind are a
 *		  slot too early. None of them is a command of the library
 *	lone      the same, but it has a command without its operation
 *	two       the same, but another driver of the file, which matches no device, may have that
 *		  operation: no fault
 *	less      the same, but it cannot send
 *	ece       the same, but it has set_ece without query_ece
 *	data      the same, but one of its operations is data
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
enum { LIBRARY_SIZE = 648 }; /* number 34: the library's part of a context */

/* Slots of the table of operations in releases 44 to 56: as many as fit in any, and some places */
enum {
	TABLE_SLOTS = 100,
	SLOT_ATTACH_MCAST = 9,
	SLOT_DESTROY_QP = 34,
	SLOT_FREE_CONTEXT = 39,
	SLOT_POST_SEND = 55,
	SLOT_IN_ORDER = 62,
	SLOT_SET_ECE = 72,
	SLOT_LAST = 75,
};

/* What a small provider has for which it imports a command: alloc_pd, create_cq... */
#define COMMANDS(COMMAND)       \
	COMMAND(5, alloc_pd)    \
	COMMAND(15, create_cq)  \
	COMMAND(19, create_qp)  \
	COMMAND(26, dealloc_pd) \
	COMMAND(28, dereg_mr)   \
	COMMAND(31, destroy_cq) \
	COMMAND(34, destroy_qp) \
	COMMAND(60, query_port) \
	COMMAND(61, query_qp)   \
	COMMAND(68, reg_mr)     \
	COMMAND(70, rereg_mr)
#define DECLARE(slot, name)    __attribute__((weak)) int ibv_cmd_##name(void);
#define IMPORT(slot, name)     ibv_cmd_##name,
#define SLOT_OF_IT(slot, name) slot,
COMMANDS(DECLARE)
static int (*const commands[])(void) __attribute__((used)) = { COMMANDS(IMPORT) };
static const int with_command[] = { COMMANDS(SLOT_OF_IT) };
/* poll_cq, post_recv, post_send, query_device_ex, req_notify_cq */
static const int without_command[] = { 53, 54, SLOT_POST_SEND, 58, 69 };

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
void verbs_uninit_context(void *context);
void verbs_set_ops(void *context, void *const *ops);

static bool is_bad(const char *how)
{
	const char *bad = getenv("BAD");

	return bad && !strcmp(bad, how);
}

static int do_nothing(void)
{
	return 0;
}

/* Frees a context by its public part, with which the library's part ends. */
static void free_context(struct ibv_context *context)
{
	void *object = (char *)(context + 1) - LIBRARY_SIZE;

	verbs_uninit_context(object);
	free(object);
}

/* Installs a table that no command of the library is in. */
static void install(void *context)
{
	static void *ops[TABLE_SLOTS];

	for (size_t i = 0; i < sizeof(with_command) / sizeof(with_command[0]); i++)
		ops[with_command[i]] = (void *)do_nothing;
	for (size_t i = 0; i < sizeof(without_command) / sizeof(without_command[0]); i++)
		ops[without_command[i]] = (void *)do_nothing;
	ops[SLOT_FREE_CONTEXT] = (void *)free_context;
	if (is_bad("later"))
		memmove(&ops[SLOT_IN_ORDER], &ops[SLOT_IN_ORDER + 1],
			(SLOT_LAST - SLOT_IN_ORDER) * sizeof(ops[0]));
	if (is_bad("lone") || is_bad("two"))
		ops[SLOT_DESTROY_QP] = NULL;
	if (is_bad("less"))
		ops[SLOT_POST_SEND] = NULL;
	if (is_bad("ece"))
		ops[SLOT_SET_ECE] = (void *)do_nothing;
	if (is_bad("data"))
		ops[SLOT_LAST] = ops;
	verbs_set_ops(context, ops);
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
	} else if (context && !is_bad("empty")) {
		install(context);
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

static void register_second(const struct table *first)
{
	static const struct match none[1];
	static struct table second;

	second = *first;
	second.name = "second";
	second.match = none;
	REGISTER(&second);
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
	if (is_bad("strange"))
		table.alloc_device = (void *)&match;
	if (is_bad("matches"))
		table.match = calloc(1, sizeof(match));
	if (is_bad("none"))
		match[0].driver_id = 1000;
	REGISTER(&table);
	if (is_bad("two"))
		register_second(&table);
}

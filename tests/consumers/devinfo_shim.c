/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devinfo_shim.c - stands in for libibverbs under a program that prints a device's attributes.
 *
 * Preloaded under Debian's ibv_devinfo and under ours, with the same DEVINFO_SEED, it reports the
 * same made-up devices to both, so that a difference in what they print is a difference between the
 * programs. No adapter is involved. Values are drawn from zero, single bits, small numbers and
 * whole words, so that each flag and each "none of these" is met.
 */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

#define MAX_DEVICES 3
#define EXPORT      __attribute__((visibility("default")))
#undef ibv_query_port

static uint64_t state;
static int num_devices;
static struct ibv_device devices[MAX_DEVICES];
static struct verbs_context contexts[MAX_DEVICES];

static uint64_t random_draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 16 ^ state >> 48;
}

static uint64_t draw_value(void)
{
	switch (random_draw() % 4) {
	case 0:
		return 0;
	case 1:
		return 1ull << random_draw() % 40;
	case 2:
		return random_draw() % 70;
	default:
		return random_draw() << 32 ^ random_draw();
	}
}

/* The same device must give the same answers however often and in whatever order it is asked, as
 * programs ask again. */
static void draw_for(const struct ibv_device *device, unsigned int what, unsigned int index)
{
	const char *seed = getenv("DEVINFO_SEED");

	state = (seed ? strtoull(seed, NULL, 0) : 0) * 1000003 +
		(uint64_t)(device - devices) * 7919 + what * 104729 + index;
	random_draw();
	random_draw();
}

static void object_fill(void *to, size_t len)
{
	uint32_t *word = to;

	for (size_t i = 0; i < len / sizeof(*word); i++)
		word[i] = (uint32_t)draw_value();
}

static void fill_device(const struct ibv_device *device, struct ibv_device_attr_ex *attr)
{
	draw_for(device, 1, 0);
	memset(attr, 0, sizeof(*attr));
	object_fill(attr, offsetof(struct ibv_device_attr_ex, phys_port_cnt_ex));
	if (random_draw() % 2)
		memset(&attr->tm_caps, 0, sizeof(attr->tm_caps));
	strcpy(attr->orig_attr.fw_ver, "20.31.1014");
	attr->orig_attr.atomic_cap %= 4;
	attr->orig_attr.phys_port_cnt = random_draw() % 3;
	attr->phys_port_cnt_ex = attr->orig_attr.phys_port_cnt;
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr_ex full;

	(void)input;
	fill_device(context->device, &full);
	memcpy(attr, &full, attr_size < sizeof(full) ? attr_size : sizeof(full));
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	struct ibv_port_attr full;

	draw_for(context->device, 2, port_num);
	object_fill(&full, sizeof(full));
	if (random_draw() % 16 == 0)
		return EIO;
	full.state = random_draw() % 7;
	full.max_mtu = random_draw() % 7;
	full.active_mtu = random_draw() % 7;
	full.active_width = random_draw() % 2 ? 1u << random_draw() % 6 : random_draw() % 20;
	full.active_speed = random_draw() % 2 ? 1u << random_draw() % 8 : random_draw() % 20;
	full.phys_state = random_draw() % 9;
	full.link_layer = random_draw() % 4;
	full.gid_tbl_len = random_draw() % 12;
	memcpy(attr, &full, attr_size < sizeof(full) ? attr_size : sizeof(full));
	return 0;
}

/* Drawn together, so that the three ways to ask agree. Returns 0, or EIO for a slot that cannot be
 * read. */
static int draw_gid(struct ibv_context *context, uint32_t port_num, uint32_t index,
		    union ibv_gid *gid, uint32_t *type)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	draw_for(context->device, 3, port_num * 1000 + index);
	memset(gid, 0, sizeof(*gid));
	*type = random_draw() % 3;
	if (random_draw() % 24 == 0)
		return EIO;
	if (random_draw() % 4 == 0)
		return 0;
	for (size_t i = 0; i < sizeof(gid->raw); i++)
		gid->raw[i] = random_draw() % 3 ? random_draw() : 0;
	if (random_draw() % 3 == 0)
		memcpy(gid->raw, mapped, sizeof(mapped));
	return 0;
}

EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(MAX_DEVICES + 1, sizeof(*list));

	draw_for(devices, 0, 0);
	num_devices = random_draw() % 8 ? 1 + random_draw() % MAX_DEVICES : 0;
	for (int i = 0; list && i < num_devices; i++) {
		devices[i].transport_type = (int)(random_draw() % 7) - 1;
		devices[i].node_type = IBV_NODE_CA;
		snprintf(devices[i].name, sizeof(devices[i].name), "shim%d", i);
		list[i] = &devices[i];
	}
	if (num)
		*num = num_devices;
	return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	draw_for(device, 4, 0);
	return htobe64(draw_value());
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct verbs_context *verbs = &contexts[device - devices];

	draw_for(device, 5, 0);
	if (random_draw() % 32 == 0) {
		errno = EACCES;
		return NULL;
	}
	verbs->query_device_ex = random_draw() % 4 ? query_device_ex : NULL;
	verbs->query_port = query_port;
	verbs->sz = sizeof(*verbs);
	verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs->context.device = device;
	verbs->context.num_comp_vectors = 7;
	return &verbs->context;
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	return 0;
}

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct ibv_device_attr_ex full;

	fill_device(context->device, &full);
	*attr = full.orig_attr;
	return 0;
}

EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			 union ibv_gid *gid)
{
	uint32_t type;

	return draw_gid(context, port_num, index, gid, &type) ? -1 : 0;
}

/* The library-private form, which Debian's program imports: 0 InfiniBand or RoCE v1, 1 RoCE v2. */
EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
			      int *kind)
{
	union ibv_gid gid;
	uint32_t type;

	draw_gid(context, port_num, index, &gid, &type);
	*kind = type == IBV_GID_TYPE_ROCE_V2;
	return 0;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
			     struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry full = { .gid_index = gid_index, .port_num = port_num };
	int ret = draw_gid(context, port_num, gid_index, &full.gid, &full.gid_type);

	(void)flags;
	memcpy(entry, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
	return ret;
}

EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	(void)dir;
	return snprintf(buf, size, "%s", strcmp(file, "board_id") ? "" : "MT_0000000223");
}

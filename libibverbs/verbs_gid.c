/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_gid.c - the public calls that query GID tables.
 *
 * GIDs are read by the kernel's QUERY_GID methods (Linux 5.10), or otherwise one by one from sysfs.
 * An empty slot is ENODATA; the older calls report it as a GID of zeros.
 */
#include "cmd/cmd.h"
#include "util/alloc.h"

#include <assert.h>
#include <link.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types returned by ibv_query_gid_type(), which differ from enum ibv_gid_type. */
enum {
	SYSFS_GID_TYPE_IB_ROCE_V1,
	SYSFS_GID_TYPE_ROCE_V2,
};

static bool gid_is_zero(const union ibv_gid *gid)
{
	return !gid->global.subnet_prefix && !gid->global.interface_id;
}

/* Returns the type of a GID from sysfs. The type is not readable for an empty slot, or on a kernel
 * older than RoCE v2. */
static uint32_t sysfs_gid_type(struct ibv_context *context, uint32_t port, uint32_t index)
{
	struct ibv_port_attr attr = {};
	char text[32];

	if (!verbs_sysfs_read_ibdev(context->device, text, sizeof(text),
				    "ports/%u/gid_attrs/types/%u", port, index) &&
	    !strcmp(text, "RoCE v2"))
		return IBV_GID_TYPE_ROCE_V2;
	if (!get_ops(context)->query_port(context, (uint8_t)port, &attr, sizeof(attr)) &&
	    attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		return IBV_GID_TYPE_ROCE_V1;
	return IBV_GID_TYPE_IB;
}

static uint32_t sysfs_gid_ifindex(struct ibv_context *context, uint32_t port, uint32_t index)
{
	char name[IF_NAMESIZE + 1];

	if (verbs_sysfs_read_ibdev(context->device, name, sizeof(name),
				   "ports/%u/gid_attrs/ndevs/%u", port, index))
		return 0;
	return if_nametoindex(name);
}

static int sysfs_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
			   struct ibv_gid_entry *entry)
{
	char text[64];
	int err;

	err = verbs_sysfs_read_ibdev(context->device, text, sizeof(text), "ports/%u/gids/%u", port,
				     index);
	if (err)
		return err == ENOENT ? EINVAL : err;
	err = verbs_sysfs_parse_gid(text, &entry->gid);
	if (err)
		return err;
	if (gid_is_zero(&entry->gid))
		return ENODATA;
	entry->port_num = port;
	entry->gid_index = index;
	entry->gid_type = sysfs_gid_type(context, port, index);
	entry->ndev_ifindex = sysfs_gid_ifindex(context, port, index);
	return 0;
}

int verbs_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
		    struct ibv_gid_entry *entry)
{
	int err;

	*entry = (struct ibv_gid_entry){};
	err = verbs_cmd_query_gid(context, port, index, entry);
	if (is_lacking(err))
		err = sysfs_query_gid(context, port, index, entry);
	if (err && err != ENODATA)
		verbs_warn("ibv_query_gid on %s: port_num %u gid_index %u: %s",
			   context->device->name, port, index, strerror(err));
	return err;
}

static inline int check_entry_args(const char *call, const void *entry, uint32_t flags,
				   size_t entry_size)
{
	if (!entry) {
		verbs_warn("%s: there is no memory for the answer: NULL", call);
		return EFAULT;
	}
	if (flags) {
		verbs_warn("%s: flags 0x%x: no flag has a meaning", call, flags);
		return EINVAL;
	}
	if (entry_size < sizeof(struct ibv_gid_entry)) {
		verbs_warn("%s: entry_size %zu is below the %zu bytes of ibv_gid_entry", call,
			   entry_size, sizeof(struct ibv_gid_entry));
		return EINVAL;
	}
	return 0;
}

/* Copies an entry to the longer entry of a program that was built with a newer release. Fields that
 * this library does not know become 0. */
static void entry_put(void *to, const struct ibv_gid_entry *entry, size_t size)
{
	memset(to, 0, size);
	memcpy(to, entry, sizeof(*entry));
}

VERBS_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
				   uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags,
				   size_t entry_size)
{
	int err = check_entry_args("ibv_query_gid_ex", entry, flags, entry_size);
	struct ibv_gid_entry found;

	if (err)
		return verbs_result(err);
	err = verbs_query_gid(context, port_num, gid_index, &found);
	if (!err && entry_size == sizeof(found))
		*entry = found;
	else if (!err)
		entry_put(entry, &found, entry_size);
	return verbs_result(err);
}

/* Reads a GID. As with ibv_query_gid_type(), an empty slot is no error here: its GID is all zeros.
 * The newer calls return ENODATA. */
VERBS_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			       union ibv_gid *gid)
{
	struct ibv_gid_entry entry;
	int err = verbs_query_gid(context, port_num, (uint32_t)index, &entry);

	if (err && err != ENODATA) {
		errno = err;
		return -1;
	}
	*gid = entry.gid;
	return 0;
}

/* ibv_devinfo and pyverbs of two releases call this function by their private version nodes. */
int verbs_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
			 unsigned int *type);
int verbs_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
			 unsigned int *type)
{
	struct ibv_gid_entry entry;
	int err = verbs_query_gid(context, port_num, index, &entry);

	if (err && err != ENODATA) {
		errno = err;
		return -1;
	}
	*type = entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? SYSFS_GID_TYPE_ROCE_V2
						       : SYSFS_GID_TYPE_IB_ROCE_V1;
	return 0;
}

#ifdef VERBS_STATIC
__typeof__(verbs_query_gid_type) ibv_query_gid_type __attribute__((alias("verbs_query_gid_type")));
#else
VERBS_EXPORT __typeof__(verbs_query_gid_type) query_gid_type_34
	__attribute__((alias("verbs_query_gid_type")));
VERBS_EXPORT __typeof__(verbs_query_gid_type) query_gid_type_65
	__attribute__((alias("verbs_query_gid_type")));
__asm__(".symver query_gid_type_34, ibv_query_gid_type@IBVERBS_PRIVATE_34");
__asm__(".symver query_gid_type_65, ibv_query_gid_type@@IBVERBS_PRIVATE_65");
#endif

struct gid_table {
	uint8_t *entries;
	size_t size, max, count;
};

static void table_add(struct gid_table *table, const struct ibv_gid_entry *entry)
{
	entry_put(table->entries + table->count++ * table->size, entry, table->size);
}

/* An attribute's length has 16 bits, which limits the table that one command can return. */
#define MAX_TABLE_ENTRIES (UINT16_MAX / sizeof(struct ib_uverbs_gid_entry))

/* Both entries have the same layout, so the kernel can write directly to the program's table. */
static_assert(sizeof(struct ibv_gid_entry) == sizeof(struct ib_uverbs_gid_entry), "an entry");
static_assert(offsetof(struct ibv_gid_entry, gid_index) ==
		      offsetof(struct ib_uverbs_gid_entry, gid_index),
	      "gid_index");
static_assert(offsetof(struct ibv_gid_entry, port_num) ==
		      offsetof(struct ib_uverbs_gid_entry, port_num),
	      "port_num");
static_assert(offsetof(struct ibv_gid_entry, gid_type) ==
		      offsetof(struct ib_uverbs_gid_entry, gid_type),
	      "gid_type");
static_assert(offsetof(struct ibv_gid_entry, ndev_ifindex) ==
		      offsetof(struct ib_uverbs_gid_entry, netdev_ifindex),
	      "ndev_ifindex");

static int is_of_memcheck(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	return strstr(info->dlpi_name, "vgpreload_memcheck") != NULL;
}

/* Returns whether the program runs under memcheck, which preloads its own library. Does not read
 * the environment, because another thread may change it. In a namespace of dlmopen(), the preloaded
 * library is not seen, and memcheck may report bytes that the kernel has written. */
static bool memcheck_runs(void)
{
	static int known; /* 0: not determined yet */
	int runs = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!runs) {
		runs = dl_iterate_phdr(is_of_memcheck, NULL) ? 1 : -1;
		__atomic_store_n(&known, runs, __ATOMIC_RELAXED);
	}
	return runs > 0;
}

/* Lets the kernel write up to MAX entries. Under memcheck, clears all entries first, because
 * memcheck cannot tell which ones the kernel has written. */
static int kernel_entries(struct ibv_context *context, void *entries, size_t max, size_t *count)
{
	uint64_t num = 0;
	int err;

	if (memcheck_runs())
		memset(entries, 0, max * sizeof(struct ib_uverbs_gid_entry));
	err = verbs_cmd_query_gid_table(context, entries, max, &num);
	if (!err)
		*count = num;
	return err;
}

static int __attribute__((noinline))
kernel_long_entries(struct ibv_context *context, struct gid_table *table, size_t max)
{
	struct ib_uverbs_gid_entry *raw = calloc_for("ibv_query_gid_table", max, sizeof(*raw));
	struct ibv_gid_entry entry;
	size_t count = 0;
	int err;

	if (!raw)
		return ENOMEM;
	err = kernel_entries(context, raw, max, &count);
	for (size_t i = 0; i < count; i++) {
		verbs_cmd_copy_gid_entry(&entry, &raw[i]);
		table_add(table, &entry);
	}
	free(raw);
	return err;
}

static int kernel_gid_table(struct ibv_context *context, struct gid_table *table)
{
	const size_t max = min_of(table->max, MAX_TABLE_ENTRIES);

	if (table->size == sizeof(struct ibv_gid_entry))
		return kernel_entries(context, table->entries, max, &table->count);
	return kernel_long_entries(context, table, max);
}

static int sysfs_port_gids(struct ibv_context *context, uint32_t port, struct gid_table *table)
{
	struct ibv_port_attr attr = {};
	struct ibv_gid_entry entry = {};
	int err;

	err = get_ops(context)->query_port(context, (uint8_t)port, &attr, sizeof(attr));
	if (err)
		return err;
	for (int index = 0; index < attr.gid_tbl_len; index++) {
		err = sysfs_query_gid(context, port, (uint32_t)index, &entry);
		if (err == ENODATA)
			continue;
		if (err)
			return err;
		if (table->count == table->max)
			return EINVAL;
		table_add(table, &entry);
	}
	return 0;
}

static int sysfs_gid_table(struct ibv_context *context, struct gid_table *table)
{
	struct ibv_device_attr device;
	int err = ibv_query_device(context, &device);

	for (uint32_t port = 1; !err && port <= device.phys_port_cnt; port++)
		err = sysfs_port_gids(context, port, table);
	return err;
}

VERBS_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context,
					  struct ibv_gid_entry *entries, size_t max_entries,
					  uint32_t flags, size_t entry_size)
{
	struct gid_table table = { (uint8_t *)entries, entry_size, max_entries, 0 };
	int err = check_entry_args("ibv_query_gid_table", entries, flags, entry_size);

	if (!err)
		err = kernel_gid_table(context, &table);
	if (is_lacking(err))
		err = sysfs_gid_table(context, &table);
	if (!err)
		return (ssize_t)table.count;
	verbs_warn("ibv_query_gid_table on %s: max_entries %zu: %s", context->device->name,
		   max_entries, strerror(err));
	errno = err;
	return -err;
}

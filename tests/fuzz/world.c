/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * world.c - see world.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "softhca/net/fabric.h"
#include "softhca/fault.h"
#include "tests/fuzz/reports.h"
#include "tests/fuzz/world.h"

uint8_t *world_at(struct world *world, uint64_t addr, size_t len)
{
	uint64_t offset = addr - WORLD_BASE;

	if (addr < WORLD_BASE || len > WORLD_MEM || offset > WORLD_MEM - len)
		return NULL;
	return world->mem + offset;
}

static int move_segs(struct world *world, const struct hca_bus_seg *segs, unsigned int nsegs,
		     uint8_t *buf, bool write)
{
	for (; nsegs; segs++, nsegs--) {
		uint8_t *mem = world_at(world, segs->addr, segs->len);

		if (!mem)
			return EFAULT;
		if (write)
			memmove(mem, buf, segs->len);
		else
			memmove(buf, mem, segs->len);
		buf += segs->len;
	}
	return 0;
}

static int bus_read(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	return move_segs(bus, segs, nsegs, buf, false);
}

static int bus_write(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, const void *buf)
{
	return move_segs(bus, segs, nsegs, (uint8_t *)(uintptr_t)buf, true);
}

static const struct hca_bus_ops bus_ops = { .read = bus_read, .write = bus_write };

static void require(int ret)
{
	if (ret)
		abort();
}

void world_begin(struct world *world, const uint8_t *data, size_t len)
{
	struct hca_config config = {
		.num_ports = 1,
		.kernel_driver = true,
		.bus_ops = &bus_ops,
		.bus = world,
		/* pages that commands name */
		.memic_size = WORLD_MEMIC,
		.memic_bar = WORLD_BASE,
		.memic_bar_size = WORLD_MEM,
		.memic_windows = WORLD_BASE + WORLD_MEM,
		.pages_on_demand = true,
	};

	memset(world, 0, sizeof(*world));
	world->source = (struct source){ data, len };
	world->roce = take8(&world->source) & 1;
	/* Neither a strict nor a tolerant adapter may crash on wrong requests, so both kinds are
	 * tested. */
	if (!once_in(&world->source, 4))
		config.strict = fuzz_reports();
	world->now = 1000000;
	world->mem = calloc(1, WORLD_MEM);
	require(!world->mem);
	require(fabric_create(&world->fabric));
	require(fault_create(take8(&world->source), &world->fault));
	config.link_layer = world->roce ? HCA_LINK_ETHERNET : HCA_LINK_INFINIBAND;
	config.fabric = world->fabric;
	config.fault = world->fault;
	for (unsigned int i = 0; i < WORLD_HCAS; i++) {
		config.node_guid = 0x0002c90300001000ull * (i + 1);
		require(hca_create(&config, &mlx5_format, &world->hca[i]));
		for (unsigned int at = 0; at < WORLD_MEM; at += WORLD_PAGE)
			hca_place_memic(world->hca[i], WORLD_BASE + at, world->mem + at);
	}
}

void world_end(struct world *world)
{
	watch_begin("hca_destroy");
	for (unsigned int i = 0; i < WORLD_HCAS; i++)
		hca_destroy(world->hca[i]);
	watch_end();
	fabric_destroy(world->fabric);
	fault_destroy(world->fault);
	free(world->mem);
}

struct object *world_object(struct world *world, unsigned int hca, enum kind kind)
{
	unsigned int count = world->count[hca][kind];

	return count ? &world->object[hca][kind][pick(&world->source, count)] : NULL;
}

uint32_t world_number(struct world *world, unsigned int hca, enum kind kind)
{
	const struct object *object = world_object(world, hca, kind);

	if (!object || once_in(&world->source, 64))
		return take_edge(&world->source) & 0xffffff;
	return object->n;
}

struct object *world_add(struct world *world, unsigned int hca, enum kind kind, uint32_t number)
{
	unsigned int *count = &world->count[hca][kind];
	struct object *object;

	if (*count < OBJECTS)
		object = &world->object[hca][kind][(*count)++];
	else /* the list is full, so the object stays, but is forgotten */
		object = &world->object[hca][kind][pick(&world->source, OBJECTS)];
	*object = (struct object){ .n = number };
	return object;
}

void world_remove(struct world *world, unsigned int hca, enum kind kind, uint32_t number)
{
	struct object *list = world->object[hca][kind];

	for (unsigned int i = 0; i < world->count[hca][kind]; i++)
		if (list[i].n == number) {
			list[i] = list[--world->count[hca][kind]];
			return;
		}
}

uint64_t world_page(struct world *world)
{
	if (once_in(&world->source, 64))
		return (uint64_t)take_edge(&world->source) << 12;
	return WORLD_BASE + pick(&world->source, WORLD_MEM / WORLD_PAGE) * (uint64_t)WORLD_PAGE;
}

enum prm_status world_exec(struct world *world, unsigned int hca, const void *in, size_t in_len,
			   void *out, size_t out_len)
{
	enum prm_status status;

	watch_begin("hca_exec");
	hca_exec(world->hca[hca], in, in_len, out, out_len);
	watch_end();
	status = out_len >= 8 ? fld_get(out, CMD_OUT_STATUS) : PRM_STAT_BAD_OUTP_LEN_ERR;
	return status;
}

void world_doorbell(struct world *world, unsigned int hca, uint32_t uar, uint32_t offset,
		    uint64_t value_be)
{
	watch_begin("hca_uar_write");
	hca_uar_write(world->hca[hca], uar, offset, &value_be, sizeof(value_be));
	watch_end();
}

void world_progress(struct world *world)
{
	world->now += 1ull << pick(&world->source, 32);
	for (unsigned int turn = 0; turn < 4; turn++)
		for (unsigned int i = 0; i < WORLD_HCAS; i++) {
			watch_begin("hca_progress");
			hca_progress(world->hca[i], world->now);
			watch_end();
		}
}

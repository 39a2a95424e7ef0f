/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuzz_core.c - commands, work, messages and time in any order, against the device core.
 *
 * Covers: softhca/device/, softhca/device/format/mlx5/, softhca/device/transport/
 */
#include "softhca/fault.h"
#include "softhca/device/hca.h"
#include "tests/fuzz/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Does something rare: changes a link, adds a fault, kills an adapter, or sends MADs. */
static void rare_event(struct world *world, unsigned int hca)
{
	static const char *const faults[] = { "drop", "drop:5%", "kill:40", "drop:3" };

	switch (pick(&world->source, 5)) {
	case 0:
		hca_set_link(world->hca[hca], 1, pick(&world->source, 2));
		break;
	case 1:
		fault_add(world->fault, faults[pick(&world->source, 4)], world->now);
		break;
	case 2:
		if (once_in(&world->source, 4))
			hca_kill(world->hca[hca]);
		break;
	case 3:
		fuzz_mads(world);
		break;
	default:
		fuzz_objects(world, hca);
	}
}

static void step_world(struct world *world)
{
	unsigned int hca = pick(&world->source, WORLD_HCAS);
	uint32_t what = pick(&world->source, 64);

	if (what < 16)
		fuzz_command(world, hca);
	else if (what < 40)
		fuzz_work(world, hca);
	else if (what < 48)
		fuzz_message(world, hca);
	else if (what < 62)
		world_progress(world);
	else if (what < 63)
		fuzz_connect(world);
	else
		rare_event(world, hca);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct world world;

	world_begin(&world, data, len);
	for (unsigned int i = 0; i < 2 * WORLD_HCAS; i++)
		fuzz_objects(&world, i % WORLD_HCAS);
	fuzz_connect(&world);
	while (world.source.left)
		step_world(&world);
	world_end(&world);
	return 0;
}

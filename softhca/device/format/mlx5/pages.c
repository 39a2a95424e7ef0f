/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pages.c - memory for the firmware: asked for at start and while objects are made, given, taken
 * back.
 *
 * The adapter keeps its state in the memory of its own process; the host pages that it asks for are
 * only kept and given back, each exactly once, as the driver's accounts require. A request is an
 * event, and there is one at a time. PRM: QUERY_PAGES, MANAGE_PAGES, Page Request Event
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/driver.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/driver.h"

enum {
	PAGES_AT_BOOT = 16,
	PAGES_AT_INIT = 16,
	MAX_PAGES = 1 << 16,
	OBJECTS_PER_PAGE = 8,
	REQUEST = 16,     /* pages of one request */
	MAX_SURPLUS = 64, /* more than that is given back */
};

static uint32_t pages_wanted(const struct hca *hca)
{
	uint32_t objects = hca->qps.used + hca->cqs.used + hca->mkeys.used + hca->srqs.used;

	return PAGES_AT_BOOT + PAGES_AT_INIT + objects / OBJECTS_PER_PAGE;
}

enum prm_status driver_query_pages(struct hca *hca, struct cmd *cmd)
{
	static const uint32_t at[] = {
		[PRM_PAGES_BOOT] = PAGES_AT_BOOT,
		[PRM_PAGES_INIT] = PAGES_AT_INIT,
		[PRM_PAGES_REGULAR] = 0,
	};
	uint64_t when = fld_get(cmd->in, CMD_IN_OP_MOD);

	(void)hca;
	if (when < PRM_PAGES_BOOT || when > PRM_PAGES_REGULAR)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "pages: unknown op_mod");
	fld_set(cmd->out, QUERY_PAGES_OUT_NUM_PAGES, at[when]);
	return PRM_STAT_OK;
}

static enum prm_status pages_give(struct hca *hca, struct cmd *cmd, uint64_t count)
{
	struct mlx5_firmware *driver = hca->firmware;
	size_t room;
	const void *pas = cmd_pas(cmd, MANAGE_PAGES_IN_PAS, &room);
	uint64_t *page;

	if (count > room)
		return cmd_fail(cmd, PRM_STAT_BAD_INP_LEN_ERR, "pages: fewer than the count says");
	if (driver->pages + count > MAX_PAGES)
		return cmd_fail(cmd, PRM_STAT_LIM_ERR, "pages: more than were asked for");
	if (!count)
		return PRM_STAT_OK;
	page = reallocarray(driver->page, driver->pages + count, sizeof(*page));
	if (!page)
		return cmd_errno(cmd, ENOMEM, "pages");
	driver->page = page;
	for (size_t i = 0; i < count; i++)
		page[driver->pages++] = fld_get64(pas, i * 8);
	if (driver->requested > 0)
		driver->requested -=
			(int64_t)count < driver->requested ? (int64_t)count : driver->requested;
	return PRM_STAT_OK;
}

static enum prm_status pages_take(struct hca *hca, struct cmd *cmd, uint64_t count)
{
	struct mlx5_firmware *driver = hca->firmware;
	uint64_t room = (cmd_out_room(cmd) - FLD_BYTE(MANAGE_PAGES_OUT_PAS)) / 8;

	if (count > room)
		count = room;
	if (count > driver->pages)
		count = driver->pages;
	for (uint64_t i = 0; i < count; i++)
		fld_set64(cmd->out, FLD_BYTE(MANAGE_PAGES_OUT_PAS) + i * 8,
			  driver->page[--driver->pages]);
	fld_set(cmd->out, MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES, count);
	if (driver->requested < 0)
		driver->requested = 0;
	return PRM_STAT_OK;
}

enum prm_status driver_manage_pages(struct hca *hca, struct cmd *cmd)
{
	uint64_t count = fld_get(cmd->in, MANAGE_PAGES_IN_INPUT_NUM_ENTRIES);

	switch (fld_get(cmd->in, CMD_IN_OP_MOD)) {
	case PRM_PAGES_CANNOT_GIVE:
		hca->firmware->requested = 0;
		hca->firmware->denied = pages_wanted(hca);
		return PRM_STAT_OK;
	case PRM_PAGES_GIVE:
		return pages_give(hca, cmd, count);
	case PRM_PAGES_TAKE:
		return pages_take(hca, cmd, count);
	default:
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "pages: unknown op_mod");
	}
}

void pages_forget_requests(struct hca *hca)
{
	hca->firmware->requested = 0;
	hca->firmware->denied = 0;
}

/* A driver that could not give is asked again when more is wanted than then. */
void pages_balance(struct hca *hca)
{
	struct mlx5_firmware *driver = hca->firmware;
	uint32_t want = pages_wanted(hca);

	if (!driver->initialized || driver->requested || hca->dead)
		return;
	if (want > driver->pages && want > driver->denied)
		driver->requested = REQUEST;
	else if (driver->pages > want + MAX_SURPLUS)
		driver->requested = -REQUEST;
	if (driver->requested && !eq_page_request(hca, (int32_t)driver->requested))
		driver->requested = 0;
}

void pages_free(struct hca *hca)
{
	free(hca->firmware->page);
}

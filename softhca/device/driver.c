/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.c - what a kernel driver says before and after its real work: enable, interface version,
 * memory for the firmware, initialize, tear down.
 *
 * The adapter keeps its state in the memory of its own process; the host pages that it asks for are
 * only kept and given back, each exactly once, as the driver's accounts require.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/driver_ifc.h"

enum { PAGES_AT_BOOT = 16, PAGES_AT_INIT = 16, MAX_PAGES = 1 << 16 };

enum prm_status driver_enable(struct hca *hca, struct cmd *cmd)
{
	if (hca->driver.enabled)
		return cmd_fail(cmd, PRM_STAT_BAD_SYS_STATE_ERR, "driver: enabled already");
	hca->driver.enabled = true;
	return PRM_STAT_OK;
}

enum prm_status driver_disable(struct hca *hca, struct cmd *cmd)
{
	if (!hca->driver.enabled)
		return cmd_fail(cmd, PRM_STAT_BAD_SYS_STATE_ERR, "driver: not enabled");
	hca->driver.enabled = false;
	return PRM_STAT_OK;
}

enum prm_status driver_query_issi(struct hca *hca, struct cmd *cmd)
{
	enum { ISSI_0_AND_1 = 3 };

	prm_set(cmd->out, QUERY_ISSI_OUT_CURRENT_ISSI, hca->driver.issi);
	prm_set(cmd->out, QUERY_ISSI_OUT_SUPPORTED_ISSI_DW0, ISSI_0_AND_1);
	return PRM_STAT_OK;
}

enum prm_status driver_set_issi(struct hca *hca, struct cmd *cmd)
{
	uint64_t issi = prm_get(cmd->in, SET_ISSI_IN_CURRENT_ISSI);

	if (issi > 1)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "driver: no such ISSI");
	hca->driver.issi = issi;
	return PRM_STAT_OK;
}

/* ---- pages ---- */

enum prm_status driver_query_pages(struct hca *hca, struct cmd *cmd)
{
	static const uint32_t wanted[] = {
		[PRM_PAGES_BOOT] = PAGES_AT_BOOT,
		[PRM_PAGES_INIT] = PAGES_AT_INIT,
		[PRM_PAGES_REGULAR] = 0,
	};
	uint64_t when = prm_get(cmd->in, CMD_IN_OP_MOD);

	(void)hca;
	if (when < PRM_PAGES_BOOT || when > PRM_PAGES_REGULAR)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "pages: unknown op_mod");
	prm_set(cmd->out, QUERY_PAGES_OUT_NUM_PAGES, wanted[when]);
	return PRM_STAT_OK;
}

static enum prm_status give(struct hca *hca, struct cmd *cmd, uint64_t count)
{
	struct driver *driver = &hca->driver;
	size_t room, i;
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
	for (i = 0; i < count; i++)
		page[driver->pages++] = prm_get64(pas, i * 8);
	return PRM_STAT_OK;
}

static enum prm_status take(struct hca *hca, struct cmd *cmd, uint64_t count)
{
	struct driver *driver = &hca->driver;
	uint64_t room = (cmd_out_room(cmd) - PRM_BYTE(MANAGE_PAGES_OUT_PAS)) / 8;
	uint64_t i;

	if (count > room)
		count = room;
	if (count > driver->pages)
		count = driver->pages;
	for (i = 0; i < count; i++)
		prm_set64(cmd->out, PRM_BYTE(MANAGE_PAGES_OUT_PAS) + i * 8,
			  driver->page[--driver->pages]);
	prm_set(cmd->out, MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES, count);
	return PRM_STAT_OK;
}

enum prm_status driver_manage_pages(struct hca *hca, struct cmd *cmd)
{
	uint64_t count = prm_get(cmd->in, MANAGE_PAGES_IN_INPUT_NUM_ENTRIES);

	switch (prm_get(cmd->in, CMD_IN_OP_MOD)) {
	case PRM_PAGES_CANNOT_GIVE:
		return PRM_STAT_OK;
	case PRM_PAGES_GIVE:
		return give(hca, cmd, count);
	case PRM_PAGES_TAKE:
		return take(hca, cmd, count);
	default:
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "pages: unknown op_mod");
	}
}

/* ---- init ---- */

enum prm_status driver_init(struct hca *hca, struct cmd *cmd)
{
	if (!hca->driver.enabled || hca->driver.initialized)
		return cmd_fail(cmd, PRM_STAT_BAD_SYS_STATE_ERR,
				"driver: not enabled, or initialized already");
	hca->driver.initialized = true;
	return PRM_STAT_OK;
}

enum prm_status driver_teardown(struct hca *hca, struct cmd *cmd)
{
	enum { GRACEFUL = 0 };

	if (!hca->driver.initialized)
		return cmd_fail(cmd, PRM_STAT_BAD_SYS_STATE_ERR, "driver: not initialized");
	if (prm_get(cmd->in, TEARDOWN_HCA_IN_PROFILE) != GRACEFUL)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "driver: only graceful teardown");
	hca->driver.initialized = false;
	return PRM_STAT_OK;
}

void driver_free(struct hca *hca)
{
	free(hca->driver.page);
}

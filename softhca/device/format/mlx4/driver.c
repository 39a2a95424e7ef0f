/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.c - commands by which a kernel driver starts and stops the adapter: gives memory, starts
 * the firmware, initializes and closes the adapter.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/caps.h"
#include "prm/mlx4/cmd.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/cmd/eth_qp.h"
#include "softhca/device/format/mlx4/firmware.h"

enum {
	FW_MAJOR = 2,
	FW_MINOR = 42,
	FW_SUBMINOR = 5000,
	LOG_MAX_CMDS = 4,
	FW_PAGES = 2, /* pages for the firmware: it keeps little in them */
	CORE_CLOCK_MHZ = 1000,
	ICM_LOG_PAGES_PER_AUX = 9, /* table pages for each auxiliary page */
};

/* Registers in BAR 0 that QUERY_FW reports. */
enum { FW_CLEAR_INT = 0x80700 };

int m4_create(struct hca *hca)
{
	hca->mlx4 = calloc(1, sizeof(*hca->mlx4));
	if (!hca->mlx4)
		return ENOMEM;
	m4_flows_init(hca);
	res_init(&hca->mlx4->eth_qps, &hca->user, 0, 1 << M4_LOG_QPS);
	return 0;
}

void m4_destroy(struct hca *hca)
{
	void *qp;

	if (!hca->mlx4)
		return;
	m4_groups_free(hca);
	m4_flows_free(hca);
	for (uint32_t i = 0; (qp = res_next(&hca->mlx4->eth_qps, &i)) != NULL;)
		free(qp); /* the CQ that it used is freed already */
	res_free(&hca->mlx4->eth_qps);
	icm_free(&hca->mlx4->icm);
	free(hca->mlx4);
}

enum m4_status m4_query_fw(struct hca *hca, struct m4_cmd *cmd)
{
	(void)hca;
	fld_set(cmd->out, M4_FW_PAGES, FW_PAGES);
	fld_set(cmd->out, M4_FW_MAJOR, FW_MAJOR);
	fld_set(cmd->out, M4_FW_MINOR, FW_MINOR);
	fld_set(cmd->out, M4_FW_SUBMINOR, FW_SUBMINOR);
	fld_set(cmd->out, M4_FW_INTERFACE, M4_FW_INTERFACE_REV);
	fld_set(cmd->out, M4_FW_LOG_MAX_CMDS, LOG_MAX_CMDS);
	fld_set(cmd->out, M4_FW_CLEAR_INT, FW_CLEAR_INT);
	fld_set(cmd->out, M4_FW_ERROR, HCA_ERROR_BUFFER);
	fld_set(cmd->out, M4_FW_ERROR_SIZE, HCA_ERROR_WORDS);
	return M4_STAT_OK;
}

struct entry {
	uint64_t virt, addr, size;
};

static bool entry_read(const struct m4_cmd *cmd, uint32_t index, struct entry *entry)
{
	const uint8_t *raw = cmd->in + (size_t)index * M4_MAP_ENTRY;
	uint64_t word = fld_get(raw, M4_MAP_ADDR);

	entry->virt = fld_get(raw, M4_MAP_VIRT);
	entry->size = (uint64_t)M4_ICM_PAGE << (word & M4_MAP_LOG_SIZE);
	entry->addr = word & ~(uint64_t)(M4_ICM_PAGE - 1);
	return !(entry->addr & (entry->size - 1)) && !(entry->virt & (M4_ICM_PAGE - 1));
}

/* Counts the pages that a mailbox lists; 0: it is invalid. */
static uint32_t count_pages(struct m4_cmd *cmd)
{
	uint32_t entries = cmd->order->in_modifier;
	uint64_t pages = 0;
	struct entry entry;

	if (!entries || entries > M4_MAP_ENTRIES)
		return 0;
	for (uint32_t i = 0; i < entries; i++) {
		if (!entry_read(cmd, i, &entry))
			return 0;
		pages += entry.size / M4_ICM_PAGE;
	}
	return pages > UINT32_MAX ? 0 : (uint32_t)pages;
}

enum m4_status m4_map_area(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t pages = count_pages(cmd);

	if (hca->mlx4->running)
		return m4_fail(cmd, M4_STAT_BAD_SYS_STATE, "driver: the firmware runs already");
	if (!pages)
		return m4_fail(cmd, M4_STAT_BAD_PARAM,
			       "driver: pages that are not aligned, or none");
	hca->mlx4->area_pages += pages;
	return M4_STAT_OK;
}

enum m4_status m4_unmap_area(struct hca *hca, struct m4_cmd *cmd)
{
	if (hca->mlx4->initialized || hca->mlx4->icm.count)
		return m4_fail(cmd, M4_STAT_BAD_SYS_STATE, "driver: not closed, or tables mapped");
	hca->mlx4->area_pages = 0;
	hca->mlx4->running = false;
	return M4_STAT_OK;
}

enum m4_status m4_run_fw(struct hca *hca, struct m4_cmd *cmd)
{
	if (hca->mlx4->running || hca->mlx4->area_pages < FW_PAGES)
		return m4_fail(cmd, M4_STAT_BAD_SYS_STATE,
			       "driver: runs already, or has too few pages to run in");
	hca->mlx4->running = true;
	return M4_STAT_OK;
}

enum m4_status m4_set_icm_size(struct hca *hca, struct m4_cmd *cmd)
{
	uint64_t size = cmd->order->in, pages = size / M4_ICM_PAGE;

	if (!size || size % M4_ICM_PAGE || size > M4_ICM_MAX || hca->mlx4->icm.count)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "driver: size of tables not valid here");
	hca->mlx4->icm_size = size;
	hca->mlx4->aux_wanted = (uint32_t)(pages >> ICM_LOG_PAGES_PER_AUX) + 1;
	cmd->order->out = hca->mlx4->aux_wanted;
	return M4_STAT_OK;
}

enum m4_status m4_map_aux(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t pages = count_pages(cmd);

	if (!pages)
		return m4_fail(cmd, M4_STAT_BAD_PARAM,
			       "driver: pages that are not aligned, or none");
	hca->mlx4->aux_pages += pages;
	return M4_STAT_OK;
}

enum m4_status m4_unmap_aux(struct hca *hca, struct m4_cmd *cmd)
{
	if (hca->mlx4->icm.count)
		return m4_fail(cmd, M4_STAT_BAD_SYS_STATE, "driver: tables are mapped");
	hca->mlx4->aux_pages = 0;
	return M4_STAT_OK;
}

static void unmap_entries(struct hca *hca, const struct m4_cmd *cmd, uint32_t count)
{
	struct entry entry;

	for (uint32_t i = 0; i < count; i++) {
		entry_read(cmd, i, &entry);
		icm_unmap(&hca->mlx4->icm, entry.virt, entry.size);
	}
}

/* Maps all entries of a mailbox, or none, as software frees the pages of a failed command. */
static int map_entries(struct hca *hca, const struct m4_cmd *cmd)
{
	struct entry entry;

	for (uint32_t i = 0; i < cmd->order->in_modifier; i++) {
		int ret = EINVAL;

		entry_read(cmd, i, &entry);
		if (entry.virt < M4_ICM_MAX && entry.size <= M4_ICM_MAX - entry.virt)
			ret = icm_map(&hca->mlx4->icm, entry.virt, entry.size, entry.addr);
		if (ret) {
			unmap_entries(hca, cmd, i);
			return ret;
		}
	}
	return 0;
}

/* Maps table memory. Linux maps more event queues than it counted in the size of its tables, behind
 * all other tables. So the size only sets the number of auxiliary pages, and does not limit
 * mappings. */
enum m4_status m4_map_icm(struct hca *hca, struct m4_cmd *cmd)
{
	const struct mlx4_firmware *firmware = hca->mlx4;
	int ret;

	if (!firmware->icm_size || firmware->aux_pages < firmware->aux_wanted)
		return m4_fail(cmd, M4_STAT_ICM_ERROR, "driver: not enough auxiliary pages");
	if (!count_pages(cmd))
		return m4_fail(cmd, M4_STAT_BAD_PARAM,
			       "driver: pages that are not aligned, or none");
	ret = map_entries(hca, cmd);
	return ret ? m4_errno(cmd, ret,
			      "driver: tables are mapped there, or end before, or too many pieces")
		   : M4_STAT_OK;
}

enum m4_status m4_unmap_icm(struct hca *hca, struct m4_cmd *cmd)
{
	uint64_t virt = cmd->order->in, size = (uint64_t)cmd->order->in_modifier * M4_ICM_PAGE;

	if (!size || virt > M4_ICM_MAX || icm_unmap(&hca->mlx4->icm, virt, size))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "driver: a part of what was mapped at once");
	return M4_STAT_OK;
}

/* Configures a port. Without a mailbox the command only names the port, and its page size stays. */
enum m4_status m4_configure(struct hca *hca, struct m4_cmd *cmd)
{
	const struct hca_order *order = cmd->order;
	unsigned int port = order->in_modifier >> M4_MOD_STAT_PORT_SHIFT & 0xff;
	uint64_t guid;

	if (order->modifier == M4_MOD_STAT_CFG_SET_PAGE)
		return M4_STAT_OK;
	if (order->modifier != M4_MOD_STAT_CFG_PORT || port < 1 || port > hca->config.num_ports)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "driver: unknown modifier, or no such port");
	guid = hca->port[port - 1].guid;
	fld_set(cmd->out, M4_MOD_STAT_GUID_H, guid >> 32);
	fld_set(cmd->out, M4_MOD_STAT_GUID_L, (uint32_t)guid);
	if (dma_write(hca, order->out, cmd->out, 0x100))
		return m4_fail(cmd, M4_STAT_INTERNAL_ERR,
			       "driver: the output mailbox cannot be written");
	return M4_STAT_OK;
}

enum m4_status m4_query_adapter(struct hca *hca, struct m4_cmd *cmd)
{
	static const char board[16] = "TFOS_ACH"; /* "SOFTHCA_", byte-swapped in each word */

	(void)hca;
	memcpy(fld_at(cmd->out, M4_ADAPTER_BOARD_ID), board, sizeof(board));
	return M4_STAT_OK;
}

/* Checks the multicast table. A driver that uses flow steering rules has none, so it may be
 * absent. */
static const char *check_groups(const struct hca *hca, const uint8_t *init)
{
	if (fld_get(init, M4_INIT_DMFS))
		return hca->config.link_layer == HCA_LINK_ETHERNET
			       ? NULL
			       : "driver: rules of steering, which were not announced";
	if (fld_get(init, M4_INIT_LOG_MCGS) > M4_LOG_MCGS ||
	    fld_get(init, M4_INIT_LOG_MCG) > M4_LOG_MAX_MCG)
		return "driver: more groups than were announced";
	if (fld_get(init, M4_INIT_LOG_MCG) < M4_LOG_MIN_MCG)
		return "driver: groups without room for members";
	if (fld_get(init, M4_INIT_LOG_HASH) > fld_get(init, M4_INIT_LOG_MCGS))
		return "driver: a hash larger than the table of groups";
	return NULL;
}

static const char *check_init(const struct hca *hca, const uint8_t *init)
{
	if (fld_get(init, M4_INIT_VERSION) != M4_INIT_VERSION_2)
		return "driver: another version of INIT_HCA";
	if (fld_get(init, M4_INIT_BIG_ENDIAN))
		return "driver: big-endian hosts are not supported";
	if (fld_get(init, M4_INIT_LARGE_EQE) || fld_get(init, M4_INIT_STRIDES))
		return "driver: what was not announced";
	if (fld_get(init, M4_INIT_UAR_PAGE))
		return "driver: pages of doorbells of other than 4 KiB";
	if (fld_get(init, M4_INIT_LOG_QPS) > M4_LOG_QPS ||
	    fld_get(init, M4_INIT_LOG_SRQS) > M4_LOG_SRQS ||
	    fld_get(init, M4_INIT_LOG_CQS) > M4_LOG_CQS ||
	    fld_get(init, M4_INIT_LOG_EQS) > M4_LOG_EQS ||
	    fld_get(init, M4_INIT_LOG_MPTS) > M4_LOG_MPTS)
		return "driver: more objects than were announced";
	return check_groups(hca, init);
}

enum m4_status m4_init_hca(struct hca *hca, struct m4_cmd *cmd)
{
	const char *why = check_init(hca, cmd->in);

	if (hca->mlx4->initialized)
		return m4_fail(cmd, M4_STAT_BAD_SYS_STATE, "driver: initialized already");
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	if (m4_diag_begin(hca))
		return m4_errno(cmd, ENOMEM, "driver: counters");
	memcpy(hca->mlx4->init, cmd->in, M4_INIT_SIZE);
	hca->mkey_mask = (1u << fld_get(cmd->in, M4_INIT_LOG_MPTS)) - 1;
	hca->mlx4->initialized = true;
	return M4_STAT_OK;
}

enum m4_status m4_query_hca(struct hca *hca, struct m4_cmd *cmd)
{
	memcpy(cmd->out, hca->mlx4->init, M4_INIT_SIZE);
	fld_set(cmd->out, M4_INIT_CLOCK, CORE_CLOCK_MHZ);
	return M4_STAT_OK;
}

/* Destroys all objects, as an adapter does when it is closed. */
static void forget_objects(struct hca *hca)
{
	void *object;

	for (uint32_t i = 0; (object = res_next(&hca->qps, &i)) != NULL;)
		m4_qp_remove(hca, object);
	for (uint32_t i = 0; (object = res_next(&hca->mlx4->eth_qps, &i)) != NULL;)
		m4_eth_qp_remove(hca, object);
	for (uint32_t i = 0; (object = res_next(&hca->srqs, &i)) != NULL;)
		m4_srq_remove(hca, object);
	for (uint32_t i = 0; (object = res_next(&hca->cqs, &i)) != NULL;)
		m4_cq_remove(hca, object);
	for (uint32_t i = 0; (object = res_next(&hca->eqs, &i)) != NULL;)
		m4_eq_remove(hca, object);
	for (uint32_t i = 0; (object = res_next(&hca->mkeys, &i)) != NULL;)
		m4_mpt_remove(hca, object);
}

/* Closes the adapter; objects that software has not destroyed are lost, as a driver that is
 * reloaded knows none of them. */
enum m4_status m4_close_hca(struct hca *hca, struct m4_cmd *cmd)
{
	(void)cmd;
	forget_objects(hca);
	m4_groups_free(hca);
	m4_flows_free(hca);
	m4_diag_end(hca);
	hca->mlx4->num_taken = 0;
	hca->mlx4->special_base = 0;
	hca->mlx4->frames_to = 0;
	hca->mlx4->initialized = false;
	return M4_STAT_OK;
}

enum m4_status m4_nop(struct hca *hca, struct m4_cmd *cmd)
{
	(void)hca;
	(void)cmd;
	return M4_STAT_OK;
}

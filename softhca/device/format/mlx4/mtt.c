/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mtt.c - the translation table: pages of queues and memory keys. Software writes it directly in
 * its ICM memory, or by a command.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx4/cmd.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"

enum { ICM_SHIFT = 12, MAX_LOG_PAGE = 19, MAX_ENTRIES = 1 << 22 };

static bool all_present(const uint8_t *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(fld_get64(entries, i * M4_MTT_SIZE) & M4_MTT_PRESENT))
			return false;
	return true;
}

int m4_map_ring(struct hca *hca, const struct m4_ring *ring, uint64_t len, struct dma_map *map)
{
	uint64_t base = fld_get(hca->mlx4->init, M4_INIT_MTT);
	unsigned int page_shift = ICM_SHIFT + ring->log_page;
	uint64_t first, skip, count;
	uint8_t *entries;
	int ret;

	if (ring->mtt % M4_MTT_SIZE || ring->log_page > MAX_LOG_PAGE || len > 1ull << 62)
		return EINVAL;
	first = ring->skip >> page_shift;
	skip = ring->skip & ((1ull << page_shift) - 1);
	count = (skip + len + (1ull << page_shift) - 1) >> page_shift;
	if (first > MAX_ENTRIES || count > MAX_ENTRIES)
		return EINVAL;
	entries = malloc(count * M4_MTT_SIZE + 1);
	if (!entries)
		return ENOMEM;
	ret = icm_read(hca, base + ring->mtt + first * M4_MTT_SIZE, entries, count * M4_MTT_SIZE);
	if (!ret && !all_present(entries, count))
		ret = EINVAL;
	if (!ret)
		ret = dma_map_pages(map, entries, count, page_shift, skip, len);
	free(entries);
	return ret;
}

enum m4_status m4_mtt_write(struct hca *hca, struct m4_cmd *cmd)
{
	enum { MAX = (M4_MAILBOX_SIZE - FLD_BYTE(M4_MTT_ENTRIES)) / M4_MTT_SIZE };
	uint64_t base = fld_get(hca->mlx4->init, M4_INIT_MTT);
	uint64_t index = fld_get(cmd->in, M4_MTT_INDEX);
	uint32_t count = cmd->order->in_modifier;

	if (!count || count > MAX || index >> 32)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "mtt: no entries, or too many");
	if (icm_write(hca, base + index * M4_MTT_SIZE, fld_at(cmd->in, M4_MTT_ENTRIES),
		      (size_t)count * M4_MTT_SIZE))
		return m4_fail(cmd, M4_STAT_ICM_ERROR, "mtt: the table is not mapped there");
	return M4_STAT_OK;
}

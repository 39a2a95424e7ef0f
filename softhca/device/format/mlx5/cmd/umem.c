/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem.c - commands on user memory (UMEM), and its look-up for queues and keys. PRM: UMEM
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/umem.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/cmd/umem.h"

enum { RECORD_SIZE = 8, RING_ALIGN = 64 };

static const char *umem_check(const struct cmd *cmd, const uint8_t *context)
{
	uint64_t entries = fld_get(context, UMEM_NUM_OF_MTT);
	unsigned int shift = 12 + fld_get(context, UMEM_LOG_PAGE_SIZE);

	if (fld_get(context, UMEM_ATS))
		return "umem: ats is not supported";
	if (!cmd_is_zero(context, FLD_BYTE(UMEM_ATS)) || fld_get(context, FLD(0x10, 30, 5)))
		return "umem: reserved fields are not 0";
	if (!entries || entries > (cmd->in_len - PRM_CREATE_UMEM_IN_SIZE) / 8)
		return "umem: num_of_mtt is 0, or more than the page list has";
	if (fld_get(context, UMEM_PAGE_OFFSET) >> shift)
		return "umem: page_offset is beyond the first page";
	return NULL;
}

enum prm_status umem_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, CREATE_UMEM_IN_UMEM);
	const char *why = umem_check(cmd, context);
	uint64_t entries = fld_get(context, UMEM_NUM_OF_MTT);
	struct umem *umem;
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	umem = calloc(1, sizeof(*umem));
	if (!umem)
		return cmd_errno(cmd, ENOMEM, "umem");
	umem->page_shift = 12 + fld_get(context, UMEM_LOG_PAGE_SIZE);
	umem->page_offset = fld_get(context, UMEM_PAGE_OFFSET);
	ret = dma_map_pages(&umem->map, fld_at(context, UMEM_MTT), entries, umem->page_shift,
			    umem->page_offset, (entries << umem->page_shift) - umem->page_offset);
	if (!ret)
		ret = umem_add(hca, umem);
	if (ret) {
		umem_free(umem);
		return cmd_errno(cmd, ret, "umem: table is full");
	}
	fld_set(cmd->out, CREATE_UMEM_OUT_UMEM_ID, umem->n);
	return PRM_STAT_OK;
}

enum prm_status umem_destroy(struct hca *hca, struct cmd *cmd)
{
	struct umem *umem = res_find(&hca->umems, fld_get(cmd->in, DESTROY_UMEM_IN_UMEM_ID));

	if (!umem)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "umem: no such memory");
	if (umem->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "umem: in use by a queue or key");
	umem_remove(hca, umem);
	return PRM_STAT_OK;
}

int umem_place_ring(struct hca *hca, const struct umem_place *place, uint64_t len,
		    struct dma_map *map, struct umem **umem)
{
	*umem = res_find(&hca->umems, place->id);
	if (!*umem)
		return ENOENT;
	if (((*umem)->page_offset + place->offset) % RING_ALIGN)
		return EINVAL;
	return umem_map(*umem, place->offset, len, map);
}

int umem_place_record(struct hca *hca, const struct umem_place *place, uint64_t *addr,
		      struct umem **umem)
{
	*umem = NULL;
	*addr = place->offset;
	if (!place->valid)
		return 0;
	*umem = res_find(&hca->umems, place->id);
	if (!*umem)
		return ENOENT;
	if (place->offset > (*umem)->map.len - RECORD_SIZE || (*umem)->map.len < RECORD_SIZE)
		return EINVAL;
	*addr = dma_map_addr(&(*umem)->map, place->offset);
	return *addr % RECORD_SIZE ? EINVAL : 0;
}

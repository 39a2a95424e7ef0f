/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem.c - user memory objects; see umem.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/core.h"
#include "softhca/device/memory/umem.h"

int umem_add(struct hca *hca, struct umem *umem)
{
	int ret = res_add(&hca->umems, umem, &umem->n);

	if (!ret)
		pins_take(hca, &umem->map);
	return ret;
}

void umem_remove(struct hca *hca, struct umem *umem)
{
	res_remove(&hca->umems, umem->n);
	umem_free(umem);
}

void umem_free(struct umem *umem)
{
	dma_unmap(&umem->map);
	free(umem);
}

int umem_map(const struct umem *umem, uint64_t offset, uint64_t len, struct dma_map *map)
{
	return dma_map_part(map, &umem->map, offset, len);
}

void queue_umems_use(const struct queue_umems *umems, int by)
{
	if (umems->ring)
		umems->ring->users += by;
	if (umems->record)
		umems->record->users += by;
}

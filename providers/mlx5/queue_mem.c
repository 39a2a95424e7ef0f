/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.c - memory of queues: from the program's allocator, when the parent domain that the
 * queue is created in has one, else mapped.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "providers/common/hwbuf.h"
#include "providers/mlx5/pd.h"

static int map(size_t size, struct queue_mem *mem)
{
	struct hwbuf buf;
	int ret = hwbuf_alloc(size, &buf);

	if (ret)
		return ret;
	mem->addr = buf.addr;
	mem->size = buf.size;
	mem->owner = NULL;
	return 0;
}

int queue_mem_alloc(struct ibv_pd *pd, uint64_t type, size_t size, struct queue_mem *mem)
{
	struct mlx5_pd *mpd = pd ? to_mpd(pd) : NULL;
	void *addr;

	mem->type = type;
	if (!mpd || !mpd->alloc)
		return map(size, mem);
	addr = mpd->alloc(pd, mpd->pd_context, size, (size_t)sysconf(_SC_PAGESIZE), type);
	if (addr == IBV_ALLOCATOR_USE_DEFAULT)
		return map(size, mem);
	if (!addr) {
		verbs_warn("the allocator of the parent domain has no %zu bytes for a queue", size);
		return ENOMEM;
	}
	memset(addr, 0, size);
	mem->addr = addr;
	mem->size = size;
	mem->owner = mpd;
	return 0;
}

void queue_mem_free(struct queue_mem *mem)
{
	struct hwbuf buf = { mem->addr, mem->size };

	if (mem->owner)
		mem->owner->free(&mem->owner->pd, mem->owner->pd_context, mem->addr, mem->type);
	else
		hwbuf_free(&buf);
	mem->addr = NULL;
	mem->owner = NULL;
}

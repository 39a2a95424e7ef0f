/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pages.c - see pages.h. PRM: QUERY_PAGES, MANAGE_PAGES
 */
#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/driver.h"
#include "providers/mlx5/vfio/pages.h"
#include "util/alloc.h"
#include "util/bits.h"

enum { PAGE = 4096, MOST = VFIO_MAX_PAGES /* pages of one command */ };

void mlx5_vfio_pages_init(struct vfio_pages *pages, struct vfio_cmdq *cmdq)
{
	*pages = (struct vfio_pages){ .cmdq = cmdq };
	pthread_mutex_init(&pages->lock, NULL);
}

static int run_command(struct vfio_pages *pages, const void *in, uint32_t inlen, void *out,
		       uint32_t outlen)
{
	return mlx5_vfio_cmdq_run(pages->cmdq, VFIO_LANE_PAGES, in, inlen, out, outlen, NULL);
}

void mlx5_vfio_pages_refuse(struct vfio_pages *pages, uint32_t function)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_MANAGE_PAGES);
	fld_set(in, CMD_IN_OP_MOD, PRM_PAGES_CANNOT_GIVE);
	fld_set(in, MANAGE_PAGES_IN_FUNCTION_ID, function);
	run_command(pages, in, sizeof(in), out, sizeof(out));
}

static int give_bunch(struct vfio_pages *pages, struct page_bunch *bunch, uint32_t count,
		      bool *is_answered)
{
	uint8_t in[PRM_CMD_IN_SIZE + MOST * 8] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_MANAGE_PAGES);
	fld_set(in, CMD_IN_OP_MOD, PRM_PAGES_GIVE);
	fld_set(in, MANAGE_PAGES_IN_INPUT_NUM_ENTRIES, count);
	for (uint32_t i = 0; i < count; i++)
		fld_set64(fld_at(in, MANAGE_PAGES_IN_PAS), i * 8,
			  vfio_dma_start(&bunch->dma) + i * (uint64_t)PAGE);
	return mlx5_vfio_cmdq_run(pages->cmdq, VFIO_LANE_PAGES, in, PRM_CMD_IN_SIZE + count * 8,
				  out, sizeof(out), is_answered);
}

/* Keeps the bunch until mlx5_vfio_pages_destroy(): the command that gives its pages was not
 * answered, so the adapter may use the pages but does not return them. */
static void bunch_keep(struct page_bunch *bunch)
{
	bunch->with_adapter = 0;
	memset(bunch->given, 0, sizeof(bunch->given));
}

static int give_pages(struct vfio_pages *pages, uint32_t count)
{
	struct page_bunch *bunch = calloc_for("VFIO: pages for firmware", 1, sizeof(*bunch));
	int ret =
		bunch ? mlx5_vfio_dma_alloc(pages->cmdq->space, (uint64_t)count * PAGE, &bunch->dma)
		      : ENOMEM;
	bool is_answered;

	if (ret) {
		free(bunch);
		mlx5_vfio_pages_refuse(pages, 0);
		return ret;
	}
	bunch->with_adapter = count;
	for (uint32_t i = 0; i < count; i++)
		bunch->given[i / 64] |= UINT64_C(1) << i % 64;
	ret = give_bunch(pages, bunch, count, &is_answered);
	if (ret) {
		verbs_warn("VFIO: firmware does not take %u pages: %s", count, strerror(ret));
		/* The command was not sent: there was no mailbox. An answer of firmware may have
		 * this errno, too, but ends its request by itself. */
		if (ret == ENOMEM && !is_answered)
			mlx5_vfio_pages_refuse(pages, 0);
		if (ret != ENOMEM && !is_answered)
			bunch_keep(bunch);
		else
			mlx5_vfio_dma_free(pages->cmdq->space, &bunch->dma);
	}
	if (!bunch->dma.shape.count) {
		free(bunch);
		return ret;
	}
	bunch->next = pages->bunches;
	pages->bunches = bunch;
	return ret;
}

/* Marks page NUMBER of the bunch as returned. Returns false if the adapter did not have it. */
static bool bunch_take(struct page_bunch *bunch, uint64_t number)
{
	const uint64_t bit = UINT64_C(1) << number % 64;

	if (number >= MOST || !(bunch->given[number / 64] & bit))
		return false;
	bunch->given[number / 64] &= ~bit;
	bunch->with_adapter--;
	return true;
}

static struct page_bunch **bunch_find(struct vfio_pages *pages, uint64_t address)
{
	struct page_bunch **at = &pages->bunches;

	while (*at && address - vfio_dma_start(&(*at)->dma) >= (*at)->dma.shape.length)
		at = &(*at)->next;
	return at;
}

/* Returns false if the adapter did not have the page. */
static bool page_returned(struct vfio_pages *pages, uint64_t address)
{
	struct page_bunch **at = bunch_find(pages, address), *bunch = *at;

	if (!bunch || address % PAGE ||
	    !bunch_take(bunch, (address - vfio_dma_start(&bunch->dma)) / PAGE)) {
		verbs_warn("VFIO: firmware returns a page that it does not have: %#llx",
			   (unsigned long long)address);
		return false;
	}
	if (bunch->with_adapter)
		return true;
	*at = bunch->next;
	mlx5_vfio_dma_free(pages->cmdq->space, &bunch->dma);
	free(bunch);
	return true;
}

/* Takes back up to COUNT pages. Sets *TAKEN to the number of pages that the adapter had and
 * returned. */
static int take_pages(struct vfio_pages *pages, uint32_t count, uint32_t *taken)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE + MOST * 8] = { 0 };
	const uint8_t *pas = fld_at(out, MANAGE_PAGES_OUT_PAS);
	uint32_t returned;
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_MANAGE_PAGES);
	fld_set(in, CMD_IN_OP_MOD, PRM_PAGES_TAKE);
	fld_set(in, MANAGE_PAGES_IN_INPUT_NUM_ENTRIES, count);
	ret = run_command(pages, in, sizeof(in), out, PRM_CMD_OUT_SIZE + count * 8);
	*taken = 0;
	if (ret)
		return ret;
	returned = (uint32_t)fld_get(out, MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES);
	if (returned > count)
		return EIO;
	for (uint32_t i = 0; i < returned; i++)
		*taken += page_returned(pages, fld_get64(pas, i * 8));
	return 0;
}

/* Takes back up to COUNT pages. Ends when an answer has none that the adapter had: it would answer
 * like that for ever. */
static int take_all(struct vfio_pages *pages, uint32_t count)
{
	uint32_t taken = 1;
	int ret = 0;

	while (!ret && count && taken) {
		ret = take_pages(pages, min_of(count, (uint32_t)MOST), &taken);
		count -= min_of(taken, count);
	}
	return ret;
}

int mlx5_vfio_pages_change(struct vfio_pages *pages, int32_t count)
{
	int ret = 0;

	pthread_mutex_lock(&pages->lock);
	for (int32_t left = count; !ret && left > 0; left -= MOST)
		ret = give_pages(pages, min_of((uint32_t)left, (uint32_t)MOST));
	if (count < 0)
		ret = take_all(pages, 0u - (uint32_t)count);
	pthread_mutex_unlock(&pages->lock);
	return ret;
}

int mlx5_vfio_pages_give_for(struct vfio_pages *pages, unsigned int step)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_PAGES);
	fld_set(in, CMD_IN_OP_MOD, step);
	ret = run_command(pages, in, sizeof(in), out, sizeof(out));
	return ret ? ret
		   : mlx5_vfio_pages_change(pages,
					    (int32_t)fld_get(out, QUERY_PAGES_OUT_NUM_PAGES));
}

int mlx5_vfio_pages_reclaim(struct vfio_pages *pages)
{
	uint32_t count = 0;
	int ret;

	pthread_mutex_lock(&pages->lock);
	for (const struct page_bunch *bunch = pages->bunches; bunch; bunch = bunch->next)
		count += bunch->with_adapter;
	ret = take_all(pages, count);
	pthread_mutex_unlock(&pages->lock);
	return ret;
}

void mlx5_vfio_pages_destroy(struct vfio_pages *pages)
{
	while (pages->bunches) {
		struct page_bunch *bunch = pages->bunches;

		pages->bunches = bunch->next;
		mlx5_vfio_dma_free(pages->cmdq->space, &bunch->dma);
		free(bunch);
	}
	pthread_mutex_destroy(&pages->lock);
}

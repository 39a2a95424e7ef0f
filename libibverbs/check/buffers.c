/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buffers.c - what the program does with buffers while requests use them (VERBS_CHECK=buffers): it
 * changes a buffer that is being sent, or posts one for two receives.
 *
 * Not part of VERBS_CHECK=1, because each request costs time that grows with its buffers, and
 * because programs that discard what they receive use one buffer for all receives on purpose.
 */
#include "check.h"

#include <sys/uio.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

/* Multiplier and start of the hash FNV-1a with 64 bits. */
#define SUM_FACTOR UINT64_C(0x100000001b3)
#define SUM_BEGIN  UINT64_C(0xcbf29ce484222325)

/* Adds BYTES bytes at ADDR. The program may have unmapped them, so the kernel reads them. */
static bool piece_add(uint64_t addr, size_t bytes, uint64_t *sum)
{
	static uint8_t piece[PIECE]; /* guarded by the checker's lock */
	const struct iovec to = { piece, bytes };
	const struct iovec from = { (void *)(uintptr_t)addr, bytes };

	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)bytes)
		return false;
	for (size_t i = 0; i < bytes; i++)
		*sum = (*sum ^ piece[i]) * SUM_FACTOR;
	return true;
}

static bool sge_add(const struct ibv_sge *sge, uint64_t *sum)
{
	for (uint32_t at = 0; at < sge->length; at += PIECE) {
		const uint32_t left = sge->length - at;

		if (!piece_add(sge->addr + at, left < PIECE ? left : PIECE, sum))
			return false;
		if (left <= PIECE)
			break;
	}
	return true;
}

bool verbs_check_sum(const struct ibv_context *context, const struct ibv_sge *sges, int count,
		     uint64_t *sum)
{
	*sum = SUM_BEGIN;
	for (int i = 0; i < count; i++)
		if (!verbs_check_is_memory(context, &sges[i]) || !sge_add(&sges[i], sum))
			return false;
	return true;
}

bool verbs_check_has_changed(const struct ibv_context *context, const struct check_request *request)
{
	uint64_t sum;

	return verbs_check_sum(context, request->sges, request->count, &sum) && sum != request->sum;
}

void verbs_check_changed_say(uint32_t qp_num, const struct check_request *request)
{
	verbs_check_say(CHECK_BUFFER,
			"QP 0x%x: the buffers of %s with wr_id 0x%llx, the first of %u bytes at "
			"0x%llx, have changed between the post and the completion: write to a "
			"buffer only when its request has completed",
			qp_num, request->call, (unsigned long long)request->wr_id,
			request->sges[0].length, (unsigned long long)request->sges[0].addr);
}

static bool ranges_meet(const struct ibv_sge *a, const struct ibv_sge *b)
{
	return a->length && b->length && a->addr < b->addr + b->length &&
	       b->addr < a->addr + a->length;
}

/* Addresses of two regions are comparable only if both are those of the program's memory. Regions
 * of device memory, for instance, all begin at address 0. */
static bool sges_share(const struct ibv_context *context, const struct ibv_sge *a,
		       const struct ibv_sge *b)
{
	return ranges_meet(a, b) && (a->lkey == b->lkey || (verbs_check_is_memory(context, a) &&
							    verbs_check_is_memory(context, b)));
}

const struct ibv_sge *verbs_check_shared(const struct ibv_context *context,
					 const struct check_request *request,
					 const struct check_request *earlier)
{
	for (int i = 0; i < request->count; i++)
		for (int j = 0; j < earlier->count; j++)
			if (sges_share(context, &request->sges[i], &earlier->sges[j]))
				return &earlier->sges[j];
	return NULL;
}

void verbs_check_shared_say(const struct check_post *post, const struct check_request *earlier,
			    const struct ibv_sge *sge)
{
	verbs_check_say(CHECK_BUFFER,
			"%s: %s 0x%x: wr_id 0x%llx: its buffers share bytes with %u bytes at "
			"0x%llx of the request with wr_id 0x%llx, which has not completed: give "
			"each request that the adapter writes a buffer of its own",
			post->call, post->owner, post->number, (unsigned long long)post->wr_id,
			sge->length, (unsigned long long)sge->addr,
			(unsigned long long)earlier->wr_id);
}

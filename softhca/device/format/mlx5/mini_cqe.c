/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mini_cqe.c - compressed CQEs: which CQEs may share a run, and the contents of its mini CQEs.
 *
 * A reader rebuilds the CQEs from the title, the mini CQEs and the WQE counter, which rises by one
 * for each receive, or by its strides. Fields that none of these has must be equal in all CQEs of a
 * run. Two are lost: the time, where all get the first one's, and the hash or the checksum,
 * whichever software did not choose.
 */
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/mini_cqe.h"
#include "softhca/device/format/mlx5/mlx5.h"

static bool is_request(const uint8_t *cqe)
{
	return fld_get(cqe, CQE_OPCODE) == CQE_OP_REQ;
}

bool mlx5_can_compress(const uint8_t *cqe)
{
	return fld_get(cqe, CQE_OPCODE) <= CQE_OP_RESP_SEND_INVAL && !fld_get(cqe, CQE_FORMAT) &&
	       fld_get(cqe, CQE_APP) != CQE_APP_TAG_MATCHING && !fld_get(cqe, CQE_LRO_SEGMENTS);
}

static void clear_own(uint8_t *cqe)
{
	fld_set(cqe, CQE_TIMESTAMP, 0);
	fld_set(cqe, CQE_BYTE_COUNT, 0);
	fld_set(cqe, CQE_WQE_COUNTER, 0);
	fld_set(cqe, CQE_OWNER, 0);
	if (is_request(cqe)) {
		fld_set(cqe, CQE_SEND_OPCODE, 0);
		return;
	}
	fld_set(cqe, CQE_RSS_HASH, 0);
	fld_set(cqe, CQE_CHECK_SUM, 0);
}

/* Returns whether the CQE is a striding queue's, which reports strides. */
static bool is_striding(const uint8_t *cqe)
{
	return fld_get(cqe, CQE_HEADERS_OK) & CQE_L2_OK && fld_get(cqe, CQE_STRIDES);
}

static bool counter_follows(const uint8_t *last, const uint8_t *cqe)
{
	uint64_t step = is_striding(last) ? fld_get(last, CQE_STRIDES) : 1;

	return fld_get(cqe, CQE_WQE_COUNTER) == (uint16_t)(fld_get(last, CQE_WQE_COUNTER) + step);
}

bool mlx5_cqe_follows(const uint8_t *title, const uint8_t *last, const uint8_t *cqe)
{
	uint8_t ours[PRM_CQE_SIZE], theirs[PRM_CQE_SIZE];

	memcpy(ours, cqe, sizeof(ours));
	memcpy(theirs, title, sizeof(theirs));
	clear_own(ours);
	clear_own(theirs);
	if (memcmp(ours, theirs, sizeof(ours)))
		return false;
	return is_request(cqe) || counter_follows(last, cqe);
}

void mlx5_encode_mini_cqe(const struct run_format *format, const uint8_t *cqe, uint8_t *mini)
{
	memset(mini, 0, PRM_MINI_CQE_SIZE);
	fld_set(mini, MINI_CQE_BYTE_COUNT, fld_get(cqe, CQE_BYTE_COUNT));
	if (is_request(cqe)) {
		fld_set(mini, MINI_CQE_WQE_COUNTER, fld_get(cqe, CQE_WQE_COUNTER));
		fld_set(mini, MINI_CQE_SEND_OPCODE, fld_get(cqe, CQE_SEND_OPCODE));
	} else if (format->has_hash) {
		fld_set(mini, MINI_CQE_RSS_HASH, fld_get(cqe, CQE_RSS_HASH));
	} else {
		fld_set(mini, MINI_CQE_CHECK_SUM, fld_get(cqe, CQE_CHECK_SUM));
		if (format->has_index)
			fld_set(mini, MINI_CQE_STRIDE, fld_get(cqe, CQE_WQE_COUNTER));
	}
}

void mlx5_encode_title(uint8_t *cqe, uint32_t count)
{
	fld_set(cqe, CQE_BYTE_COUNT, count);
	fld_set(cqe, CQE_FORMAT, CQE_FORMAT_COMPRESSED);
}

void mlx5_encode_block(uint8_t *block, uint32_t count)
{
	fld_set(block, CQE_OPCODE, count - 1);
	fld_set(block, CQE_FORMAT, CQE_FORMAT_COMPRESSED);
}

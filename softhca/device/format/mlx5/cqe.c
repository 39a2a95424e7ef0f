/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.c - completions as CQEs of mlx5. PRM: CQE, CQE with error
 */
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/queue/cq.h"
#include "softhca/device/queue/srq.h"

/* Puts short data into the CQE, or into the bytes before it. Fields that the data overwrites must
 * be set before, as they would otherwise overwrite the data. */
static bool put_inline(const struct cqe_place *place, uint8_t *slot, uint8_t *cqe,
		       const struct completion *done)
{
	bool wide = place->size == 2 * PRM_CQE_SIZE && done->inline_len > 32;

	memcpy(wide ? slot : cqe, done->inline_data, done->inline_len);
	fld_set(cqe, CQE_FLAGS, fld_get(cqe, CQE_FLAGS) | (wide ? CQE_INLINE_64 : CQE_INLINE_32));
	return wide;
}

static void put_tm(const struct tm_note *note, uint8_t *cqe)
{
	memcpy(cqe, note->head, sizeof(note->head));
	fld_set(cqe, CQE_APP, CQE_APP_TAG_MATCHING);
	fld_set(cqe, CQE_APP_OP, note->op);
	fld_set(cqe, CQE_APP_INFO, note->tag);
}

static void put_message(const struct completion *done, uint8_t *cqe)
{
	fld_set(cqe, CQE_RQPN, done->remote_qpn);
	fld_set(cqe, CQE_SLID, done->slid);
	fld_set(cqe, CQE_GRH, done->grh);
	fld_set(cqe, CQE_SL, done->sl_or_l3);
	fld_set(cqe, CQE_VLAN_PRESENT, done->tagged);
	fld_set(cqe, CQE_VLAN, done->tagged ? done->vlan : 0);
	memcpy(fld_at(cqe, CQE_IMM), &done->imm, sizeof(done->imm));
	fld_set(cqe, CQE_BYTE_COUNT, done->byte_count);
	if (done->in_stride) {
		fld_set(cqe, CQE_PACKET_STRIDE, done->stride);
		fld_set(cqe, CQE_PACKET_LAST, done->is_last);
	}
}

void mlx5_set_cqe_owner(uint8_t *cqe, bool owner)
{
	fld_set(cqe, CQE_OWNER, owner);
}

void mlx5_set_cqe_lap(uint8_t *cqe, uint8_t lap)
{
	fld_set(cqe, CQE_VALIDITY, lap);
}

bool mlx5_is_software_cqe(const uint8_t *cqe, bool owner)
{
	return fld_get(cqe, CQE_OPCODE) != CQE_OP_INVALID && fld_get(cqe, CQE_OWNER) == owner;
}

uint32_t mlx5_encode_cqe(const struct cqe_place *place, const struct completion *done,
			 uint8_t *slot)
{
	uint8_t *cqe = slot + place->size - PRM_CQE_SIZE;
	bool wide = false;

	fld_set(cqe, CQE_USER_INDEX, place->user_index);
	fld_set(cqe, CQE_SEND_OPCODE, done->send_opcode);
	fld_set(cqe, CQE_QPN, place->qpn);
	fld_set(cqe, CQE_WQE_COUNTER, done->wqe_counter);
	fld_set(cqe, CQE_OPCODE, done->opcode);
	fld_set(cqe, CQE_FLAGS, done->solicited ? CQE_SOLICITED : 0);
	if (completion_is_error(done)) {
		fld_set(cqe, CQE_SYNDROME, done->syndrome);
		fld_set(cqe, CQE_VENDOR_SYNDROME, done->vendor_syndrome);
	} else {
		put_message(done, cqe);
		fld_set(cqe, CQE_TIMESTAMP, place->time);
		if (done->tm)
			put_tm(done->tm, cqe);
	}
	mlx5_set_cqe_owner(cqe, place->owner);
	if (done->inline_len)
		wide = put_inline(place, slot, cqe, done);
	return wide ? 2 * PRM_CQE_SIZE : PRM_CQE_SIZE;
}

void mlx5_encode_ring_end(uint8_t *cqe)
{
	fld_set(cqe, CQE_OPCODE, CQE_OP_RESIZE);
}

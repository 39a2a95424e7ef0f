/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.c - completions as CQEs of mlx4. Sources: see prm/mlx4/cqe.h.
 */
#include <string.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx5/cqe.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/cq.h"
#include "softhca/device/queue/srq.h"

static const uint8_t received[] = {
	[CQE_OP_RESP_WRITE_IMM] = M4_RECV_WRITE_IMM,
	[CQE_OP_RESP_SEND] = M4_RECV_SEND,
	[CQE_OP_RESP_SEND_IMM] = M4_RECV_SEND_IMM,
	[CQE_OP_RESP_SEND_INVAL] = M4_RECV_SEND_INVAL,
};

void mlx4_set_cqe_owner(uint8_t *cqe, bool owner)
{
	fld_set(cqe, M4_CQE_OWNER, owner);
}

bool mlx4_is_software_cqe(const uint8_t *cqe, bool owner)
{
	return fld_get(cqe, M4_CQE_OWNER) == owner;
}

/* Puts a timestamp where CQs without timestamps have service level and LID. The upper part lags by
 * one if the lower part is 0, as Linux' network driver adds that one, in mlx4_en_get_cqe_ts(). */
void mlx4_put_time(const struct cqe_place *place, uint8_t *cqe)
{
	const uint32_t low = place->time & 0xffff;

	fld_set(cqe, M4_CQE_TIME_47_16, (uint32_t)(place->time >> 16) - !low);
	fld_set(cqe, M4_CQE_TIME_15_0, low);
}

static void put_message(const struct cqe_place *place, const struct completion *done, uint8_t *cqe)
{
	bool by_srq = done->srq && done->srq->xrcd;

	memcpy(fld_at(cqe, M4_CQE_IMM), &done->imm, sizeof(done->imm));
	fld_set(cqe, M4_CQE_GRH, done->grh);
	fld_set(cqe, M4_CQE_RQPN, by_srq ? done->srq->n : done->remote_qpn);
	fld_set(cqe, M4_CQE_BYTE_COUNT, done->byte_count);
	fld_set(cqe, M4_CQE_VLAN_PRESENT, done->tagged);
	if (place->has_time) {
		mlx4_put_time(place, cqe);
	} else if (done->roce) {
		fld_set(cqe, M4_CQE_VID, done->tagged ? done->vlan : 0);
		fld_set(cqe, M4_CQE_ETH_PRIO, done->tagged ? done->vlan >> 13 : 0);
	} else {
		fld_set(cqe, M4_CQE_SL, done->sl_or_l3);
		fld_set(cqe, M4_CQE_RLID, done->slid);
	}
}

uint32_t mlx4_encode_cqe(const struct cqe_place *place, const struct completion *done,
			 uint8_t *slot)
{
	uint8_t *cqe = slot + place->size - M4_CQE_SIZE;
	bool is_send = done->opcode == CQE_OP_REQ || done->opcode == CQE_OP_REQ_ERR;

	fld_set(cqe, M4_CQE_QPN, place->qpn);
	fld_set(cqe, M4_CQE_WQE_INDEX, done->wqe_counter);
	fld_set(cqe, M4_CQE_IS_SEND, is_send);
	if (completion_is_error(done)) {
		fld_set(cqe, M4_CQE_OPCODE, M4_CQE_ERROR);
		fld_set(cqe, M4_CQE_SYNDROME, done->syndrome);
		fld_set(cqe, M4_CQE_VENDOR, done->vendor_syndrome);
		if (done->srq && done->srq->xrcd)
			fld_set(cqe, M4_CQE_RQPN, done->srq->n);
	} else {
		fld_set(cqe, M4_CQE_OPCODE, is_send ? done->send_opcode : received[done->opcode]);
		put_message(place, done, cqe);
	}
	mlx4_set_cqe_owner(cqe, place->owner);
	return M4_CQE_SIZE;
}

void mlx4_encode_ring_end(uint8_t *cqe)
{
	fld_set(cqe, M4_CQE_OPCODE, M4_CQE_RESIZE);
}

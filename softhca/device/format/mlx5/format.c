/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format.c - the format mlx5, as a table: see softhca/device/format/format.h.
 */
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/mini_cqe.h"
#include "prm/mlx5/uar.h"
#include "prm/mlx5/wq.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/format/mlx5/mlx5.h"

const struct format mlx5_format = {
	.create = mlx5_create,
	.destroy = mlx5_destroy,
	.wqe_size = mlx5_wqe_size,
	.wqe_opcode = mlx5_wqe_opcode,
	.wqe_stream = mlx5_wqe_stream,
	.umr_key = mlx5_umr_key,
	.execute_umr = mlx5_execute_umr,
	.execute_frame_umr = mlx5_execute_frame_umr,
	.decode_send = mlx5_decode_send,
	.decode_av = mlx5_decode_av,
	.decode_recv = mlx5_decode_recv,
	.decode_srq = mlx5_decode_srq,
	.send_is_signed = mlx5_send_is_signed,
	.recv_is_signed = mlx5_recv_is_signed,
	.recv_signature_size = RECV_SIGNATURE_SIZE,
	.striding_head = PRM_STRIDING_HEAD,
	.striding_next = mlx5_striding_next,
	.first_frame_sq = 0xc00000,
	.first_frame_rq = 0xd00000,
	.decode_frame_send = mlx5_decode_frame_send,
	.decode_underlay_send = mlx5_decode_underlay_send,
	.decode_frame_recv = mlx5_decode_frame_recv,
	.encode_cqe = mlx5_encode_cqe,
	.encode_frame_cqe = mlx5_encode_frame_cqe,
	.encode_ring_end = mlx5_encode_ring_end,
	.encode_sig_error = mlx5_encode_sig_error,
	.set_cqe_owner = mlx5_set_cqe_owner,
	.set_cqe_lap = mlx5_set_cqe_lap,
	.is_software_cqe = mlx5_is_software_cqe,
	.cqe_size = PRM_CQE_SIZE,
	.can_compress = mlx5_can_compress,
	.follows = mlx5_cqe_follows,
	.encode_part = mlx5_encode_mini_cqe,
	.encode_title = mlx5_encode_title,
	.encode_block = mlx5_encode_block,
	.cqe_part_size = PRM_MINI_CQE_SIZE,
	.encode_eqe = mlx5_encode_eqe,
	.set_eqe_owner = mlx5_set_eqe_owner,
	.eqe_size = PRM_EQE_SIZE,
	.dbrec_recv = FLD_BYTE(QP_DBREC_RECV),
	.dbrec_send = FLD_BYTE(QP_DBREC_SEND),
	.dbrec_ci = FLD_BYTE(CQ_DBREC_CI),
	.dbrec_arm = FLD_BYTE(CQ_DBREC_ARM),
	.dbrec_align = 8,
	.decode_arm = mlx5_decode_arm,
	.ring = mlx5_ring,
	.rung_sq = mlx5_rung_sq,
	.rung_cq = mlx5_rung_cq,
	.trace_send = mlx5_trace_send,
	.trace_cqe = mlx5_trace_cqe,
	.trace_eqe = mlx5_trace_eqe,
	.opcode_name = mlx5_opcode_name,
	.judge_page = mlx5_bells_create,
	.forget_page = mlx5_bells_free,
	.judge_write = mlx5_judge_write,
	.judge_found = mlx5_judge_found,
	.judge_send = mlx5_judge_send,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format.c - the tables of format mlx4: see softhca/device/format/format.h. One is for a front that
 * emulates the kernel, the other for a kernel driver. mlx4 has no signatures.
 */
#include "prm/mlx4/cqe.h"
#include "prm/mlx4/eqe.h"
#include "prm/mlx4/uar.h"
#include "prm/mlx4/wqe.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/format/mlx4/steer.h"
#include "softhca/device/format/mlx5/mlx5.h"

/* Operations on queues are the same in both tables. */
/* clang-format off */
#define QUEUES \
	.wqe_size = mlx4_wqe_size, \
	.wqe_clear_bell = mlx4_wqe_clear_bell, \
	.wqe_is_block = true, \
	.send_is_posted = mlx4_send_is_posted, \
	.wqe_opcode = mlx4_wqe_opcode, \
	.wqe_stream = mlx4_wqe_stream, \
	.umr_key = mlx4_changed_key, \
	.execute_umr = mlx4_execute_on_key, \
	.decode_send = mlx4_decode_send, \
	.decode_av = mlx4_decode_av, \
	.decode_recv = mlx4_decode_recv, \
	.decode_srq = mlx4_decode_srq, \
	.decode_frame_send = mlx4_decode_frame_send, \
	.decode_frame_recv = mlx4_decode_recv, \
	.encode_frame_cqe = mlx4_encode_frame_cqe, \
	.encode_cqe = mlx4_encode_cqe, \
	.encode_ring_end = mlx4_encode_ring_end, \
	.set_cqe_owner = mlx4_set_cqe_owner, \
	.is_software_cqe = mlx4_is_software_cqe, \
	.cqe_size = M4_CQE_SIZE, \
	.fills_cq = true, \
	.xrc_target_mark = M4_XRC_TARGET, \
	.larger_ring_first = true, \
	.dbrec_recv = FLD_BYTE(M4_RECV_RECORD), \
	.dbrec_ci = FLD_BYTE(M4_CQ_RECORD_CI), \
	.dbrec_arm = FLD_BYTE(M4_CQ_RECORD_ARM), \
	.dbrec_align = 4, \
	.decode_arm = mlx4_decode_arm, \
	.first_arm = 1, \
	.rung_sq = mlx4_rung_sq, \
	.rung_cq = mlx4_rung_cq, \
	.trace_send = mlx4_trace_send, \
	.trace_cqe = mlx4_trace_cqe, \
	.opcode_name = mlx4_opcode_name, \
	.judge_write = mlx4_judge_write, \
	.judge_found = mlx4_judge_found, \
	.judge_send = mlx4_judge_send, \
	.judge_posted = mlx4_judge_posted, \
	.judge_frame = mlx4_judge_frame, \
	.judge_frames_posted = mlx4_judge_frames_posted
/* clang-format on */

const struct format mlx4_format = {
	/* mlx5's commands and EQEs, as kind.h explains. */
	.create = mlx5_create,
	.destroy = mlx5_destroy,
	.encode_eqe = mlx5_encode_eqe,
	.set_eqe_owner = mlx5_set_eqe_owner,
	.eqe_size = PRM_EQE_SIZE,
	.trace_eqe = mlx5_trace_eqe,
	.ring = mlx4_ring,
	.first_frame_sq = M4_FIRST_FRAME_QUEUE,
	.first_frame_rq = M4_FIRST_FRAME_QUEUE,
	QUEUES,
};

const struct format mlx4_driver_format = {
	.create = m4_create,
	.destroy = m4_destroy,
	.encode_eqe = mlx4_encode_eqe,
	.set_eqe_owner = mlx4_set_eqe_owner,
	.eqe_size = M4_EQE_SIZE,
	.trace_eqe = mlx4_trace_eqe,
	.software_numbers = true,
	.tells_pkey_index = true,
	.decode_special = mlx4_decode_special,
	.steer = m4_steer,
	.sniff = m4_sniff,
	.ring = mlx4_ring_driver,
	QUEUES,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * size.c - computes the sizes of a QP's rings.
 *
 * Each send WQE gets room for the longest WQE that the capacities allow, in whole WQEBBs; the
 * rounding is granted as inline data. max_send_wr counts WQEs of that length, so the program
 * reaches this limit before the ring is full.
 */
#include "providers/mlx5/qp/size.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>

#include "prm/mlx5/wqe.h"
#include "util/bits.h"

#define INLINE_HDR_SIZE sizeof(struct mlx5_wqe_inl_data_seg)

static int cap_check(const char *field, uint64_t value, uint64_t limit, const char *rule)
{
	if (value <= limit)
		return 0;
	verbs_warn("create_qp: %s is %llu, limit %llu: %s", field, (unsigned long long)value,
		   (unsigned long long)limit, rule);
	return EINVAL;
}

/* Returns the longest payload of a send WQE in bytes. Two limits apply: the device's longest WQE,
 * and the length field of the control segment. The field allows less, but only WQEs with data can
 * reach its limit, and their head may be shorter than the longest head. */
static uint32_t send_payload_limit(const struct mlx5_ib_alloc_ucontext_resp *caps,
				   const struct wqe_heads *heads)
{
	return min_of(caps->max_sq_desc_sz - heads->longest,
		      (uint32_t)FLD_MASK(CTRL_DS) * WQE_SEG - heads->data);
}

static int send_wqe_size(const struct mlx5_ib_alloc_ucontext_resp *caps,
			 const struct ibv_qp_cap *cap, const struct wqe_heads *heads,
			 uint32_t *size)
{
	uint64_t with_inline = 0, with_sges;
	uint32_t room;
	int ret;

	ret = cap_check("the head of a request", heads->longest,
			min_of(caps->max_sq_desc_sz, (uint32_t)FLD_MASK(CTRL_DS) * WQE_SEG),
			"the longest send WQE of the device, which max_tso_header exceeds");
	if (ret)
		return ret;
	room = send_payload_limit(caps, heads);
	ret = cap_check("cap.max_send_sge", cap->max_send_sge, room / WQE_SEG,
			"the longest send WQE of the device");
	if (!ret)
		ret = cap_check("cap.max_inline_data", cap->max_inline_data,
				room > INLINE_HDR_SIZE ? room - INLINE_HDR_SIZE : 0,
				"the longest send WQE of the device");
	if (ret)
		return ret;
	if (cap->max_inline_data)
		with_inline = align_up(cap->max_inline_data + INLINE_HDR_SIZE, WQE_SEG);
	with_sges = (uint64_t)cap->max_send_sge * WQE_SEG;
	*size = (uint32_t)align_up(heads->longest + max_of(with_inline, with_sges), WQE_BB);
	return 0;
}

static int size_sq(const struct mlx5_ib_alloc_ucontext_resp *caps, const struct ibv_qp_cap *cap,
		   const struct wqe_heads *heads, struct qp_size *size)
{
	uint32_t wqe;
	uint64_t ring;
	int ret;

	if (!cap->max_send_wr)
		return 0;
	ret = send_wqe_size(caps, cap, heads, &wqe);
	if (ret)
		return ret;
	/* Checking before rounding up is enough, as max_send_wqebb is a power of two. */
	ret = cap_check("cap.max_send_wr", cap->max_send_wr,
			(uint64_t)caps->max_send_wqebb * WQE_BB / wqe,
			"send WQEs of the length that max_send_sge and max_inline_data need");
	if (ret)
		return ret;
	ring = pow2_ceil((uint64_t)cap->max_send_wr * wqe);
	size->sq_max_post = (uint32_t)(ring / wqe);
	size->sq_wqe_bytes = wqe;
	ring = pow2_ceil(size->sq_max_post * align_up(wqe + heads->room, WQE_BB));
	if (ring / WQE_BB >
	    /* Rounding up exceeds the limit. Grant exactly what was asked, because a refusal would
	     * deny what the device can do. */
	    caps->max_send_wqebb) {
		size->sq_max_post = cap->max_send_wr;
		ring = pow2_ceil(size->sq_max_post * align_up(wqe + heads->room, WQE_BB));
	}
	ret = cap_check("cap.max_send_wr", ring / WQE_BB, caps->max_send_wqebb,
			"blocks of the send queue, with what configurations of keys need");
	if (ret)
		return ret;
	size->sq_wqebbs = (uint32_t)(ring / WQE_BB);
	size->sq_max_sge = cap->max_send_sge;
	wqe = min_of(wqe - heads->longest, send_payload_limit(caps, heads));
	size->sq_max_inline = wqe ? wqe - INLINE_HDR_SIZE : 0;
	return 0;
}

static int size_rq(const struct mlx5_ib_alloc_ucontext_resp *caps, const struct ibv_qp_cap *cap,
		   uint32_t head, struct qp_size *size)
{
	uint64_t wqe, ring;
	int ret;

	if (!cap->max_recv_wr)
		return 0;
	ret = cap_check("cap.max_recv_wr", cap->max_recv_wr, caps->max_recv_wr,
			"the longest receive ring of the device");
	if (!ret)
		ret = cap_check("cap.max_recv_sge", cap->max_recv_sge,
				(caps->max_rq_desc_sz - head) / WQE_SEG,
				"the longest receive WQE of the device");
	if (ret)
		return ret;
	wqe = pow2_ceil(head + max_of((uint64_t)cap->max_recv_sge, (uint64_t)1) * WQE_SEG);
	ring = max_of(pow2_ceil(cap->max_recv_wr) * wqe, (uint64_t)WQE_BB);
	size->rq_wqes = (uint32_t)(ring / wqe);
	size->rq_stride_log = log2_floor(wqe);
	size->rq_max_sge = (uint32_t)((wqe - head) / WQE_SEG);
	return 0;
}

int mlx5_qp_size_queues(const struct mlx5_ib_alloc_ucontext_resp *caps,
			const struct ibv_qp_cap *cap, const struct wqe_heads *heads,
			struct qp_size *size)
{
	int ret;

	*size = (struct qp_size){ 0 };
	ret = size_sq(caps, cap, heads, size);
	return ret ? ret : size_rq(caps, cap, heads->recv, size);
}

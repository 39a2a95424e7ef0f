/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attr.c - converts address and QP attributes from the kernel's rdma_cm to verbs.
 *
 * Both structs have the same fields; the kernel's have fixed sizes and another order.
 */
#include "cma.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(((struct ib_uverbs_ah_attr *)0)->grh.dgid) == sizeof(union ibv_gid), "a GID");

void rdmacm_attr_take_ah(struct ibv_ah_attr *to, const struct ib_uverbs_ah_attr *from)
{
	*to = (struct ibv_ah_attr){
		.grh = { .flow_label = from->grh.flow_label,
			 .sgid_index = (uint8_t)from->grh.sgid_index,
			 .hop_limit = from->grh.hop_limit,
			 .traffic_class = from->grh.traffic_class },
		.dlid = from->dlid,
		.sl = from->sl,
		.src_path_bits = from->src_path_bits,
		.static_rate = from->static_rate,
		.is_global = from->is_global,
		.port_num = from->port_num,
	};
	memcpy(&to->grh.dgid, from->grh.dgid, sizeof(to->grh.dgid));
}

static void take_own_path(struct ibv_qp_attr *to, const struct ib_uverbs_qp_attr *from)
{
	rdmacm_attr_take_ah(&to->ah_attr, &from->ah_attr);
	to->port_num = from->port_num;
	to->pkey_index = from->pkey_index;
	to->timeout = from->timeout;
	to->path_mtu = from->path_mtu;
}

static void take_alternate_path(struct ibv_qp_attr *to, const struct ib_uverbs_qp_attr *from)
{
	rdmacm_attr_take_ah(&to->alt_ah_attr, &from->alt_ah_attr);
	to->alt_port_num = from->alt_port_num;
	to->alt_pkey_index = from->alt_pkey_index;
	to->alt_timeout = from->alt_timeout;
	to->path_mig_state = from->path_mig_state;
}

static void take_transport(struct ibv_qp_attr *to, const struct ib_uverbs_qp_attr *from)
{
	to->qkey = from->qkey;
	to->dest_qp_num = from->dest_qp_num;
	to->rq_psn = from->rq_psn;
	to->sq_psn = from->sq_psn;
	to->qp_access_flags = from->qp_access_flags;
	to->max_rd_atomic = from->max_rd_atomic;
	to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	to->min_rnr_timer = from->min_rnr_timer;
	to->retry_cnt = from->retry_cnt;
	to->rnr_retry = from->rnr_retry;
}

void rdmacm_attr_take_qp(struct ibv_qp_attr *to, const struct ib_uverbs_qp_attr *from)
{
	to->cur_qp_state = from->cur_qp_state;
	to->sq_draining = from->sq_draining;
	to->en_sqd_async_notify = from->en_sqd_async_notify;
	to->cap = (struct ibv_qp_cap){ .max_send_wr = from->max_send_wr,
				       .max_recv_wr = from->max_recv_wr,
				       .max_send_sge = from->max_send_sge,
				       .max_recv_sge = from->max_recv_sge,
				       .max_inline_data = from->max_inline_data };
	take_transport(to, from);
	take_own_path(to, from);
	take_alternate_path(to, from);
}

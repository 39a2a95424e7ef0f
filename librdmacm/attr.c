/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attr.c - converts address and QP attributes from the kernel's rdma_cm to verbs.
 *
 * Addresses have the same layout in both. The attributes of a QP have the same fields in three runs
 * of the same order and sizes (states and numbers, sizes of queues, the rest), which are copied
 * whole. Padding is not written. The asserts check the place of each field.
 */
#include "cma.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define AH_FIELD(field)                                                  \
	static_assert(offsetof(struct ibv_ah_attr, field) ==             \
			      offsetof(struct ib_uverbs_ah_attr, field), \
		      "an address has the same layout in both")

AH_FIELD(grh.dgid);
AH_FIELD(grh.flow_label);
AH_FIELD(grh.sgid_index);
AH_FIELD(grh.hop_limit);
AH_FIELD(grh.traffic_class);
AH_FIELD(dlid);
AH_FIELD(sl);
AH_FIELD(src_path_bits);
AH_FIELD(static_rate);
AH_FIELD(is_global);
AH_FIELD(port_num);

/* Ends of the two runs of fields that both structs lay out alike, without padding. */
enum {
	GRH_END = offsetof(struct ibv_ah_attr, grh.traffic_class) + 1,
	ADDRESS_END = offsetof(struct ibv_ah_attr, port_num) + 1,
};

void rdmacm_attr_take_ah(struct ibv_ah_attr *to, const struct ib_uverbs_ah_attr *from)
{
	memcpy(to, from, GRH_END);
	memcpy(&to->dlid, &from->dlid, ADDRESS_END - offsetof(struct ibv_ah_attr, dlid));
}

/* Offsets of the runs of fields that both structs lay out alike, and the end of the last one. */
enum {
	STATES = offsetof(struct ibv_qp_attr, cur_qp_state),
	STATES_END = offsetof(struct ibv_qp_attr, cap),
	REST = offsetof(struct ibv_qp_attr, pkey_index),
	REST_END = offsetof(struct ibv_qp_attr, alt_timeout) + 1,
	KERNEL_STATES = offsetof(struct ib_uverbs_qp_attr, cur_qp_state),
	KERNEL_SIZES = offsetof(struct ib_uverbs_qp_attr, max_send_wr),
	KERNEL_REST = offsetof(struct ib_uverbs_qp_attr, pkey_index),
};

#define FIELD(to, to_run, from, from_run)                                            \
	static_assert(offsetof(struct ibv_qp_attr, to) - (to_run) ==                 \
			      offsetof(struct ib_uverbs_qp_attr, from) - (from_run), \
		      "a run has the same order and sizes in both")
#define STATE_FIELD(field) FIELD(field, STATES, field, KERNEL_STATES)
#define SIZE_FIELD(field)  FIELD(cap.field, offsetof(struct ibv_qp_attr, cap), field, KERNEL_SIZES)
#define REST_FIELD(field)  FIELD(field, REST, field, KERNEL_REST)

STATE_FIELD(cur_qp_state);
STATE_FIELD(path_mtu);
STATE_FIELD(path_mig_state);
STATE_FIELD(qkey);
STATE_FIELD(rq_psn);
STATE_FIELD(sq_psn);
STATE_FIELD(dest_qp_num);
STATE_FIELD(qp_access_flags);
SIZE_FIELD(max_send_wr);
SIZE_FIELD(max_recv_wr);
SIZE_FIELD(max_send_sge);
SIZE_FIELD(max_recv_sge);
SIZE_FIELD(max_inline_data);
REST_FIELD(pkey_index);
REST_FIELD(alt_pkey_index);
REST_FIELD(en_sqd_async_notify);
REST_FIELD(sq_draining);
REST_FIELD(max_rd_atomic);
REST_FIELD(max_dest_rd_atomic);
REST_FIELD(min_rnr_timer);
REST_FIELD(port_num);
REST_FIELD(timeout);
REST_FIELD(retry_cnt);
REST_FIELD(rnr_retry);
REST_FIELD(alt_port_num);
REST_FIELD(alt_timeout);
static_assert(KERNEL_STATES + STATES_END - STATES == offsetof(struct ib_uverbs_qp_attr, ah_attr) &&
		      KERNEL_SIZES + sizeof(struct ibv_qp_cap) == KERNEL_REST,
	      "a run ends with its last field");

void rdmacm_attr_take_qp(struct ibv_qp_attr *to, const struct ib_uverbs_qp_attr *from)
{
	memcpy((char *)to + STATES, (const char *)from + KERNEL_STATES, STATES_END - STATES);
	memcpy(&to->cap, (const char *)from + KERNEL_SIZES, sizeof(to->cap));
	memcpy((char *)to + REST, (const char *)from + KERNEL_REST, REST_END - REST);
	rdmacm_attr_take_ah(&to->ah_attr, &from->ah_attr);
	rdmacm_attr_take_ah(&to->alt_ah_attr, &from->alt_ah_attr);
}

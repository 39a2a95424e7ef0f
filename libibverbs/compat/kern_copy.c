/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_copy.c - converts the kernel's address, QP and path records to verbs structs and back, for
 * librdmacm.
 *
 * Fields that the source lacks (qp_state of ibv_qp_attr) are left unchanged, since callers rely on
 * that.
 */
#include "kern_copy.h"

#include "libibverbs/private.h"

#include <assert.h>
#include <string.h>

#define COPY(field) (dst->field = src->field)
#define COPY_GID(to, from)                                                      \
	do {                                                                    \
		static_assert(sizeof(to) == 16 && sizeof(from) == 16, "a GID"); \
		memcpy(to, from, 16);                                           \
	} while (0)

VERBS_EXPORT void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src)
{
	COPY(port_num), COPY(is_global);
	COPY(dlid), COPY(sl), COPY(src_path_bits), COPY(static_rate);
	COPY_GID(dst->grh.dgid.raw, src->grh.dgid);
	COPY(grh.sgid_index), COPY(grh.hop_limit), COPY(grh.traffic_class), COPY(grh.flow_label);
}

static void copy_cap(struct ibv_qp_cap *dst, const struct ib_uverbs_qp_attr *src)
{
	COPY(max_send_wr), COPY(max_send_sge), COPY(max_inline_data);
	COPY(max_recv_wr), COPY(max_recv_sge);
}

VERBS_EXPORT void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src)
{
	COPY(cur_qp_state), COPY(sq_draining), COPY(en_sqd_async_notify);
	COPY(port_num), COPY(pkey_index), COPY(qkey), COPY(qp_access_flags);
	COPY(dest_qp_num), COPY(path_mtu), COPY(rq_psn), COPY(sq_psn);
	COPY(max_rd_atomic), COPY(max_dest_rd_atomic);
	COPY(timeout), COPY(retry_cnt), COPY(rnr_retry), COPY(min_rnr_timer);
	COPY(path_mig_state), COPY(alt_port_num), COPY(alt_pkey_index), COPY(alt_timeout);
	copy_cap(&dst->cap, src);
	ibv_copy_ah_attr_from_kern(&dst->ah_attr, &src->ah_attr);
	ibv_copy_ah_attr_from_kern(&dst->alt_ah_attr, &src->alt_ah_attr);
}

/* Both path records have the same fields, but those wider than a byte differ in type, so each is
 * assigned by its name. */
#define COPY_PATH_FIELDS()                                                                       \
	do {                                                                                     \
		COPY(dlid), COPY(slid), COPY(sl), COPY(pkey), COPY(numb_path), COPY(preference); \
		COPY(hop_limit), COPY(traffic_class), COPY(flow_label);                          \
		COPY(raw_traffic), COPY(reversible);                                             \
		COPY(mtu), COPY(rate), COPY(packet_life_time);                                   \
		COPY(mtu_selector), COPY(rate_selector), COPY(packet_life_time_selector);        \
	} while (0)

VERBS_EXPORT void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst,
					      struct ib_user_path_rec *src)
{
	COPY_GID(dst->dgid.raw, src->dgid);
	COPY_GID(dst->sgid.raw, src->sgid);
	COPY_PATH_FIELDS();
}

VERBS_EXPORT void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst,
					    struct ibv_sa_path_rec *src)
{
	COPY_GID(dst->dgid, src->dgid.raw);
	COPY_GID(dst->sgid, src->sgid.raw);
	COPY_PATH_FIELDS();
}

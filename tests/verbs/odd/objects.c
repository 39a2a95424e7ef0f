/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - valid objects for the arguments of calls, each created at its first use. If the
 * adapter or the library does not have the object, the line is left out: odd_without().
 *
 * Covers: libibverbs/verbs_qp.c
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "odd.h"

enum { BUFFER = 65536, DEPTH = 16 };

struct ibv_device *odd_ibv_device;

/* ONCE(name) { return EXPRESSION; }: a function odd_NAME() that creates the object once. */
#define ONCE(name)                            \
	static void *make_##name(void);       \
	void *odd_##name(void)                \
	{                                     \
		static void *made;            \
                                              \
		if (!made)                    \
			made = make_##name(); \
		if (!made)                    \
			odd_without(#name);   \
		return made;                  \
	}                                     \
	static void *make_##name(void)

void *odd_open_device(void)
{
	return ibv_open_device(odd_ibv_device);
}

ONCE(context)
{
	return odd_open_device();
}

ONCE(other_context)
{
	return odd_open_device();
}

ONCE(pd)
{
	return ibv_alloc_pd(odd_context());
}

ONCE(other_pd)
{
	return ibv_alloc_pd(odd_other_context());
}

ONCE(buffer)
{
	void *buffer =
		mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return buffer == MAP_FAILED ? NULL : buffer;
}

ONCE(mr)
{
	return ibv_reg_mr(odd_pd(), odd_buffer(), BUFFER,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				  IBV_ACCESS_MW_BIND);
}

ONCE(mw)
{
	return ibv_alloc_mw(odd_pd(), IBV_MW_TYPE_1);
}

ONCE(dm)
{
	struct ibv_alloc_dm_attr attr = { .length = 4096 };

	return ibv_alloc_dm(odd_context(), &attr);
}

ONCE(td)
{
	struct ibv_td_init_attr attr = { 0 };

	return ibv_alloc_td(odd_context(), &attr);
}

ONCE(xrcd)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = -1,
					   .oflags = 0100 };

	return ibv_open_xrcd(odd_context(), &attr);
}

ONCE(channel)
{
	return ibv_create_comp_channel(odd_context());
}

ONCE(cq)
{
	return ibv_create_cq(odd_context(), 64, NULL, odd_channel(), 0);
}

ONCE(cq_ex)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64, .wc_flags = IBV_CREATE_CQ_SUP_WC_FLAGS };

	return ibv_create_cq_ex(odd_context(), &attr);
}

ONCE(other_cq)
{
	return ibv_create_cq(odd_other_context(), 64, NULL, NULL, 0);
}

ONCE(srq)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };

	return ibv_create_srq(odd_pd(), &attr);
}

ONCE(wq)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = DEPTH, .max_sge = 1, .pd = odd_pd(), .cq = odd_cq()
	};

	return ibv_create_wq(odd_context(), &attr);
}

ONCE(table)
{
	struct ibv_wq *wq = odd_wq();
	struct ibv_rwq_ind_table_init_attr attr = { .ind_tbl = &wq };

	return ibv_create_rwq_ind_table(odd_context(), &attr);
}

ONCE(counters)
{
	struct ibv_counters_init_attr attr = { 0 };

	return ibv_create_counters(odd_context(), &attr);
}

static struct ibv_qp *qp_of(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = { .send_cq = odd_cq(),
					 .recv_cq = odd_cq(),
					 .qp_type = type,
					 .cap = { DEPTH, DEPTH, 2, 2, 64 } };

	return ibv_create_qp(odd_pd(), &attr);
}

static struct ibv_port_attr port;

static const struct ibv_port_attr *port_attr(void)
{
	if (ibv_query_port(odd_context(), 1, &port))
		odd_without("port");
	return &port;
}

struct ibv_ah_attr odd_ah_attr(void)
{
	struct ibv_ah_attr attr = { .dlid = port_attr()->lid, .port_num = 1 };

	attr.is_global = 1;
	attr.grh.hop_limit = 4;
	ibv_query_gid(odd_context(), 1, 0, &attr.grh.dgid);
	return attr;
}

static struct ibv_qp *to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr *attr = odd_attr_init();
	int mask = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX;

	mask |= qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	if (qp->qp_type == IBV_QPT_RAW_PACKET)
		mask = IBV_QP_STATE | IBV_QP_PORT;
	return ibv_modify_qp(qp, attr, mask) ? NULL : qp;
}

static struct ibv_qp *to_rtr(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = qp->qp_num,
				    .max_dest_rd_atomic = 1,
				    .min_rnr_timer = 12,
				    .ah_attr = odd_ah_attr() };
	int mask = IBV_QP_STATE;

	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask) ? NULL : qp;
}

static struct ibv_qp *to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
				    .timeout = 12,
				    .retry_cnt = 3,
				    .rnr_retry = 3,
				    .max_rd_atomic = 1 };
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_RAW_PACKET)
		mask |= IBV_QP_SQ_PSN;
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask) ? NULL : qp;
}

static struct ibv_qp *connected(struct ibv_qp *qp)
{
	return qp && to_init(qp) && to_rtr(qp) ? to_rts(qp) : NULL;
}

void *odd_attr_init(void)
{
	static struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
					   .port_num = 1,
					   .qkey = 0x1111,
					   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	return &attr;
}

ONCE(qp_rc)
{
	return qp_of(IBV_QPT_RC);
}

ONCE(qp_init)
{
	struct ibv_qp *qp = qp_of(IBV_QPT_RC);

	return qp ? to_init(qp) : NULL;
}

ONCE(qp_rts)
{
	return connected(qp_of(IBV_QPT_RC));
}

ONCE(qp_ud)
{
	return connected(qp_of(IBV_QPT_UD));
}

ONCE(qp_raw)
{
	return connected(qp_of(IBV_QPT_RAW_PACKET));
}

ONCE(qp_ex)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = odd_cq(),
		.recv_cq = odd_cq(),
		.qp_type = IBV_QPT_RC,
		.cap = { DEPTH, DEPTH, 2, 2, 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = odd_pd(),
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |
				  IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV,
	};
	struct ibv_qp *qp = connected(ibv_create_qp_ex(odd_context(), &attr));

	return qp ? ibv_qp_to_qp_ex(qp) : NULL;
}

ONCE(ah)
{
	struct ibv_ah_attr attr = odd_ah_attr();

	return ibv_create_ah(odd_pd(), &attr);
}

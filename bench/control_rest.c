/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_rest.c - instructions of the calls of libibverbs that control.c leaves out: names and
 * rates, what a program asks a device and a QP for, memory regions of other kinds, objects of
 * another context, multicast.
 */
#include <errno.h>
#include <infiniband/verbs.h>

#include "bench/row.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

/* Objects that the rows use; OBJECT are those of the current row. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp, *datagram;
	struct ibv_mr *mr;
	void *object[EACH];
	char bytes[4096];
};

static bool object_is_made(struct world *w, int i, void *object)
{
	w->object[i] = object;
	return step_done(object ? 0 : errno);
}

/* ---- names and numbers */

#define ASK(name, condition)                     \
	static bool name(struct world *w, int i) \
	{                                        \
		(void)w;                         \
		(void)i;                         \
		MUST(condition);                 \
		return true;                     \
	}

ASK(event_name, ibv_event_type_str(IBV_EVENT_CQ_ERR))
ASK(node_name, ibv_node_type_str(IBV_NODE_CA))
ASK(state_name, ibv_port_state_str(IBV_PORT_ACTIVE))
ASK(status_name, ibv_wc_status_str(IBV_WC_SUCCESS))
ASK(rate_mbps, ibv_rate_to_mbps(IBV_RATE_100_GBPS) > 0)
ASK(mbps_rate, mbps_to_ibv_rate(10000) == IBV_RATE_10_GBPS)
ASK(rate_mult, ibv_rate_to_mult(IBV_RATE_10_GBPS) == 4)
ASK(mult_rate, mult_to_ibv_rate(4) == IBV_RATE_10_GBPS)
ASK(device_guid, ibv_get_device_guid(w->rig.ctx->device))
ASK(device_index, ibv_get_device_index(w->rig.ctx->device) >= -1)
ASK(device_name, ibv_get_device_name(w->rig.ctx->device))
ASK(fork_state, ibv_is_fork_initialized() >= 0)
ASK(pkey_index, ibv_get_pkey_index(w->rig.ctx, RIG_PORT, 0xffff) == 0)

static bool data_order(struct world *w, int i)
{
	(void)i;
	MUST(ibv_query_qp_data_in_order(w->qp, IBV_WR_RDMA_WRITE, 0) >= 0);
	return true;
}

static bool ece_query(struct world *w, int i)
{
	struct ibv_ece ece;

	(void)i;
	return step_done(ibv_query_ece(w->qp, &ece));
}

static bool ece_set(struct world *w, int i)
{
	struct ibv_ece ece = { 0 };

	(void)i;
	return step_done(ibv_set_ece(w->qp, &ece));
}

static bool sender_address(struct world *w, int i)
{
	struct ibv_wc wc = { .slid = w->rig.port.lid };
	struct ibv_grh grh = { 0 };
	struct ibv_ah_attr attr;

	(void)i;
	return step_done(ibv_init_ah_from_wc(w->rig.ctx, RIG_PORT, &wc, &grh, &attr) ? errno : 0);
}

static bool sender_ah_make(struct world *w, int i)
{
	struct ibv_wc wc = { .slid = w->rig.port.lid };
	struct ibv_grh grh = { 0 };

	return object_is_made(w, i, ibv_create_ah_from_wc(w->pd, &wc, &grh, RIG_PORT));
}

static bool ah_end(struct world *w, int i)
{
	return step_done(ibv_destroy_ah(w->object[i]));
}

/* ---- memory */

static bool iova_make(struct world *w, int i)
{
	return object_is_made(w, i,
			      ibv_reg_mr_iova(w->pd, w->bytes, sizeof(w->bytes),
					      (uintptr_t)w->bytes, IBV_ACCESS_LOCAL_WRITE));
}

static bool null_make(struct world *w, int i)
{
	return object_is_made(w, i, ibv_alloc_null_mr(w->pd));
}

static bool mr_end(struct world *w, int i)
{
	return step_done(ibv_dereg_mr(w->object[i]));
}

static bool mr_import(struct world *w, int i)
{
	return object_is_made(w, i, ibv_import_mr(w->pd, w->mr->handle));
}

static bool mr_unimport(struct world *w, int i)
{
	ibv_unimport_mr(w->object[i]);
	return true;
}

static bool pd_import(struct world *w, int i)
{
	return object_is_made(w, i, ibv_import_pd(w->rig.ctx, w->pd->handle));
}

static bool pd_unimport(struct world *w, int i)
{
	ibv_unimport_pd(w->object[i]);
	return true;
}

/* ---- multicast */

static const union ibv_gid group = { .raw = { 0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [15] = 1 } };

static bool group_join(struct world *w, int i)
{
	union ibv_gid gid = group;

	gid.raw[14] = (uint8_t)i;
	return step_done(ibv_attach_mcast(w->datagram, &gid, 0xc001));
}

static bool group_leave(struct world *w, int i)
{
	union ibv_gid gid = group;

	gid.raw[14] = (uint8_t)i;
	return step_done(ibv_detach_mcast(w->datagram, &gid, 0xc001));
}

static const struct row rows[] = {
	{ "ibv_event_type_str", NULL, event_name, NULL },
	{ "ibv_node_type_str", NULL, node_name, NULL },
	{ "ibv_port_state_str", NULL, state_name, NULL },
	{ "ibv_wc_status_str", NULL, status_name, NULL },
	{ "ibv_rate_to_mbps", NULL, rate_mbps, NULL },
	{ "mbps_to_ibv_rate", NULL, mbps_rate, NULL },
	{ "ibv_rate_to_mult", NULL, rate_mult, NULL },
	{ "mult_to_ibv_rate", NULL, mult_rate, NULL },
	{ "get_device_guid", NULL, device_guid, NULL },
	{ "get_device_index", NULL, device_index, NULL },
	{ "get_device_name", NULL, device_name, NULL },
	{ "is_fork_initialized", NULL, fork_state, NULL },
	{ "get_pkey_index", NULL, pkey_index, NULL },
	{ "query_qp_data_in_order", NULL, data_order, NULL },
	{ "query_ece", NULL, ece_query, NULL },
	{ "set_ece", NULL, ece_set, NULL },
	{ "init_ah_from_wc", NULL, sender_address, NULL },
	{ "create_ah_from_wc", NULL, sender_ah_make, ah_end },
	{ "reg_mr_iova", NULL, iova_make, mr_end },
	{ "alloc_null_mr", NULL, null_make, mr_end },
	{ "dereg_mr of a null MR", null_make, mr_end, NULL },
	{ "import_mr", NULL, mr_import, mr_unimport },
	{ "unimport_mr", mr_import, mr_unimport, NULL },
	{ "import_pd", NULL, pd_import, pd_unimport },
	{ "unimport_pd", pd_import, pd_unimport, NULL },
	{ "attach_mcast", NULL, group_join, group_leave },
	{ "detach_mcast", group_join, group_leave, NULL },
};

static void datagram_make(struct world *w)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = w->cq, .recv_cq = w->cq, .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_UD
	};
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	MUST(w->datagram = ibv_create_qp(w->pd, &attr));
	MUST(!ibv_modify_qp(w->datagram, &to,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
}

static void world_make(struct world *w)
{
	const struct rig_conf conf = rig_conf_default();

	rig_open(&w->rig);
	MUST(w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = ibv_create_cq(w->rig.ctx, 63, NULL, NULL, 0));
	MUST(w->qp = rig_qp_create(w->pd, &conf, w->cq));
	MUST(w->mr = ibv_reg_mr(w->pd, w->bytes, sizeof(w->bytes), IBV_ACCESS_LOCAL_WRITE));
	datagram_make(w);
}

static void world_end(struct world *w)
{
	MUST(!ibv_destroy_qp(w->datagram));
	MUST(!ibv_dereg_mr(w->mr));
	MUST(!ibv_destroy_qp(w->qp));
	MUST(!ibv_destroy_cq(w->cq));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

int main(void)
{
	static struct world w;

	return rows_main(&w, rows, ARRAY_SIZE(rows), world_make, world_end);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_roce.c - instructions of the calls of libibverbs that need Ethernet, or are rare there:
 * counters, indirection tables, rates, a QP or a device that another process has opened.
 *
 * Its headers are ours, as the distribution's lack some of the calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <unistd.h>

#include "bench/row.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

/* Of no header: ibv_devinfo of the distribution calls it. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index,
		       unsigned int *type);

/* Objects that the rows use; OBJECT are those of the current row. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_wq *wq;
	struct ibv_qp *qp, *frames, *xrc;
	struct ibv_xrcd *xrcd;
	struct ibv_counters *counters; /* of a flow */
	void *object[EACH];
};

static bool object_is_made(struct world *w, int i, void *object)
{
	w->object[i] = object;
	return step_done(object ? 0 : errno);
}

/* ---- counters */

static bool counters_make(struct world *w, int i)
{
	struct ibv_counters_init_attr attr = { 0 };

	return object_is_made(w, i, ibv_create_counters(w->rig.ctx, &attr));
}

static bool counters_end(struct world *w, int i)
{
	return step_done(ibv_destroy_counters(w->object[i]));
}

static bool counters_attach(struct world *w, int i)
{
	struct ibv_counter_attach_attr attr = { .counter_desc = IBV_COUNTER_PACKETS };

	return step_done(ibv_attach_counters_point_flow(w->object[i], &attr, NULL));
}

static bool counters_read(struct world *w, int i)
{
	uint64_t values[2];

	(void)i;
	return step_done(ibv_read_counters(w->counters, values, ARRAY_SIZE(values), 0));
}

/* ---- WQs, QPs, devices */

static bool table_make(struct world *w, int i)
{
	struct ibv_rwq_ind_table_init_attr attr = { .ind_tbl = &w->wq };

	return object_is_made(w, i, ibv_create_rwq_ind_table(w->rig.ctx, &attr));
}

static bool table_end(struct world *w, int i)
{
	return step_done(ibv_destroy_rwq_ind_table(w->object[i]));
}

static bool rate_set(struct world *w, int i)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 1000 };

	(void)i;
	return step_done(ibv_modify_qp_rate_limit(w->frames, &attr));
}

static bool qp_open(struct world *w, int i)
{
	struct ibv_qp_open_attr attr = { .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						      IBV_QP_OPEN_ATTR_TYPE,
					 .qp_num = w->xrc->qp_num,
					 .xrcd = w->xrcd,
					 .qp_type = IBV_QPT_XRC_RECV };

	return object_is_made(w, i, ibv_open_qp(w->rig.ctx, &attr));
}

static bool device_import(struct world *w, int i)
{
	const int fd = dup(w->rig.ctx->cmd_fd);

	MUST(fd >= 0);
	return object_is_made(w, i, ibv_import_device(fd));
}

static bool device_end(struct world *w, int i)
{
	return step_done(ibv_close_device(w->object[i]) ? errno : 0);
}

static bool data_order(struct world *w, int i)
{
	(void)i;
	MUST(ibv_query_qp_data_in_order(w->qp, IBV_WR_RDMA_WRITE, 0) == 1);
	return true;
}

/* ---- questions about a port */

static bool speed_query(struct world *w, int i)
{
	uint64_t speed;

	(void)i;
	return step_done(ibv_query_port_speed(w->rig.ctx, RIG_PORT, &speed));
}

static bool gid_type_query(struct world *w, int i)
{
	unsigned int type;

	(void)i;
	return step_done(ibv_query_gid_type(w->rig.ctx, RIG_PORT, 0, &type) ? errno : 0);
}

static const struct row rows[] = {
	{ "create_counters", NULL, counters_make, counters_end },
	{ "destroy_counters", counters_make, counters_end, NULL },
	{ "attach_counters_point_flow", counters_make, counters_attach, counters_end },
	{ "read_counters", NULL, counters_read, NULL },
	{ "create_rwq_ind_table", NULL, table_make, table_end },
	{ "destroy_rwq_ind_table", table_make, table_end, NULL },
	{ "modify_qp_rate_limit", NULL, rate_set, NULL },
	{ "import_device", NULL, device_import, device_end },
	{ "close_device of an imported one", device_import, device_end, NULL },
	{ "query_qp_data_in_order, RTS", NULL, data_order, NULL },
	{ "query_port_speed", NULL, speed_query, NULL },
	{ "query_gid_type", NULL, gid_type_query, NULL },
	{ "open_qp", NULL, qp_open, NULL },
};

/* Brings a raw packet QP to RTS, as a rate needs that state. */
static void frames_make(struct world *w)
{
	struct ibv_qp_init_attr attr = { .send_cq = w->cq,
					 .recv_cq = w->cq,
					 .cap = { 8, 8, 1, 1, 0 },
					 .qp_type = IBV_QPT_RAW_PACKET };
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	MUST(w->frames = ibv_create_qp(w->pd, &attr));
	MUST(!ibv_modify_qp(w->frames, &to, IBV_QP_STATE | IBV_QP_PORT));
	for (to.qp_state = IBV_QPS_RTR; to.qp_state <= IBV_QPS_RTS; to.qp_state++)
		MUST(!ibv_modify_qp(w->frames, &to, IBV_QP_STATE));
}

static void flow_make(struct world *w)
{
	struct ibv_counter_attach_attr attach = { .counter_desc = IBV_COUNTER_PACKETS };
	struct ibv_flow_spec_eth eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(eth) };
	struct ibv_flow_spec_counter_action count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
						      .size = sizeof(count) };
	struct {
		struct ibv_flow_attr attr;
		uint8_t specs[sizeof(eth) + sizeof(count)];
	} rule = { .attr = { .size = sizeof(rule), .num_of_specs = 2, .port = RIG_PORT } };

	MUST(counters_make(w, 0));
	w->counters = count.counters = w->object[0];
	MUST(!ibv_attach_counters_point_flow(w->counters, &attach, NULL));
	memcpy(rule.specs, &eth, sizeof(eth));
	memcpy(rule.specs + sizeof(eth), &count, sizeof(count));
	MUST(ibv_create_flow(w->frames, &rule.attr));
}

static void xrc_make(struct world *w)
{
	struct ibv_xrcd_init_attr domain = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							  IBV_XRCD_INIT_ATTR_OFLAGS,
					     .fd = -1,
					     .oflags = O_CREAT };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD };

	MUST(attr.xrcd = w->xrcd = ibv_open_xrcd(w->rig.ctx, &domain));
	MUST(w->xrc = ibv_create_qp_ex(w->rig.ctx, &attr));
}

static void world_make(struct world *w)
{
	const struct rig_conf conf = rig_conf_default();
	struct ibv_wq_init_attr of_wq = { .wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1 };

	rig_open(&w->rig);
	MUST(w->pd = of_wq.pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->cq = of_wq.cq = ibv_create_cq(w->rig.ctx, 63, NULL, NULL, 0));
	MUST(w->wq = ibv_create_wq(w->rig.ctx, &of_wq));
	MUST(w->qp = rig_qp_create(w->pd, &conf, w->cq));
	rig_qp_to(&w->rig, &conf, w->qp, w->qp->qp_num, IBV_QPS_RTS);
	frames_make(w);
	flow_make(w);
	xrc_make(w);
}

/* Nothing is destroyed, as release 65.0 crashes when a QP is that ibv_open_qp() has opened. */
static void world_end(struct world *w)
{
	(void)w;
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	static struct world w;

	return rows_main(&w, rows, ARRAY_SIZE(rows), world_make, world_end);
}

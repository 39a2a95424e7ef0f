/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * orders.c - the family "orders": calls made twice or too early, and parents destroyed before their
 * children. It does not use memory that a library has freed, as the result would depend on the
 * heap.
 *
 * Covers: providers/common/pd.c, libibverbs/context.c
 */
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "odd.h"

#define E(call) ODD_SAY(" ", ERRNO, call)
#define M(call) ODD_SAY(" ", MINUS_ONE, call)
#define O(call) ODD_SAY(" ", OBJECT, (uintptr_t)(call))

static void pd_before_mr(void)
{
	struct ibv_mr *mr = odd_mr();

	E(ibv_dealloc_pd(odd_pd()));
	E(ibv_dereg_mr(mr));
	E(ibv_dealloc_pd(odd_pd()));
}

static void pd_before_qp(void)
{
	struct ibv_qp *qp = odd_qp_rc();

	E(ibv_dealloc_pd(odd_pd()));
	E(ibv_destroy_qp(qp));
	E(ibv_dealloc_pd(odd_pd()));
}

static void pd_before_ah(void)
{
	struct ibv_ah *ah = odd_ah();

	E(ibv_dealloc_pd(odd_pd()));
	E(ibv_destroy_ah(ah));
	E(ibv_dealloc_pd(odd_pd()));
}

static void pd_before_srq(void)
{
	struct ibv_srq *srq = odd_srq();

	E(ibv_dealloc_pd(odd_pd()));
	E(ibv_destroy_srq(srq));
	E(ibv_dealloc_pd(odd_pd()));
}

static void pd_before_mw(void)
{
	struct ibv_mw *mw = odd_mw();

	E(ibv_dealloc_pd(odd_pd()));
	E(ibv_dealloc_mw(mw));
	E(ibv_dealloc_pd(odd_pd()));
}

static void cq_before_qp(void)
{
	struct ibv_qp *qp = odd_qp_rts();

	E(ibv_destroy_cq(odd_cq()));
	E(ibv_destroy_qp(qp));
	E(ibv_destroy_cq(odd_cq()));
}

static void channel_before_cq(void)
{
	struct ibv_cq *cq = odd_cq();

	E(ibv_destroy_comp_channel(odd_channel()));
	E(ibv_destroy_cq(cq));
	E(ibv_destroy_comp_channel(odd_channel()));
}

static void srq_before_qp(void)
{
	struct ibv_qp_init_attr attr = { .send_cq = odd_cq(),
					 .recv_cq = odd_cq(),
					 .srq = odd_srq(),
					 .qp_type = IBV_QPT_RC,
					 .cap = { 4, 0, 1, 0, 0 } };
	struct ibv_qp *qp = ibv_create_qp(odd_pd(), &attr);

	E(ibv_destroy_srq(odd_srq()));
	E(ibv_destroy_qp(qp));
	E(ibv_destroy_srq(odd_srq()));
}

static void wq_before_table(void)
{
	struct ibv_rwq_ind_table *table = odd_table();

	E(ibv_destroy_wq(odd_wq()));
	E(ibv_destroy_rwq_ind_table(table));
	E(ibv_destroy_wq(odd_wq()));
}

static void td_before_parent_domain(void)
{
	struct ibv_parent_domain_init_attr attr = { .pd = odd_pd(), .td = odd_td() };
	struct ibv_pd *parent = ibv_alloc_parent_domain(odd_context(), &attr);

	O(parent);
	if (!parent)
		return;
	E(ibv_dealloc_td(attr.td));
	E(ibv_dealloc_pd(attr.pd));
	E(ibv_dealloc_pd(parent));
	E(ibv_dealloc_td(attr.td));
	E(ibv_dealloc_pd(attr.pd));
}

static void parent_domain_of_itself(void)
{
	struct ibv_parent_domain_init_attr attr = { .pd = odd_pd() };
	struct ibv_pd *parent = ibv_alloc_parent_domain(odd_context(), &attr);

	attr.pd = parent;
	O(parent ? ibv_alloc_parent_domain(odd_context(), &attr) : NULL);
}

static void dm_before_mr(void)
{
	struct ibv_mr *mr = ibv_reg_dm_mr(odd_pd(), odd_dm(), 0, 64,
					  IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);

	O(mr);
	E(ibv_free_dm(odd_dm()));
	if (mr)
		E(ibv_dereg_mr(mr));
	E(ibv_free_dm(odd_dm()));
}

static void context_before_all(void)
{
	odd_qp_rts();
	odd_mw();
	M(ibv_close_device(odd_context()));
}

static void mcast_twice(void)
{
	const union ibv_gid gid = { .raw = { 0xff, 0x12, [15] = 9 } };
	struct ibv_qp *qp = odd_qp_ud();

	E(ibv_attach_mcast(qp, &gid, 0xc001));
	E(ibv_attach_mcast(qp, &gid, 0xc001));
	E(ibv_detach_mcast(qp, &gid, 0xc001));
	E(ibv_detach_mcast(qp, &gid, 0xc001));
}

static void init_twice(void)
{
	struct ibv_qp *qp = odd_qp_init();
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	E(ibv_modify_qp(qp, odd_attr_init(), mask));
	E(ibv_modify_qp(qp, odd_attr_init(), mask));
}

static void notify_twice(void)
{
	E(ibv_req_notify_cq(odd_cq(), 0));
	E(ibv_req_notify_cq(odd_cq(), 0));
	E(ibv_req_notify_cq(odd_cq(), 1));
}

static void bind_twice(void)
{
	struct ibv_mw_bind bind = { .bind_info = { odd_mr(), (uintptr_t)odd_buffer(), 64,
						   IBV_ACCESS_REMOTE_READ } };

	E(ibv_bind_mw(odd_qp_rts(), odd_mw(), &bind));
	E(ibv_bind_mw(odd_qp_rts(), odd_mw(), &bind));
	E(ibv_dealloc_mw(odd_mw()));
}

static void resize_twice(void)
{
	E(ibv_resize_cq(odd_cq(), 1000));
	E(ibv_resize_cq(odd_cq(), 1));
	E(ibv_resize_cq(odd_cq(), 1000));
}

static void poll_without_start(void)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *cq = odd_cq_ex();

	ODD_SAY(" ", POLLED, ibv_start_poll(cq, &attr));
	ODD_SAY(" ", POLLED, ibv_start_poll(cq, &attr));
}

static int modify_to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static void every_state(struct ibv_qp *(*make)(void))
{
	for (int state = IBV_QPS_RESET; state <= IBV_QPS_UNKNOWN + 1; state++)
		E(modify_to(make(), (enum ibv_qp_state)state));
}

static struct ibv_qp *fixed_rc(void)
{
	return odd_qp_rc();
}

static struct ibv_qp *fixed_rts(void)
{
	return odd_qp_rts();
}

static void states_from_reset(void)
{
	every_state(fixed_rc);
}

static void states_from_rts(void)
{
	every_state(fixed_rts);
}

static void states_of_ud(void)
{
	struct ibv_qp *qp = odd_qp_ud();

	for (int state = IBV_QPS_UNKNOWN; state >= IBV_QPS_RESET; state--)
		E(modify_to(qp, (enum ibv_qp_state)state));
}

static void post_in_error(void)
{
	struct ibv_sge sge = { (uintptr_t)odd_buffer(), 8, ((struct ibv_mr *)odd_mr())->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_qp *qp = odd_qp_rts();

	E(modify_to(qp, IBV_QPS_ERR));
	E(ibv_post_send(qp, &wr, &bad));
	E(ibv_post_recv(qp, &recv, &bad_recv));
	E(modify_to(qp, IBV_QPS_RESET));
	E(ibv_post_send(qp, &wr, &bad));
	E(ibv_post_recv(qp, &recv, &bad_recv));
}

static void post_until_full(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr recv = { 0 }, *bad_recv;
	int ret = 0, posted = 0;

	while (!ret && posted++ < 100000)
		ret = ibv_post_recv(odd_qp_rts(), &recv, &bad_recv);
	odd_say(" ", ERRNO, ret);
	for (ret = 0, posted = 0; !ret && posted < 100000; posted++)
		ret = ibv_post_send(odd_qp_rts(), &wr, &bad);
	odd_say(" ", ERRNO, ret);
}

static struct rdma_cm_id *id_alone(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		odd_without("id");
	return id;
}

static int at_loopback(int (*call)(struct rdma_cm_id *id, struct sockaddr *addr),
		       struct rdma_cm_id *id)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return call(id, (struct sockaddr *)&addr);
}

static int id_resolve(struct rdma_cm_id *id, struct sockaddr *addr)
{
	((struct sockaddr_in *)addr)->sin_port = htons(7471);
	return rdma_resolve_addr(id, NULL, addr, 2000);
}

static void bind_address_twice(void)
{
	struct rdma_cm_id *id = id_alone();

	M(at_loopback(rdma_bind_addr, id));
	M(at_loopback(rdma_bind_addr, id));
	M(rdma_listen(id, 1));
	M(rdma_listen(id, 1));
	M(at_loopback(rdma_bind_addr, id));
}

static void resolve_twice(void)
{
	struct rdma_cm_id *id = id_alone();

	M(rdma_resolve_route(id, 100));
	M(at_loopback(id_resolve, id));
	M(at_loopback(id_resolve, id));
	M(rdma_resolve_route(id, 2000));
	M(rdma_resolve_route(id, 2000));
	M(rdma_accept(id, NULL));
	M(rdma_disconnect(id));
	M(rdma_destroy_id(id));
}

static void qp_of_id_twice(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	struct rdma_cm_id *id = id_alone();

	M(rdma_create_qp(id, NULL, &attr));
	M(at_loopback(id_resolve, id));
	M(rdma_create_qp(id, NULL, &attr));
	M(rdma_create_qp(id, NULL, &attr));
	rdma_destroy_qp(id);
	M(rdma_create_qp(id, NULL, &attr));
	M(rdma_connect(id, NULL));
}

static void connect_to_nobody(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	struct rdma_cm_id *id = id_alone();

	M(at_loopback(id_resolve, id));
	M(rdma_create_qp(id, NULL, &attr));
	M(rdma_resolve_route(id, 2000));
	M(rdma_connect(id, NULL));
}

static void channel_without_events(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	M(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	M(rdma_migrate_id(id, NULL));
	M(rdma_migrate_id(id, NULL));
	M(rdma_migrate_id(id, channel));
	M(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static const struct odd_order orders[] = {
	{ "a PD before its region", pd_before_mr },
	{ "a PD before its QP", pd_before_qp },
	{ "a PD before its address handle", pd_before_ah },
	{ "a PD before its SRQ", pd_before_srq },
	{ "a PD before its window", pd_before_mw },
	{ "a CQ before its QP", cq_before_qp },
	{ "a channel before its CQ", channel_before_cq },
	{ "an SRQ before its QP", srq_before_qp },
	{ "a WQ before its table", wq_before_table },
	{ "a thread domain and a PD before their parent domain", td_before_parent_domain },
	{ "a parent domain of a parent domain", parent_domain_of_itself },
	{ "device memory before its region", dm_before_mr },
	{ "a context before all that is in it", context_before_all },
	{ "a group twice", mcast_twice },
	{ "INIT twice", init_twice },
	{ "arming twice", notify_twice },
	{ "a window twice", bind_twice },
	{ "resizing twice", resize_twice },
	{ "start_poll twice", poll_without_start },
	{ "each state from RESET", states_from_reset },
	{ "each state from RTS", states_from_rts },
	{ "each state of UD, from the last", states_of_ud },
	{ "posts in ERR and RESET", post_in_error },
	{ "posts until queues are full", post_until_full },
	{ "an id bound twice", bind_address_twice },
	{ "an id resolved twice", resolve_twice },
	{ "a QP of an id twice", qp_of_id_twice },
	{ "a connection to nobody", connect_to_nobody },
	{ "an id that changes channels", channel_without_events },
};

const struct odd_family odd_orders = {
	.name = "orders",
	.orders = orders,
	.orders_count = sizeof(orders) / sizeof(orders[0]),
};

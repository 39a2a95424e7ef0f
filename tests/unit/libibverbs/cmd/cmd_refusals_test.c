/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's error reaches the caller of any command, and an object is not destroyed before the
 * program has acknowledged all of its events.
 *
 * Covers: libibverbs/cmd/, libibverbs/events.c
 */
#include "fake_kernel.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* One object of each kind, all of one context */
struct objects {
	struct ibv_context *context;
	struct ibv_pd pd;
	struct verbs_mr vmr;
	struct verbs_cq vcq;
	struct verbs_qp vqp;
	struct verbs_srq vsrq;
	struct verbs_xrcd vxrcd;
	struct verbs_flow_action vaction;
	struct verbs_counters vcounters;
	struct ibv_mw mw;
	struct ibv_dm dm;
	struct ibv_ah ah;
	struct ibv_wq wq;
	struct ibv_rwq_ind_table table;
	struct ibv_flow flow;
};

static struct objects objects_of(struct ibv_context *context)
{
	return (struct objects){
		.context = context,
		.pd = { .context = context },
		.vmr = { .mr = { .context = context } },
		.vcq = { .cq = { .context = context } },
		.vqp = { .qp = { .context = context } },
		.vsrq = { .srq = { .context = context } },
		.vxrcd = { .xrcd = { .context = context } },
		.vaction = { .action = { .context = context } },
		.vcounters = { .counters = { .context = context } },
		.mw = { .context = context },
		.dm = { .context = context },
		.ah = { .context = context },
		.wq = { .context = context },
		.table = { .context = context },
		.flow = { .context = context },
	};
}

static int try_contexts(struct objects *o)
{
	struct verbs_context *vctx = to_vctx(o->context);
	int err = verbs_cmd_get_context(vctx, NULL);

	assert_int_equal(verbs_cmd_query_context(vctx, NULL), err);
	assert_int_equal(verbs_cmd_alloc_pd(o->context, &o->pd, NULL), err);
	return err;
}

static int try_queries(struct objects *o)
{
	struct ibv_device_attr_ex device;
	struct ibv_port_attr port;
	struct ibv_gid_entry entry;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_srq_attr srq;
	uint64_t fw_ver, value;
	int err = verbs_cmd_query_device(o->context, &device, sizeof(device), &fw_ver, NULL);

	assert_int_equal(verbs_cmd_query_port(o->context, 1, &port, sizeof(port)), err);
	assert_int_equal(verbs_cmd_query_gid(o->context, 1, 0, &entry), err);
	assert_int_equal(verbs_cmd_query_qp(&o->vqp.qp, &attr, 0, &init), err);
	assert_int_equal(verbs_cmd_query_srq(&o->vsrq.srq, &srq), err);
	assert_int_equal(verbs_cmd_query_mr(&o->pd, 1, &o->vmr), err);
	assert_int_equal(verbs_cmd_read_counters(&o->vcounters, &value, 1, 0, NULL), err);
	return err;
}

static int try_regions(struct objects *o)
{
	const struct ibv_mr_init_attr ex = { .comp_mask = IBV_REG_MR_MASK_ADDR };
	const struct ibv_alloc_dm_attr dm = { .length = 8 };
	struct ibv_sge sge = {};
	int err = verbs_cmd_reg_mr(&o->pd, NULL, 1, 0, 0, &o->vmr, NULL), fd;

	assert_int_equal(verbs_cmd_reg_dmabuf_mr(&o->pd, 0, 1, 0, 3, 0, &o->vmr, NULL), err);
	assert_int_equal(verbs_cmd_reg_mr_ex(&o->pd, &ex, &o->vmr, NULL), err);
	assert_int_equal(verbs_cmd_reg_dm_mr(&o->pd, &o->dm, 0, 8, 0, &o->vmr, NULL), err);
	assert_int_equal(verbs_cmd_rereg_mr(&o->vmr, 0, &o->pd, NULL, 0, 0, 0, NULL), err);
	assert_int_equal(verbs_cmd_advise_mr(&o->pd, 0, 0, &sge, 1), err);
	assert_int_equal(verbs_cmd_alloc_mw(&o->pd, IBV_MW_TYPE_1, &o->mw, NULL), err);
	assert_int_equal(verbs_cmd_alloc_dm(o->context, &dm, &o->dm, NULL, 0), err);
	assert_int_equal(verbs_cmd_alloc_dmabuf(o->context, 0, &fd), err);
	return err;
}

static int try_queues(struct objects *o)
{
	const struct ibv_cq_init_attr_ex cq = { .cqe = 1 };
	const struct ibv_qp_open_attr open = {
		.comp_mask = IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE,
		.xrcd = &o->vxrcd.xrcd,
	};
	struct ibv_modify_cq_attr moderation = {};
	struct ibv_qp_init_attr_ex qp = {};
	struct ibv_srq_init_attr_ex srq = { .pd = &o->pd };
	struct ibv_qp_attr qp_attr = {};
	struct ibv_srq_attr srq_attr = {};
	int err = verbs_cmd_create_cq(o->context, &cq, 0, &o->vcq, NULL);

	assert_int_equal(verbs_cmd_resize_cq(&o->vcq.cq, 1, NULL), err);
	assert_int_equal(verbs_cmd_modify_cq(&o->vcq.cq, &moderation), err);
	assert_int_equal(verbs_cmd_create_qp(o->context, &qp, &o->vqp, NULL), err);
	assert_int_equal(verbs_cmd_modify_qp(&o->vqp.qp, &qp_attr, 0, NULL), err);
	assert_int_equal(verbs_cmd_open_qp(o->context, &open, &o->vqp, NULL), err);
	assert_int_equal(verbs_cmd_create_srq(o->context, &srq, &o->vsrq, NULL), err);
	assert_int_equal(verbs_cmd_modify_srq(&o->vsrq.srq, &srq_attr, 0), err);
	return err;
}

static int try_receive_tables(struct objects *o)
{
	struct ibv_wq_init_attr init = { .pd = &o->pd, .cq = &o->vcq.cq };
	const struct ibv_wq_attr change = {};
	struct ibv_wq *list[] = { &o->wq };
	const struct ibv_rwq_ind_table_init_attr table = { .ind_tbl = list };
	int err = verbs_cmd_create_wq(o->context, &init, &o->wq, NULL);

	assert_int_equal(verbs_cmd_modify_wq(&o->wq, &change, NULL), err);
	assert_int_equal(verbs_cmd_create_rwq_ind_table(o->context, &table, &o->table, NULL), err);
	return err;
}

static int try_addresses_and_flows(struct objects *o)
{
	const struct ibv_xrcd_init_attr xrcd = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
	};
	const struct ibv_flow_action_esp_attr esp = {};
	const struct ibv_counters_init_attr counters = {};
	const struct ibv_ah_attr attr = {};
	const struct ibv_flow_attr flow = {};
	const union ibv_gid gid = {};
	int err = verbs_cmd_create_ah(&o->pd, &attr, &o->ah, NULL);

	assert_int_equal(verbs_cmd_attach_mcast(&o->vqp.qp, &gid, 0), err);
	assert_int_equal(verbs_cmd_detach_mcast(&o->vqp.qp, &gid, 0), err);
	assert_int_equal(verbs_cmd_open_xrcd(o->context, &xrcd, &o->vxrcd, NULL), err);
	assert_int_equal(verbs_cmd_create_flow(&o->vqp.qp, &flow, &o->flow, NULL), err);
	assert_int_equal(verbs_cmd_create_flow_action_esp(o->context, &esp, &o->vaction, NULL),
			 err);
	assert_int_equal(verbs_cmd_modify_flow_action_esp(&o->vaction, &esp, NULL), err);
	assert_int_equal(verbs_cmd_create_counters(o->context, &counters, &o->vcounters, NULL),
			 err);
	return err;
}

static int try_destruction(struct objects *o)
{
	int err = verbs_cmd_dealloc_pd(&o->pd);

	assert_int_equal(verbs_cmd_dereg_mr(&o->vmr), err);
	assert_int_equal(verbs_cmd_dealloc_mw(&o->mw), err);
	assert_int_equal(verbs_cmd_free_dm(&o->dm), err);
	assert_int_equal(verbs_cmd_destroy_cq(&o->vcq.cq), err);
	assert_int_equal(verbs_cmd_destroy_qp(&o->vqp.qp), err);
	assert_int_equal(verbs_cmd_destroy_srq(&o->vsrq.srq), err);
	assert_int_equal(verbs_cmd_destroy_ah(&o->ah), err);
	assert_int_equal(verbs_cmd_close_xrcd(&o->vxrcd), err);
	assert_int_equal(verbs_cmd_destroy_wq(&o->wq), err);
	assert_int_equal(verbs_cmd_destroy_rwq_ind_table(&o->table), err);
	assert_int_equal(verbs_cmd_destroy_flow(&o->flow), err);
	assert_int_equal(verbs_cmd_destroy_flow_action(&o->vaction), err);
	assert_int_equal(verbs_cmd_destroy_counters(&o->vcounters), err);
	return err;
}

static void a_refused_command_returns_the_kernels_error(void **state)
{
	static int (*const tries[])(struct objects *) = {
		try_contexts,    try_queries,        try_regions,
		try_queues,      try_receive_tables, try_addresses_and_flows,
		try_destruction,
	};
	static const int errors[] = { EPERM, EINVAL, EBUSY, ENOMEM };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		for (size_t t = 0; t < ARRAY_SIZE(tries); t++) {
			struct objects o = objects_of(context_of(state));

			expect(NULL, NULL);
			kernel.err = errors[i];
			assert_int_equal(tries[t](&o), errors[i]);
		}
}

static void *ack_late(void *arg)
{
	struct ibv_async_event *event = arg;

	usleep(20000);
	if (event->event_type == IBV_EVENT_CLIENT_REREGISTER) /* stands for a completion event */
		ibv_ack_cq_events(event->element.cq, 2);
	else
		for (int i = 0; i < 2; i++)
			ibv_ack_async_event(event);
	return NULL;
}

static pthread_t start_acker(struct ibv_async_event *event)
{
	pthread_t acker;

	assert_int_equal(pthread_create(&acker, NULL, ack_late, event), 0);
	return acker;
}

/* The first word of the response counts completion events, the second one asynchronous events. */
static void a_cq_waits_for_both_kinds_of_events(void **state)
{
	struct ibv_cq cq = { .context = context_of(state), .async_events_completed = 0x08070605 };
	struct ibv_async_event event = { .element.cq = &cq,
					 .event_type = IBV_EVENT_CLIENT_REREGISTER };
	pthread_t acker;

	NEEDS_LITTLE_ENDIAN();
	for (int i = 0; i < 2; i++) {
		pthread_mutex_init(&cq.mutex, NULL);
		pthread_cond_init(&cq.cond, NULL);
		acker = start_acker(&event);
		expect(IDS(UVERBS_ATTR_DESTROY_CQ_RESP), NULL);
		kernel.counts = true;
		kernel.report_events = 2;
		assert_int_equal(verbs_cmd_destroy_cq(&cq), 0);
		assert_int_equal(cq.comp_events_completed, 2);
		assert_int_equal(cq.async_events_completed, 0x08070605);
		assert_int_equal(pthread_join(acker, NULL), 0);
		cq.async_events_completed -= 2;
		event.event_type = IBV_EVENT_CQ_ERR;
	}
}

static void an_srq_waits_for_its_events(void **state)
{
	struct ibv_srq srq = { .context = context_of(state),
			       .mutex = PTHREAD_MUTEX_INITIALIZER,
			       .cond = PTHREAD_COND_INITIALIZER };
	struct ibv_async_event event = { .element.srq = &srq,
					 .event_type = IBV_EVENT_SRQ_LIMIT_REACHED };
	pthread_t acker = start_acker(&event);

	expect(IDS(UVERBS_ATTR_DESTROY_SRQ_RESP), NULL);
	kernel.report_events = 2;
	assert_int_equal(verbs_cmd_destroy_srq(&srq), 0);
	assert_int_equal(srq.events_completed, 2);
	assert_int_equal(pthread_join(acker, NULL), 0);
}

static void a_wq_waits_for_its_events(void **state)
{
	struct ibv_wq wq = { .context = context_of(state),
			     .mutex = PTHREAD_MUTEX_INITIALIZER,
			     .cond = PTHREAD_COND_INITIALIZER };
	struct ibv_async_event event = { .element.wq = &wq, .event_type = IBV_EVENT_WQ_FATAL };
	pthread_t acker = start_acker(&event);

	expect(IDS(UVERBS_ATTR_DESTROY_WQ_RESP), NULL);
	kernel.report_events = 2;
	assert_int_equal(verbs_cmd_destroy_wq(&wq), 0);
	assert_int_equal(wq.events_completed, 2);
	assert_int_equal(pthread_join(acker, NULL), 0);
}

static void a_lost_device_reports_no_events(void **state)
{
	uint32_t resp[2] = { 7, 7 };

	to_priv(context_of(state))->lost_is_destroyed = true;
	expect(NULL, NULL);
	kernel.err = EIO;
	assert_int_equal(
		verbs_cmd_destroy_answered(context_of(state), 3, 1, 0, 5, 1, resp, sizeof(resp)),
		0);
	assert_int_equal(resp[0] | resp[1], 0);
}

static void driver_attributes_come_back_from_behind_driver_data(void **state)
{
	struct ibv_pd pd = {};
	uint32_t in = 1, out = 2, handle = 3;
	const struct verbs_attr attrs[] = { verbs_attr_new_handle(0x1005, &handle) };
	const struct verbs_udata udata = {
		.req = &in,
		.req_len = sizeof(in),
		.resp = &out,
		.resp_len = sizeof(out),
		.attrs = attrs,
		.nattrs = ARRAY_SIZE(attrs),
	};

	expect(IDS(UVERBS_ATTR_CORE_OUT, UVERBS_ATTR_UHW_OUT), IDS(0x1005));
	assert_int_equal(verbs_cmd_alloc_pd(context_of(state), &pd, &udata), 0);
	assert_int_equal(handle, 0x51);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(a_refused_command_returns_the_kernels_error),
		COMMAND_TEST(a_cq_waits_for_both_kinds_of_events),
		COMMAND_TEST(an_srq_waits_for_its_events),
		COMMAND_TEST(a_wq_waits_for_its_events),
		COMMAND_TEST(a_lost_device_reports_no_events),
		COMMAND_TEST(driver_attributes_come_back_from_behind_driver_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

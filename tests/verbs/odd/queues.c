/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - the family "queues": completion channels, completion queues, their counters, shared
 * receive queues, work queues and tables of them.
 *
 * Covers: libibverbs/verbs_cq.c, libibverbs/verbs_srq.c, libibverbs/verbs_comp_cntr.c,
 * providers/mlx5/wq.c, providers/mlx4/wq.c
 */
#include <fcntl.h>

#include "odd.h"

static void *quiet_channel(void)
{
	struct ibv_comp_channel *channel = odd_channel();

	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	return channel;
}

static void *cq_attr(void)
{
	static struct ibv_cq_init_attr_ex attr = { .cqe = 16 };

	return &attr;
}

static void *moderation(void)
{
	static struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
						  .moderate = { 1, 1 } };

	return &attr;
}

static void *poll_attr(void)
{
	static struct ibv_poll_cq_attr attr;

	return &attr;
}

static void *srq_init(void)
{
	static struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };

	return &attr;
}

static void *srq_init_ex(void)
{
	static struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 16, .max_sge = 1 },
						    .comp_mask = IBV_SRQ_INIT_ATTR_PD |
								 IBV_SRQ_INIT_ATTR_TYPE };

	attr.pd = odd_pd();
	return &attr;
}

static void *srq_attr(void)
{
	static struct ibv_srq_attr attr = { .max_wr = 16, .srq_limit = 4 };

	return &attr;
}

static void *recv(void)
{
	static struct ibv_sge sge = { .length = 64 };
	static struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	sge.addr = (uintptr_t)odd_buffer();
	sge.lkey = ((struct ibv_mr *)odd_mr())->lkey;
	return &wr;
}

static void *tag_op(void)
{
	static struct ibv_ops_wr wr = { .opcode = IBV_WR_TAG_SYNC };

	return &wr;
}

static void *wq_init(void)
{
	static struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1 };

	attr.pd = odd_pd();
	attr.cq = odd_cq();
	return &attr;
}

static void *wq_attr(void)
{
	static struct ibv_wq_attr attr = { .attr_mask = IBV_WQ_ATTR_STATE,
					   .wq_state = IBV_WQS_RDY };

	return &attr;
}

static void *table_init(void)
{
	static struct ibv_rwq_ind_table_init_attr attr;
	static struct ibv_wq *wq;

	wq = odd_wq();
	attr.ind_tbl = &wq;
	return &attr;
}

static void *counter_init(void)
{
	static struct ibv_comp_cntr_init_attr attr;

	return &attr;
}

static const struct odd_field cq_fields[] = { ODD_FIELD(struct ibv_cq_init_attr_ex, cqe),
					      ODD_FIELD(struct ibv_cq_init_attr_ex, comp_vector),
					      ODD_FIELD(struct ibv_cq_init_attr_ex, wc_flags),
					      ODD_FIELD(struct ibv_cq_init_attr_ex, comp_mask),
					      ODD_FIELD(struct ibv_cq_init_attr_ex, flags),
					      { 0 } };
static const struct odd_field moderation_fields[] = {
	ODD_FIELD(struct ibv_modify_cq_attr, attr_mask),
	ODD_FIELD(struct ibv_modify_cq_attr, moderate.cq_count),
	ODD_FIELD(struct ibv_modify_cq_attr, moderate.cq_period),
	{ 0 }
};
static const struct odd_field poll_fields[] = { ODD_FIELD(struct ibv_poll_cq_attr, comp_mask),
						{ 0 } };
static const struct odd_field srq_init_fields[] = {
	ODD_FIELD(struct ibv_srq_init_attr, attr.max_wr),
	ODD_FIELD(struct ibv_srq_init_attr, attr.max_sge),
	ODD_FIELD(struct ibv_srq_init_attr, attr.srq_limit),
	{ 0 }
};
static const struct odd_field srq_init_ex_fields[] = {
	ODD_FIELD(struct ibv_srq_init_attr_ex, attr.max_wr),
	ODD_FIELD(struct ibv_srq_init_attr_ex, attr.max_sge),
	ODD_FIELD(struct ibv_srq_init_attr_ex, comp_mask),
	ODD_FIELD(struct ibv_srq_init_attr_ex, srq_type),
	ODD_POINTER(struct ibv_srq_init_attr_ex, pd),
	{ 0 }
};
static const struct odd_field srq_fields[] = { ODD_FIELD(struct ibv_srq_attr, max_wr),
					       ODD_FIELD(struct ibv_srq_attr, srq_limit),
					       { 0 } };
static const struct odd_field recv_fields[] = { ODD_POINTER(struct ibv_recv_wr, sg_list),
						ODD_FIELD(struct ibv_recv_wr, num_sge),
						{ 0 } };
static const struct odd_field tag_fields[] = { ODD_FIELD(struct ibv_ops_wr, opcode),
					       ODD_FIELD(struct ibv_ops_wr, flags),
					       { 0 } };
static const struct odd_field wq_init_fields[] = { ODD_FIELD(struct ibv_wq_init_attr, wq_type),
						   ODD_FIELD(struct ibv_wq_init_attr, max_wr),
						   ODD_FIELD(struct ibv_wq_init_attr, max_sge),
						   ODD_POINTER(struct ibv_wq_init_attr, pd),
						   ODD_POINTER(struct ibv_wq_init_attr, cq),
						   ODD_FIELD(struct ibv_wq_init_attr, comp_mask),
						   ODD_FIELD(struct ibv_wq_init_attr, create_flags),
						   { 0 } };
static const struct odd_field wq_fields[] = {
	ODD_FIELD(struct ibv_wq_attr, attr_mask),     ODD_FIELD(struct ibv_wq_attr, wq_state),
	ODD_FIELD(struct ibv_wq_attr, curr_wq_state), ODD_FIELD(struct ibv_wq_attr, flags),
	ODD_FIELD(struct ibv_wq_attr, flags_mask),    { 0 }
};
static const struct odd_field table_fields[] = {
	ODD_FIELD(struct ibv_rwq_ind_table_init_attr, log_ind_tbl_size),
	ODD_POINTER(struct ibv_rwq_ind_table_init_attr, ind_tbl),
	ODD_FIELD(struct ibv_rwq_ind_table_init_attr, comp_mask),
	{ 0 }
};
static const struct odd_field counter_fields[] = { ODD_FIELD(struct ibv_comp_cntr_init_attr,
							     comp_mask),
						   ODD_FIELD(struct ibv_comp_cntr_init_attr, type),
						   ODD_FIELD(struct ibv_comp_cntr_init_attr, flags),
						   { 0 } };

#define CQE_ARG                                                           \
	NUMBER_ARG("cqe", 16, V("0", 0), V("-1", -1), V("2^22", 1 << 22), \
		   V("2^22-1", (1 << 22) - 1), V("INT_MAX", 0x7fffffff))
#define VECTOR_ARG  NUMBER_ARG("vector", 0, V("-1", -1), V("4096", 4096), V("all ones", 0xffffffff))
#define ENTRIES_ARG NUMBER_ARG("entries", 1, V("0", 0), V("-1", -1))
#define MASK_ARG \
	NUMBER_ARG("mask", 2, V("0", 0), V("1", 1), V("3", 3), V("4", 4), V("all ones", -1))
#define NO_CHANNEL NUMBER_ARG("channel", 0)

static const struct odd_call calls[] = {
	{ "ibv_create_comp_channel", OBJECT, NULL, { &arg_context } },
	{ "ibv_destroy_comp_channel", ERRNO, NULL, { &arg_channel } },
	{ "ibv_create_cq",
	  OBJECT,
	  NULL,
	  { &arg_context, CQE_ARG, NUMBER_ARG("cq_context", 0), NO_CHANNEL, VECTOR_ARG } },
	{ "ibv_create_cq_ex",
	  OBJECT,
	  INLINE(ibv_create_cq_ex),
	  { &arg_context, ATTR_ARG("attr", cq_attr, cq_fields) } },
	{ "ibv_resize_cq", ERRNO, NULL, { &arg_cq, CQE_ARG } },
	{ "ibv_destroy_cq", ERRNO, NULL, { &arg_cq } },
	{ "ibv_modify_cq",
	  ERRNO,
	  INLINE(ibv_modify_cq),
	  { &arg_cq, ATTR_ARG("attr", moderation, moderation_fields) } },
	{ "ibv_req_notify_cq",
	  ERRNO,
	  INLINE(ibv_req_notify_cq),
	  { GOOD_ARG(odd_cq), NUMBER_ARG("solicited", 0, V("1", 1), V("-1", -1)) } },
	{ "ibv_poll_cq",
	  MINUS_ONE,
	  INLINE(ibv_poll_cq),
	  { GOOD_ARG(odd_cq), ENTRIES_ARG, &arg_out } },
	{ "ibv_start_poll",
	  POLLED,
	  INLINE(ibv_start_poll),
	  { GOOD_ARG(odd_cq_ex), ATTR_ARG("attr", poll_attr, poll_fields) } },
	{ "ibv_get_cq_event",
	  MINUS_ONE,
	  NULL,
	  { GOOD_ARG(quiet_channel), OUT_ARG("cq"), OUT_ARG("cq_context") } },
	{ "ibv_ack_cq_events",
	  NOTHING,
	  NULL,
	  { &arg_cq, NUMBER_ARG("count", 0, V("1", 1), V("all ones", 0xffffffff)) } },
	{ "_ibv_query_comp_cntr_caps",
	  ERRNO,
	  NULL,
	  { &arg_context, &arg_out,
	    NUMBER_ARG("size", 24, V("0", 0), V("1", 1), V("4096", 4096)) } },
	{ "ibv_create_comp_cntr",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", counter_init, counter_fields) } },
	{ "ibv_create_srq",
	  OBJECT,
	  NULL,
	  { &arg_pd, ATTR_ARG("attr", srq_init, srq_init_fields) } },
	{ "ibv_create_srq_ex",
	  OBJECT,
	  INLINE(ibv_create_srq_ex),
	  { &arg_context, ATTR_ARG("attr", srq_init_ex, srq_init_ex_fields) } },
	{ "ibv_modify_srq",
	  ERRNO,
	  NULL,
	  { &arg_srq, ATTR_ARG("attr", srq_attr, srq_fields), MASK_ARG } },
	{ "ibv_query_srq", ERRNO, NULL, { &arg_srq, &arg_out } },
	{ "ibv_destroy_srq", ERRNO, NULL, { &arg_srq } },
	{ "ibv_get_srq_num", ERRNO, INLINE(ibv_get_srq_num), { GOOD_ARG(odd_srq), &arg_out } },
	{ "ibv_post_srq_recv",
	  ERRNO,
	  INLINE(ibv_post_srq_recv),
	  { GOOD_ARG(odd_srq), ATTR_ARG("wr", recv, recv_fields),
	    NUMBER_ARG("bad", (long)(uintptr_t) & (struct ibv_recv_wr *){ NULL }) } },
	{ "ibv_post_srq_ops",
	  ERRNO,
	  INLINE(ibv_post_srq_ops),
	  { GOOD_ARG(odd_srq), ATTR_ARG("wr", tag_op, tag_fields),
	    NUMBER_ARG("bad", (long)(uintptr_t) & (struct ibv_ops_wr *){ NULL }) } },
	{ "ibv_create_wq",
	  OBJECT,
	  INLINE(ibv_create_wq),
	  { &arg_context, ATTR_ARG("attr", wq_init, wq_init_fields) } },
	{ "ibv_modify_wq",
	  ERRNO,
	  INLINE(ibv_modify_wq),
	  { &arg_wq, ATTR_ARG("attr", wq_attr, wq_fields) } },
	{ "ibv_destroy_wq", ERRNO, INLINE(ibv_destroy_wq), { &arg_wq } },
	{ "ibv_post_wq_recv",
	  ERRNO,
	  INLINE(ibv_post_wq_recv),
	  { GOOD_ARG(odd_wq), ATTR_ARG("wr", recv, recv_fields),
	    NUMBER_ARG("bad", (long)(uintptr_t) & (struct ibv_recv_wr *){ NULL }) } },
	{ "ibv_create_rwq_ind_table",
	  OBJECT,
	  INLINE(ibv_create_rwq_ind_table),
	  { &arg_context, ATTR_ARG("attr", table_init, table_fields) } },
	{ "ibv_destroy_rwq_ind_table",
	  ERRNO,
	  INLINE(ibv_destroy_rwq_ind_table),
	  { GOOD_ARG(odd_table) } },
};

ODD_FAMILY(queues, calls);

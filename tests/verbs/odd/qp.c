/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - the family "qp": queue pairs, their states, and multicast groups.
 *
 * Covers: libibverbs/verbs_qp.c, libibverbs/explain/qp_states.c, libibverbs/explain/qp.c
 */
#include "odd.h"

static void *qp_init(void)
{
	static struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 16, 16, 1, 1, 0 } };

	attr.send_cq = attr.recv_cq = odd_cq();
	return &attr;
}

static void *qp_init_of(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr *attr = qp_init();

	attr->qp_type = type;
	return attr;
}

static void *ud_init(void)
{
	return qp_init_of(IBV_QPT_UD);
}

static void *raw_init(void)
{
	return qp_init_of(IBV_QPT_RAW_PACKET);
}

static void *qp_init_ex(void)
{
	static struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC,
						   .cap = { 16, 16, 1, 1, 0 },
						   .comp_mask = IBV_QP_INIT_ATTR_PD |
								IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
								IBV_QP_INIT_ATTR_CREATE_FLAGS,
						   .send_ops_flags = IBV_QP_EX_WITH_SEND };

	attr.send_cq = attr.recv_cq = odd_cq();
	attr.pd = odd_pd();
	return &attr;
}

static void *rss_init(void)
{
	static uint8_t key[40] = { 1 };
	static struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				  .rx_hash_key_len = sizeof(key),
				  .rx_hash_key = key,
				  .rx_hash_fields_mask =
					  IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 }
	};

	attr.pd = odd_pd();
	attr.rwq_ind_tbl = odd_table();
	return &attr;
}

static void *open_attr(void)
{
	static struct ibv_qp_open_attr attr = { .comp_mask = IBV_QP_OPEN_ATTR_NUM |
							     IBV_QP_OPEN_ATTR_XRCD |
							     IBV_QP_OPEN_ATTR_TYPE,
						.qp_num = 7,
						.qp_type = IBV_QPT_XRC_RECV };

	attr.xrcd = odd_xrcd();
	return &attr;
}

static void *rate_attr(void)
{
	static struct ibv_qp_rate_limit_attr attr = { .rate_limit = 1000 };

	return &attr;
}

static void *ece(void)
{
	static struct ibv_ece ece = { .vendor_id = 0x15b3, .options = 0x10000000 };

	return &ece;
}

static void *mgid(void)
{
	static union ibv_gid gid = { .raw = { 0xff, 0x12, [15] = 9 } };

	return &gid;
}

static const struct odd_field init_fields[] = {
	ODD_POINTER(struct ibv_qp_init_attr, send_cq),
	ODD_POINTER(struct ibv_qp_init_attr, recv_cq),
	ODD_FIELD(struct ibv_qp_init_attr, cap.max_send_wr),
	ODD_FIELD(struct ibv_qp_init_attr, cap.max_recv_wr),
	ODD_FIELD(struct ibv_qp_init_attr, cap.max_send_sge),
	ODD_FIELD(struct ibv_qp_init_attr, cap.max_recv_sge),
	ODD_FIELD(struct ibv_qp_init_attr, cap.max_inline_data),
	ODD_FIELD(struct ibv_qp_init_attr, qp_type),
	ODD_FIELD(struct ibv_qp_init_attr, sq_sig_all),
	{ 0 }
};
#define EX_FIELD(field) ODD_FIELD(struct ibv_qp_init_attr_ex, field)
static const struct odd_field ex_fields[] = { ODD_POINTER(struct ibv_qp_init_attr_ex, send_cq),
					      ODD_POINTER(struct ibv_qp_init_attr_ex, recv_cq),
					      ODD_POINTER(struct ibv_qp_init_attr_ex, pd),
					      EX_FIELD(cap.max_send_wr),
					      EX_FIELD(cap.max_recv_wr),
					      EX_FIELD(cap.max_send_sge),
					      EX_FIELD(cap.max_recv_sge),
					      EX_FIELD(cap.max_inline_data),
					      EX_FIELD(qp_type),
					      EX_FIELD(comp_mask),
					      EX_FIELD(create_flags),
					      EX_FIELD(send_ops_flags),
					      EX_FIELD(max_tso_header),
					      EX_FIELD(source_qpn),
					      { 0 } };
static const struct odd_field rss_fields[] = { ODD_POINTER(struct ibv_qp_init_attr_ex, pd),
					       ODD_POINTER(struct ibv_qp_init_attr_ex, rwq_ind_tbl),
					       EX_FIELD(cap.max_send_wr),
					       EX_FIELD(comp_mask),
					       EX_FIELD(rx_hash_conf.rx_hash_function),
					       EX_FIELD(rx_hash_conf.rx_hash_key_len),
					       ODD_POINTER(struct ibv_qp_init_attr_ex,
							   rx_hash_conf.rx_hash_key),
					       EX_FIELD(rx_hash_conf.rx_hash_fields_mask),
					       { 0 } };
static const struct odd_field open_fields[] = { ODD_FIELD(struct ibv_qp_open_attr, comp_mask),
						ODD_FIELD(struct ibv_qp_open_attr, qp_num),
						ODD_POINTER(struct ibv_qp_open_attr, xrcd),
						ODD_FIELD(struct ibv_qp_open_attr, qp_type),
						{ 0 } };
static const struct odd_field state_fields[] = { ODD_FIELD(struct ibv_qp_attr, qp_state),
						 ODD_FIELD(struct ibv_qp_attr, pkey_index),
						 ODD_FIELD(struct ibv_qp_attr, port_num),
						 ODD_FIELD(struct ibv_qp_attr, qp_access_flags),
						 { 0 } };
static const struct odd_field rate_fields[] = {
	ODD_FIELD(struct ibv_qp_rate_limit_attr, rate_limit),
	ODD_FIELD(struct ibv_qp_rate_limit_attr, max_burst_sz),
	ODD_FIELD(struct ibv_qp_rate_limit_attr, typical_pkt_sz),
	ODD_FIELD(struct ibv_qp_rate_limit_attr, comp_mask),
	{ 0 }
};
static const struct odd_field ece_fields[] = { ODD_FIELD(struct ibv_ece, vendor_id),
					       ODD_FIELD(struct ibv_ece, options),
					       ODD_FIELD(struct ibv_ece, comp_mask),
					       { 0 } };
static const struct odd_field mgid_fields[] = { ODD_FIELD(union ibv_gid, raw), { 0 } };

#define STATE_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define MASK_ARG                                                                          \
	NUMBER_ARG("mask", STATE_MASK, V("0", 0), V("state alone", 1),                    \
		   V("too much", STATE_MASK | 0x8000), V("bit 26", STATE_MASK | 1 << 26), \
		   V("all ones", -1))
#define QUERY_MASK NUMBER_ARG("mask", 1, V("0", 0), V("bit 30", 1 << 30), V("all ones", -1))
#define LID_ARG    NUMBER_ARG("lid", 0xc001, V("0", 0), V("65535", 65535))
#define OP_ARG     NUMBER_ARG("opcode", 0, V("99", 99), V("-1", -1))
#define VALUES_ARG ATTR_ARG("ece", ece, ece_fields)

static const struct odd_call calls[] = {
	{ "ibv_create_qp", OBJECT, NULL, { &arg_pd, ATTR_ARG("attr", qp_init, init_fields) } },
	{ "ibv_create_qp", OBJECT, NULL, { &arg_pd, ATTR_ARG("UD", ud_init, init_fields) } },
	{ "ibv_create_qp",
	  OBJECT,
	  NULL,
	  { &arg_pd, ATTR_ARG("raw packets", raw_init, init_fields) } },
	{ "ibv_create_qp_ex",
	  OBJECT,
	  INLINE(ibv_create_qp_ex),
	  { &arg_context, ATTR_ARG("attr", qp_init_ex, ex_fields) } },
	{ "ibv_create_qp_ex",
	  OBJECT,
	  INLINE(ibv_create_qp_ex),
	  { &arg_context, ATTR_ARG("RSS", rss_init, rss_fields) } },
	{ "ibv_open_qp",
	  OBJECT,
	  INLINE(ibv_open_qp),
	  { &arg_context, ATTR_ARG("attr", open_attr, open_fields) } },
	{ "ibv_modify_qp",
	  ERRNO,
	  NULL,
	  { &arg_qp, ATTR_ARG("attr", odd_attr_init, state_fields), MASK_ARG } },
	{ "ibv_modify_qp",
	  ERRNO,
	  NULL,
	  { &arg_qp_init, ATTR_ARG("from INIT", odd_attr_init, state_fields), MASK_ARG } },
	{ "ibv_modify_qp",
	  ERRNO,
	  NULL,
	  { GOOD_ARG(odd_qp_rts), ATTR_ARG("from RTS", odd_attr_init, state_fields), MASK_ARG } },
	{ "ibv_modify_qp",
	  ERRNO,
	  NULL,
	  { GOOD_ARG(odd_qp_raw), ATTR_ARG("of raw packets", odd_attr_init, state_fields),
	    MASK_ARG } },
	{ "ibv_query_qp", ERRNO, NULL, { &arg_qp, OUT_ARG("attr"), QUERY_MASK, OUT_ARG("init") } },
	{ "ibv_destroy_qp", ERRNO, NULL, { &arg_qp } },
	{ "ibv_query_qp_data_in_order", NUMBER, NULL, { &arg_qp, OP_ARG, &arg_flags } },
	{ "ibv_modify_qp_rate_limit",
	  ERRNO,
	  INLINE(ibv_modify_qp_rate_limit),
	  { &arg_qp_rts, ATTR_ARG("attr", rate_attr, rate_fields) } },
	{ "ibv_set_ece", ERRNO, NULL, { &arg_qp, VALUES_ARG } },
	{ "ibv_query_ece", ERRNO, NULL, { &arg_qp, OUT_ARG("ece") } },
	{ "ibv_attach_mcast",
	  ERRNO,
	  NULL,
	  { GOOD_ARG(odd_qp_ud), ATTR_ARG("gid", mgid, mgid_fields), LID_ARG } },
	{ "ibv_attach_mcast",
	  ERRNO,
	  NULL,
	  { &arg_qp_rts, ATTR_ARG("gid of RC", mgid, mgid_fields), LID_ARG } },
	{ "ibv_detach_mcast",
	  ERRNO,
	  NULL,
	  { GOOD_ARG(odd_qp_ud), ATTR_ARG("gid", mgid, mgid_fields), LID_ARG } },
	{ "ibv_qp_to_qp_ex", OBJECT, NULL, { GOOD_ARG(odd_qp_rc) } },
};

ODD_FAMILY(qp, calls);

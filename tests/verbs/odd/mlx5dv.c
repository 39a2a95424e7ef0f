/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx5dv.c - the family "mlx5dv": direct verbs of mlx5 but for DevX and steering, also on objects
 * of another provider.
 *
 * Covers: providers/mlx5/dv/
 */
#include "odd.h"

static void *context_attr(void)
{
	static struct mlx5dv_context_attr attr;

	return &attr;
}

static void *vfio_attr(void)
{
	static struct mlx5dv_vfio_context_attr attr = { .pci_name = "0000:00:00.0" };

	return &attr;
}

static void *device(void)
{
	static struct mlx5dv_context out;

	return &out;
}

static void *allocators(void)
{
	static struct mlx5dv_ctx_allocators none;

	return &none;
}

static void *clock_info(void)
{
	static struct mlx5dv_clock_info info;

	return &info;
}

static struct mlx5dv_obj obj;

static void *of_qp(void)
{
	static struct mlx5dv_qp out;

	obj.qp.in = odd_qp_rc();
	obj.qp.out = &out;
	return &obj;
}

static void *of_cq(void)
{
	static struct mlx5dv_cq out;

	obj.cq.in = odd_cq();
	obj.cq.out = &out;
	return &obj;
}

static void *of_srq(void)
{
	static struct mlx5dv_srq out;

	obj.srq.in = odd_srq();
	obj.srq.out = &out;
	return &obj;
}

static void *of_wq(void)
{
	static struct mlx5dv_rwq out;

	obj.rwq.in = odd_wq();
	obj.rwq.out = &out;
	return &obj;
}

static void *of_dm(void)
{
	static struct mlx5dv_dm out;

	obj.dm.in = odd_dm();
	obj.dm.out = &out;
	return &obj;
}

static void *of_ah(void)
{
	static struct mlx5dv_ah out;

	obj.ah.in = odd_ah();
	obj.ah.out = &out;
	return &obj;
}

static void *of_pd(void)
{
	static struct mlx5dv_pd out;

	obj.pd.in = odd_pd();
	obj.pd.out = &out;
	return &obj;
}

static void *cq_attr(void)
{
	static struct ibv_cq_init_attr_ex attr = { .cqe = 16 };

	return &attr;
}

static void *dv_cq_attr(void)
{
	static struct mlx5dv_cq_init_attr attr = { .cqe_size = 64 };

	return &attr;
}

static void *qp_attr(void)
{
	static struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC,
						   .cap = { 16, 16, 1, 1, 0 },
						   .comp_mask = IBV_QP_INIT_ATTR_PD };

	attr.send_cq = attr.recv_cq = odd_cq();
	attr.pd = odd_pd();
	return &attr;
}

static void *driver_qp_attr(void)
{
	static struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_DRIVER,
						   .comp_mask = IBV_QP_INIT_ATTR_PD };

	attr.send_cq = attr.recv_cq = odd_cq();
	attr.srq = odd_srq();
	attr.pd = odd_pd();
	return &attr;
}

static void *dv_qp_attr(void)
{
	static struct mlx5dv_qp_init_attr attr = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS
	};

	return &attr;
}

static void *dct_attr(void)
{
	static struct mlx5dv_qp_init_attr attr = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
						   .dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT,
								     .dct_access_key = 7 } };

	return &attr;
}

static void *wq_attr(void)
{
	static struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1 };

	attr.pd = odd_pd();
	attr.cq = odd_cq();
	return &attr;
}

static void *dv_wq_attr(void)
{
	static struct mlx5dv_wq_init_attr attr = { .comp_mask =
							   MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
						   .striding_rq_attrs = { 6, 9, 0 } };

	return &attr;
}

static void *dm_attr(void)
{
	static struct ibv_alloc_dm_attr attr = { .length = 4096 };

	return &attr;
}

static void *dv_dm_attr(void)
{
	static struct mlx5dv_alloc_dm_attr attr;

	return &attr;
}

static void *mkey_attr(void)
{
	static struct mlx5dv_mkey_init_attr attr = { .create_flags =
							     MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
						     .max_entries = 4 };

	attr.pd = odd_pd();
	return &attr;
}

static void *mkey(void)
{
	static struct mlx5dv_mkey *made;

	if (!made)
		made = mlx5dv_create_mkey(mkey_attr());
	if (!made)
		odd_without("mkey");
	return made;
}

static void *login_attr(void)
{
	static struct mlx5dv_crypto_login_attr attr;

	return &attr;
}

static void *login_ex(void)
{
	static struct mlx5dv_crypto_login_attr_ex attr = { .credential = "secret",
							   .credential_len = 6 };

	return &attr;
}

static void *dek_attr(void)
{
	static struct mlx5dv_dek_init_attr attr;

	attr.pd = odd_pd();
	return &attr;
}

static void *pacing(void)
{
	static uint8_t context[48] = { 0, 0, 0x10, 0 };

	return context;
}

static void *sched_attr(void)
{
	static struct mlx5dv_sched_attr attr;

	return &attr;
}

static void *sched_node(void)
{
	static struct mlx5dv_sched_node *node;
	static const struct mlx5dv_sched_attr root;

	if (!node)
		node = mlx5dv_sched_node_create(odd_context(), &root);
	if (!node)
		odd_without("scheduling node");
	return node;
}

static void *leaf_attr(void)
{
	static struct mlx5dv_sched_attr attr = { .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE,
						 .bw_share = 10 };

	attr.parent = sched_node();
	return &attr;
}

static void *sched_leaf(void)
{
	static struct mlx5dv_sched_leaf *leaf;

	if (!leaf)
		leaf = mlx5dv_sched_leaf_create(odd_context(), leaf_attr());
	if (!leaf)
		odd_without("scheduling leaf");
	return leaf;
}

static void *var(void)
{
	static struct mlx5dv_var *made;

	if (!made)
		made = mlx5dv_alloc_var(odd_context(), 0);
	if (!made)
		odd_without("VAR");
	return made;
}

static const struct odd_field context_fields[] = { ODD_FIELD(struct mlx5dv_context_attr, flags),
						   ODD_FIELD(struct mlx5dv_context_attr, comp_mask),
						   { 0 } };
static const struct odd_field vfio_fields[] = {
	ODD_POINTER(struct mlx5dv_vfio_context_attr, pci_name),
	ODD_FIELD(struct mlx5dv_vfio_context_attr, flags),
	ODD_FIELD(struct mlx5dv_vfio_context_attr, comp_mask),
	{ 0 }
};
static const struct odd_field device_fields[] = { ODD_FIELD(struct mlx5dv_context, comp_mask),
						  { 0 } };
static const struct odd_field cq_fields[] = { ODD_FIELD(struct ibv_cq_init_attr_ex, cqe),
					      ODD_FIELD(struct ibv_cq_init_attr_ex, wc_flags),
					      ODD_FIELD(struct ibv_cq_init_attr_ex, comp_mask),
					      ODD_FIELD(struct ibv_cq_init_attr_ex, flags),
					      { 0 } };
static const struct odd_field dv_cq_fields[] = { ODD_FIELD(struct mlx5dv_cq_init_attr, comp_mask),
						 ODD_FIELD(struct mlx5dv_cq_init_attr,
							   cqe_comp_res_format),
						 ODD_FIELD(struct mlx5dv_cq_init_attr, flags),
						 ODD_FIELD(struct mlx5dv_cq_init_attr, cqe_size),
						 { 0 } };
#define EX_FIELD(field) ODD_FIELD(struct ibv_qp_init_attr_ex, field)
static const struct odd_field qp_fields[] = { EX_FIELD(comp_mask),
					      EX_FIELD(qp_type),
					      EX_FIELD(create_flags),
					      EX_FIELD(send_ops_flags),
					      EX_FIELD(cap.max_send_wr),
					      EX_FIELD(cap.max_inline_data),
					      ODD_POINTER(struct ibv_qp_init_attr_ex, pd),
					      { 0 } };
static const struct odd_field dc_fields[] = { EX_FIELD(comp_mask),
					      ODD_POINTER(struct ibv_qp_init_attr_ex, send_cq),
					      ODD_POINTER(struct ibv_qp_init_attr_ex, recv_cq),
					      ODD_POINTER(struct ibv_qp_init_attr_ex, srq),
					      EX_FIELD(cap.max_send_wr),
					      EX_FIELD(cap.max_recv_wr),
					      EX_FIELD(cap.max_inline_data),
					      ODD_POINTER(struct ibv_qp_init_attr_ex, pd),
					      { 0 } };
#define DV_FIELD(field) ODD_FIELD(struct mlx5dv_qp_init_attr, field)
static const struct odd_field dv_qp_fields[] = { DV_FIELD(comp_mask),
						 DV_FIELD(create_flags),
						 DV_FIELD(dc_init_attr.dc_type),
						 DV_FIELD(send_ops_flags),
						 { 0 } };
static const struct odd_field wq_fields[] = { ODD_FIELD(struct ibv_wq_init_attr, max_wr),
					      ODD_FIELD(struct ibv_wq_init_attr, max_sge),
					      ODD_FIELD(struct ibv_wq_init_attr, wq_type),
					      ODD_FIELD(struct ibv_wq_init_attr, comp_mask),
					      { 0 } };
static const struct odd_field dv_wq_fields[] = {
	ODD_FIELD(struct mlx5dv_wq_init_attr, comp_mask),
	ODD_FIELD(struct mlx5dv_wq_init_attr, striding_rq_attrs.single_stride_log_num_of_bytes),
	ODD_FIELD(struct mlx5dv_wq_init_attr, striding_rq_attrs.single_wqe_log_num_of_strides),
	ODD_FIELD(struct mlx5dv_wq_init_attr, striding_rq_attrs.two_byte_shift_en),
	{ 0 }
};
static const struct odd_field dm_fields[] = { ODD_FIELD(struct ibv_alloc_dm_attr, length),
					      ODD_FIELD(struct ibv_alloc_dm_attr, log_align_req),
					      ODD_FIELD(struct ibv_alloc_dm_attr, comp_mask),
					      { 0 } };
static const struct odd_field dv_dm_fields[] = { ODD_FIELD(struct mlx5dv_alloc_dm_attr, type),
						 ODD_FIELD(struct mlx5dv_alloc_dm_attr, comp_mask),
						 { 0 } };
static const struct odd_field mkey_fields[] = {
	ODD_FIELD(struct mlx5dv_mkey_init_attr, create_flags),
	ODD_FIELD(struct mlx5dv_mkey_init_attr, max_entries),
	{ 0 }
};
static const struct odd_field login_fields[] = {
	ODD_FIELD(struct mlx5dv_crypto_login_attr, credential_id),
	ODD_FIELD(struct mlx5dv_crypto_login_attr, comp_mask),
	{ 0 }
};
static const struct odd_field login_ex_fields[] = {
	ODD_FIELD(struct mlx5dv_crypto_login_attr_ex, credential_len),
	ODD_FIELD(struct mlx5dv_crypto_login_attr_ex, comp_mask),
	{ 0 }
};
static const struct odd_field dek_fields[] = { ODD_FIELD(struct mlx5dv_dek_init_attr, key_size),
					       ODD_FIELD(struct mlx5dv_dek_init_attr, key_purpose),
					       ODD_POINTER(struct mlx5dv_dek_init_attr, pd),
					       ODD_FIELD(struct mlx5dv_dek_init_attr, comp_mask),
					       { 0 } };
static const struct odd_field sched_fields[] = { ODD_POINTER(struct mlx5dv_sched_attr, parent),
						 ODD_FIELD(struct mlx5dv_sched_attr, flags),
						 ODD_FIELD(struct mlx5dv_sched_attr, bw_share),
						 ODD_FIELD(struct mlx5dv_sched_attr, max_avg_bw),
						 ODD_FIELD(struct mlx5dv_sched_attr, comp_mask),
						 { 0 } };

#define ALL_ONES            V("all ones", -1)
#define TYPE_ARG(good)      NUMBER_ARG("type", good, V("0", 0), V("2^20", 1 << 20), ALL_ONES)
#define PORT_ARG            NUMBER_ARG("port", 1, V("0", 0), V("2", 2), V("255", 255))
#define U16_ARG(name, good) NUMBER_ARG(name, good, V("0", 0), V("65535", 65535))
#define SIZE_ARG(good)      NUMBER_ARG("size", good, V("0", 0), V("1", 1), V("4096", 4096))
#define MAKER_ARG(arg_name, maker, ...)                                    \
	&(const struct odd_arg)                                            \
	{                                                                  \
		.name = arg_name, .make = maker, .values = { __VA_ARGS__ } \
	}
#define NODE_ARG MAKER_ARG("node", sched_node, V("NULL", 0))
#define LEAF_ARG MAKER_ARG("leaf", sched_leaf, V("NULL", 0))

static const struct odd_call calls[] = {
	{ "mlx5dv_is_supported", YES_NO, NULL, { &arg_device } },
	{ "mlx5dv_open_device",
	  OBJECT,
	  NULL,
	  { &arg_device, ATTR_ARG("attr", context_attr, context_fields) } },
	{ "mlx5dv_get_vfio_device_list",
	  OBJECT,
	  NULL,
	  { ATTR_ARG("attr", vfio_attr, vfio_fields) } },
	{ "mlx5dv_vfio_get_events_fd", DESCRIPTOR, NULL, { &arg_context } },
	{ "mlx5dv_vfio_process_events", ERRNO, NULL, { &arg_context } },
	{ "mlx5dv_query_device",
	  ERRNO,
	  NULL,
	  { &arg_context, ATTR_ARG("out", device, device_fields) } },
	{ "_mlx5dv_query_port",
	  ERRNO,
	  NULL,
	  { &arg_context, NUMBER_ARG("port", 1, V("0", 0), V("2", 2), V("2^31", 1l << 31)),
	    &arg_out, SIZE_ARG(sizeof(struct mlx5dv_port)) } },
	{ "mlx5dv_get_data_direct_sysfs_path",
	  ERRNO,
	  NULL,
	  { &arg_context, &arg_out, SIZE_ARG(256) } },
	{ "mlx5dv_set_context_attr",
	  ERRNO,
	  NULL,
	  { &arg_context, NUMBER_ARG("type", 1, V("0", 0), V("2", 2), V("-1", -1)),
	    ATTR_ARG("attr", allocators, NULL) } },
	{ "mlx5dv_get_clock_info",
	  ERRNO,
	  NULL,
	  { &arg_context, ATTR_ARG("info", clock_info, NULL) } },
	{ "mlx5dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("qp", of_qp, NULL), TYPE_ARG(MLX5DV_OBJ_QP) } },
	{ "mlx5dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("cq", of_cq, NULL), TYPE_ARG(MLX5DV_OBJ_CQ) } },
	{ "mlx5dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("srq", of_srq, NULL), TYPE_ARG(MLX5DV_OBJ_SRQ) } },
	{ "mlx5dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("wq", of_wq, NULL), TYPE_ARG(MLX5DV_OBJ_RWQ) } },
	{ "mlx5dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("dm", of_dm, NULL), TYPE_ARG(MLX5DV_OBJ_DM) } },
	{ "mlx5dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("ah", of_ah, NULL), TYPE_ARG(MLX5DV_OBJ_AH) } },
	{ "mlx5dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("pd", of_pd, NULL), TYPE_ARG(MLX5DV_OBJ_PD) } },
	{ "mlx5dv_create_cq",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", cq_attr, cq_fields),
	    ATTR_ARG("dv attr", dv_cq_attr, dv_cq_fields) } },
	{ "mlx5dv_create_qp",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", qp_attr, qp_fields),
	    ATTR_ARG("dv attr", dv_qp_attr, dv_qp_fields) } },
	{ "mlx5dv_create_qp",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr of DCT", driver_qp_attr, dc_fields),
	    ATTR_ARG("dv attr of DCT", dct_attr, dv_qp_fields) } },
	{ "mlx5dv_query_qp_lag_port", ERRNO, NULL, { &arg_qp_rts, &arg_out, &arg_out2 } },
	{ "mlx5dv_modify_qp_lag_port", ERRNO, NULL, { &arg_qp_rts, PORT_ARG } },
	{ "mlx5dv_modify_qp_udp_sport", ERRNO, NULL, { &arg_qp_rts, U16_ARG("port", 50000) } },
	{ "mlx5dv_dci_stream_id_reset", ERRNO, NULL, { &arg_qp_rts, U16_ARG("stream", 1) } },
	{ "mlx5dv_reserved_qpn_alloc", ERRNO, NULL, { &arg_context, &arg_out } },
	{ "mlx5dv_reserved_qpn_dealloc",
	  ERRNO,
	  NULL,
	  { &arg_context, NUMBER_ARG("qpn", 1, V("0", 0), V("all ones", 0xffffffff)) } },
	{ "mlx5dv_map_ah_to_qp",
	  ERRNO,
	  NULL,
	  { &arg_ah, NUMBER_ARG("qpn", 1, V("0", 0), V("all ones", 0xffffffff)) } },
	{ "mlx5dv_create_wq",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", wq_attr, wq_fields),
	    ATTR_ARG("dv attr", dv_wq_attr, dv_wq_fields) } },
	{ "mlx5dv_alloc_dm",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", dm_attr, dm_fields),
	    ATTR_ARG("dv attr", dv_dm_attr, dv_dm_fields) } },
	{ "mlx5dv_dm_map_op_addr",
	  OBJECT,
	  NULL,
	  { &arg_dm, NUMBER_ARG("op", 0, V("1", 1), V("255", 255)) } },
	{ "mlx5dv_reg_dmabuf_mr",
	  OBJECT,
	  NULL,
	  { &arg_pd, NUMBER_ARG("offset", 0, V("-1", -1)), &arg_length, NUMBER_ARG("iova", 0),
	    &arg_fd, &arg_access,
	    NUMBER_ARG("mlx5 access", 0, V("1", 1), V("2", 2), V("-1", -1)) } },
	{ "mlx5dv_create_mkey", OBJECT, NULL, { ATTR_ARG("attr", mkey_attr, mkey_fields) } },
	{ "mlx5dv_destroy_mkey", ERRNO, NULL, { MAKER_ARG("mkey", mkey, V("NULL", 0)) } },
	{ "_mlx5dv_mkey_check",
	  ERRNO,
	  NULL,
	  { MAKER_ARG("mkey", mkey, V("NULL", 0)), &arg_out,
	    SIZE_ARG(sizeof(struct mlx5dv_mkey_err)) } },
	{ "mlx5dv_qp_ex_from_ibv_qp_ex", OBJECT, NULL, { GOOD_ARG(odd_qp_ex) } },
	{ "mlx5dv_crypto_login",
	  ERRNO,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", login_attr, login_fields) } },
	{ "mlx5dv_crypto_login_query_state", ERRNO, NULL, { &arg_context, &arg_out } },
	{ "mlx5dv_crypto_logout", ERRNO, NULL, { &arg_context } },
	{ "mlx5dv_crypto_login_create",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", login_ex, login_ex_fields) } },
	{ "mlx5dv_dek_create",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", dek_attr, dek_fields) } },
	{ "mlx5dv_pp_alloc",
	  OBJECT,
	  NULL,
	  { &arg_context, SIZE_ARG(48), MAKER_ARG("context", pacing, V("NULL", 0)), &arg_flags } },
	{ "mlx5dv_sched_node_create",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", sched_attr, sched_fields) } },
	{ "mlx5dv_sched_node_create",
	  OBJECT,
	  NULL,
	  { GOOD_ARG(odd_context), ATTR_ARG("attr of a child", leaf_attr, sched_fields) } },
	{ "mlx5dv_sched_node_modify",
	  ERRNO,
	  NULL,
	  { NODE_ARG, ATTR_ARG("attr", sched_attr, sched_fields) } },
	{ "mlx5dv_sched_node_destroy", ERRNO, NULL, { NODE_ARG } },
	{ "mlx5dv_sched_leaf_create",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", leaf_attr, sched_fields) } },
	{ "mlx5dv_sched_leaf_modify",
	  ERRNO,
	  NULL,
	  { LEAF_ARG, ATTR_ARG("attr", leaf_attr, sched_fields) } },
	{ "mlx5dv_sched_leaf_destroy", ERRNO, NULL, { LEAF_ARG } },
	{ "mlx5dv_modify_qp_sched_elem",
	  ERRNO,
	  NULL,
	  { &arg_qp_rts, LEAF_ARG, NUMBER_ARG("responder", 0) } },
	{ "mlx5dv_alloc_var", OBJECT, NULL, { &arg_context, &arg_flags } },
	{ "mlx5dv_free_var", NOTHING, NULL, { MAKER_ARG("var", var) } },
	{ "_mlx5dv_get_export_sizes",
	  NOTHING,
	  NULL,
	  { &arg_out, SIZE_ARG(sizeof(struct mlx5dv_export_sizes)) } },
	{ "mlx5dv_var_export", ERRNO, NULL, { MAKER_ARG("var", var, V("NULL", 0)), &arg_out } },
	{ "mlx5dv_var_import",
	  OBJECT,
	  NULL,
	  { &arg_context, MAKER_ARG("attrs", odd_buffer, V("NULL", 0)) } },
	{ "mlx5dv_var_unimport", NOTHING, NULL, { NUMBER_ARG("var", 0) } },
};

ODD_FAMILY(mlx5dv, calls);

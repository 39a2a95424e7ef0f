/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - the family "devx": commands, objects, memory, registers, events and vectors.
 *
 * Covers: providers/mlx5/dv/devx.c, providers/mlx5/dv/devx_obj.c, providers/mlx5/dv/devx_umem.c,
 * providers/mlx5/dv/devx_async.c
 */
#include <fcntl.h>

#include "odd.h"

enum { MAILBOX = 64, QUERY_HCA_CAP = 0x100, ALLOC_TRANSPORT_DOMAIN = 0x816, QUERY_MKEY = 0x201 };

static uint8_t in[MAILBOX], out[4096];

static void *mailbox(uint16_t opcode)
{
	in[0] = (uint8_t)(opcode >> 8);
	in[1] = (uint8_t)opcode;
	return in;
}

static void *query_cap(void)
{
	return mailbox(QUERY_HCA_CAP);
}

static void *alloc_td(void)
{
	return mailbox(ALLOC_TRANSPORT_DOMAIN);
}

static void *query_mkey(void)
{
	return mailbox(QUERY_MKEY);
}

static void *object(void)
{
	static struct mlx5dv_devx_obj *made;

	if (!made)
		made = mlx5dv_devx_obj_create(odd_context(), alloc_td(), 16, out, 16);
	if (!made)
		odd_without("DevX object");
	return made;
}

static void *umem(void)
{
	static struct mlx5dv_devx_umem *made;

	if (!made)
		made = mlx5dv_devx_umem_reg(odd_context(), odd_buffer(), 4096, 0);
	if (!made)
		odd_without("umem");
	return made;
}

static void *umem_in(void)
{
	static struct mlx5dv_devx_umem_in attr = { .size = 4096, .pgsz_bitmap = 4096 };

	attr.addr = odd_buffer();
	return &attr;
}

static void *uar(void)
{
	static struct mlx5dv_devx_uar *made;

	if (!made)
		made = mlx5dv_devx_alloc_uar(odd_context(), 0);
	if (!made)
		odd_without("UAR");
	return made;
}

static void *completions(void)
{
	static struct mlx5dv_devx_cmd_comp *made;

	if (!made)
		made = mlx5dv_devx_create_cmd_comp(odd_context());
	if (!made)
		odd_without("command completions");
	fcntl(made->fd, F_SETFL, O_NONBLOCK);
	return made;
}

static void *events(void)
{
	static struct mlx5dv_devx_event_channel *made;

	if (!made)
		made = mlx5dv_devx_create_event_channel(odd_context(), 0);
	if (!made)
		odd_without("event channel of DevX");
	fcntl(made->fd, F_SETFL, O_NONBLOCK);
	return made;
}

static const struct odd_field mailbox_fields[] = { { "opcode", 0, 2, false },
						   { "uid", 2, 2, false },
						   { 0 } };
static const struct odd_field umem_fields[] = { ODD_POINTER(struct mlx5dv_devx_umem_in, addr),
						ODD_FIELD(struct mlx5dv_devx_umem_in, size),
						ODD_FIELD(struct mlx5dv_devx_umem_in, access),
						ODD_FIELD(struct mlx5dv_devx_umem_in, pgsz_bitmap),
						ODD_FIELD(struct mlx5dv_devx_umem_in, comp_mask),
						{ 0 } };

#define MAKER_ARG(arg_name, maker, ...)                                    \
	&(const struct odd_arg)                                            \
	{                                                                  \
		.name = arg_name, .make = maker, .values = { __VA_ARGS__ } \
	}
#define IN_ARG(maker) ATTR_ARG("in", maker, mailbox_fields)
#define IN_LEN                                                                                \
	NUMBER_ARG("inlen", 16, V("0", 0), V("8", 8), V("65536", 65536), V("2^40", 1l << 40), \
		   V("-1", -1))
#define OUT_LEN(good)                                                                            \
	NUMBER_ARG("outlen", good, V("0", 0), V("8", 8), V("65536", 65536), V("2^40", 1l << 40), \
		   V("-1", -1))
#define OBJECT_ARG   MAKER_ARG("obj", object, V("NULL", 0))
#define UMEM_ARG     MAKER_ARG("umem", umem, V("NULL", 0))
#define UAR_ARG      MAKER_ARG("uar", uar, V("NULL", 0))
#define COMP_ARG     MAKER_ARG("comp", completions, V("NULL", 0))
#define EVENTS_ARG   MAKER_ARG("channel", events, V("NULL", 0))
#define QUERY(maker) IN_ARG(maker), IN_LEN, &arg_out, OUT_LEN(64)
#define OTHER_TABLE  GOOD_ARG(odd_table)

static const struct odd_call calls[] = {
	{ "mlx5dv_devx_general_cmd", ERRNO, NULL, { &arg_context, QUERY(query_cap) } },
	{ "mlx5dv_devx_obj_create",
	  OBJECT,
	  NULL,
	  { &arg_context, IN_ARG(alloc_td), IN_LEN, &arg_out, OUT_LEN(16) } },
	{ "mlx5dv_devx_obj_query", ERRNO, NULL, { OBJECT_ARG, QUERY(query_mkey) } },
	{ "mlx5dv_devx_obj_modify", ERRNO, NULL, { OBJECT_ARG, QUERY(query_mkey) } },
	{ "mlx5dv_devx_obj_destroy", ERRNO, NULL, { OBJECT_ARG } },
	{ "mlx5dv_devx_cq_query", ERRNO, NULL, { &arg_cq, QUERY(query_mkey) } },
	{ "mlx5dv_devx_cq_modify", ERRNO, NULL, { &arg_cq, QUERY(query_mkey) } },
	{ "mlx5dv_devx_qp_query", ERRNO, NULL, { &arg_qp, QUERY(query_mkey) } },
	{ "mlx5dv_devx_qp_modify", ERRNO, NULL, { &arg_qp_rts, QUERY(query_mkey) } },
	{ "mlx5dv_devx_srq_query", ERRNO, NULL, { &arg_srq, QUERY(query_mkey) } },
	{ "mlx5dv_devx_srq_modify", ERRNO, NULL, { &arg_srq, QUERY(query_mkey) } },
	{ "mlx5dv_devx_wq_query", ERRNO, NULL, { &arg_wq, QUERY(query_mkey) } },
	{ "mlx5dv_devx_wq_modify", ERRNO, NULL, { &arg_wq, QUERY(query_mkey) } },
	{ "mlx5dv_devx_ind_tbl_query", ERRNO, NULL, { OTHER_TABLE, QUERY(query_mkey) } },
	{ "mlx5dv_devx_ind_tbl_modify", ERRNO, NULL, { OTHER_TABLE, QUERY(query_mkey) } },
	{ "mlx5dv_devx_create_cmd_comp", OBJECT, NULL, { &arg_context } },
	{ "mlx5dv_devx_obj_query_async",
	  ERRNO,
	  NULL,
	  { OBJECT_ARG, IN_ARG(query_mkey), IN_LEN, OUT_LEN(64), NUMBER_ARG("wr_id", 1),
	    COMP_ARG } },
	{ "mlx5dv_devx_get_async_cmd_comp", ERRNO, NULL, { COMP_ARG, &arg_out, OUT_LEN(64) } },
	{ "mlx5dv_devx_create_event_channel",
	  OBJECT,
	  NULL,
	  { &arg_context, NUMBER_ARG("flags", 0, V("1", 1), V("2", 2), V("-1", -1)) } },
	{ "mlx5dv_devx_subscribe_devx_event",
	  ERRNO,
	  NULL,
	  { EVENTS_ARG, OBJECT_ARG, NUMBER_ARG("size", 2, V("0", 0), V("1", 1)),
	    GOOD_ARG(odd_buffer), NUMBER_ARG("cookie", 1) } },
	{ "mlx5dv_devx_subscribe_devx_event_fd",
	  ERRNO,
	  NULL,
	  { EVENTS_ARG, NUMBER_ARG("fd", -1, V("0", 0)), OBJECT_ARG,
	    NUMBER_ARG("event", 0, V("65535", 65535)) } },
	{ "mlx5dv_devx_get_event",
	  MINUS_ONE,
	  NULL,
	  { EVENTS_ARG, &arg_out, NUMBER_ARG("size", 64, V("0", 0), V("1", 1)) } },
	{ "mlx5dv_devx_alloc_msi_vector", OBJECT, NULL, { &arg_context } },
	{ "mlx5dv_devx_create_eq", OBJECT, NULL, { &arg_context, QUERY(query_mkey) } },
	{ "mlx5dv_devx_query_eqn",
	  ERRNO,
	  NULL,
	  { &arg_context, NUMBER_ARG("vector", 0, V("4096", 4096), V("all ones", 0xffffffff)),
	    &arg_out } },
	{ "mlx5dv_devx_umem_reg",
	  OBJECT,
	  NULL,
	  { &arg_context, &arg_addr, &arg_length, &arg_access } },
	{ "mlx5dv_devx_umem_reg_ex",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", umem_in, umem_fields) } },
	{ "mlx5dv_devx_umem_dereg", ERRNO, NULL, { UMEM_ARG } },
	{ "mlx5dv_devx_umem_export", ERRNO, NULL, { UMEM_ARG, &arg_out } },
	{ "mlx5dv_devx_umem_import",
	  OBJECT,
	  NULL,
	  { &arg_context, MAKER_ARG("attrs", odd_buffer, V("NULL", 0)) } },
	{ "mlx5dv_devx_umem_unimport", NOTHING, NULL, { NUMBER_ARG("umem", 0) } },
	{ "mlx5dv_devx_obj_export", ERRNO, NULL, { OBJECT_ARG, &arg_out } },
	{ "mlx5dv_devx_obj_import",
	  OBJECT,
	  NULL,
	  { &arg_context, MAKER_ARG("attrs", odd_buffer, V("NULL", 0)) } },
	{ "mlx5dv_devx_obj_unimport", NOTHING, NULL, { NUMBER_ARG("obj", 0) } },
	{ "mlx5dv_devx_alloc_uar",
	  OBJECT,
	  NULL,
	  { &arg_context, NUMBER_ARG("flags", 0, V("1", 1), V("2", 2), V("3", 3),
				     V("2^31", 1l << 31), V("all ones", 0xffffffff)) } },
	{ "mlx5dv_devx_free_uar", NOTHING, NULL, { MAKER_ARG("uar", uar) } },
	{ "mlx5dv_devx_uar_export_dmabuf_fd", DESCRIPTOR, NULL, { UAR_ARG } },
};

ODD_FAMILY(devx, calls);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx4dv.c - the family "mlx4dv": direct verbs of mlx4, also on objects of another provider.
 *
 * Covers: providers/mlx4/dv/
 */
#include <infiniband/mlx4dv.h>

#include "odd.h"

static struct mlx4dv_obj obj;

static void *of_qp(void)
{
	static struct mlx4dv_qp out;

	obj.qp.in = odd_qp_rc();
	obj.qp.out = &out;
	return &obj;
}

static void *of_cq(void)
{
	static struct mlx4dv_cq out;

	obj.cq.in = odd_cq();
	obj.cq.out = &out;
	return &obj;
}

static void *of_srq(void)
{
	static struct mlx4dv_srq out;

	obj.srq.in = odd_srq();
	obj.srq.out = &out;
	return &obj;
}

static void *device(void)
{
	static struct mlx4dv_context out;

	return &out;
}

static void *attr(void)
{
	static struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC,
						   .cap = { 16, 16, 1, 1, 0 },
						   .comp_mask = IBV_QP_INIT_ATTR_PD };

	attr.send_cq = attr.recv_cq = odd_cq();
	attr.pd = odd_pd();
	return &attr;
}

static void *own_attr(void)
{
	static struct mlx4dv_qp_init_attr attr;

	return &attr;
}

static const struct odd_field device_fields[] = { ODD_FIELD(struct mlx4dv_context, comp_mask),
						  { 0 } };
static const struct odd_field attr_fields[] = { ODD_FIELD(struct ibv_qp_init_attr_ex, comp_mask),
						ODD_FIELD(struct ibv_qp_init_attr_ex, qp_type),
						ODD_POINTER(struct ibv_qp_init_attr_ex, send_cq),
						ODD_FIELD(struct ibv_qp_init_attr_ex, create_flags),
						{ 0 } };
static const struct odd_field own_fields[] = { ODD_FIELD(struct mlx4dv_qp_init_attr, comp_mask),
					       { 0 } };
#define TYPE_ARG(good) NUMBER_ARG("type", good, V("0", 0), V("8", 8), V("all ones", -1))

static const struct odd_call calls[] = {
	{ "mlx4dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("qp", of_qp, NULL), TYPE_ARG(MLX4DV_OBJ_QP) } },
	{ "mlx4dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("cq", of_cq, NULL), TYPE_ARG(MLX4DV_OBJ_CQ) } },
	{ "mlx4dv_init_obj",
	  ERRNO,
	  NULL,
	  { ATTR_ARG("srq", of_srq, NULL), TYPE_ARG(MLX4DV_OBJ_SRQ) } },
	{ "mlx4dv_query_device",
	  ERRNO,
	  NULL,
	  { &arg_context, ATTR_ARG("out", device, device_fields) } },
	{ "mlx4dv_set_context_attr",
	  ERRNO,
	  NULL,
	  { &arg_context, NUMBER_ARG("type", 0, V("1", 1), V("2", 2), V("-1", -1)),
	    GOOD_ARG(odd_buffer) } },
	{ "mlx4dv_create_qp",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", attr, attr_fields),
	    ATTR_ARG("own attr", own_attr, own_fields) } },
};

ODD_FAMILY(mlx4dv, calls);

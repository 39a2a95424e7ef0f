/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * init_attr.h - attributes of ibv_create_qp() and ibv_create_srq() as the extended calls take them,
 * since a provider has one function for both. What the provider changes (the capacities) is for the
 * caller to copy back after success.
 */
#ifndef LIBIBVERBS_INIT_ATTR_H
#define LIBIBVERBS_INIT_ATTR_H

#include "libibverbs/driver.h"

static inline struct ibv_qp_init_attr_ex extend_qp_init_attr(struct ibv_pd *pd,
							     const struct ibv_qp_init_attr *attr)
{
	return (struct ibv_qp_init_attr_ex){
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
}

static inline struct ibv_srq_init_attr_ex extend_srq_init_attr(struct ibv_pd *pd,
							       const struct ibv_srq_init_attr *attr)
{
	return (struct ibv_srq_init_attr_ex){
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
}

#endif

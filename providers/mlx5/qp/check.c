/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * check.c - checks the attributes of a QP to be created. Refusals name the attribute in the log,
 * as the kernel would return only EINVAL.
 */
#include "providers/mlx5/qp/build.h"

#include <errno.h>

#include "providers/common/owner.h"
#include "providers/mlx5/qp/rules.h"

int mlx5_qp_refuse_type(enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_DRIVER:
		verbs_warn("create_qp: qp_type is DRIVER: mlx5dv_create_qp() creates those, with "
			   "MLX5DV_QP_INIT_ATTR_MASK_DC");
		return EINVAL;
	default:
		verbs_warn("create_qp: qp_type is %d, which is not in enum ibv_qp_type", (int)type);
		return EINVAL;
	}
}

const struct qp_rules *mlx5_qp_rules_for(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->qp_type == IBV_QPT_RAW_PACKET && attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH)
		return mlx5_qp_rss_rules();
	if (attr->qp_type == IBV_QPT_UD && attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags & IBV_QP_CREATE_SOURCE_QPN)
		return mlx5_qp_underlay_rules();
	return mlx5_qp_rules_of(attr->qp_type);
}

static int qp_check_comp_mask(const struct qp_rules *rules, uint32_t mask)
{
	if (!(mask & ~rules->comp_mask))
		return 0;
	verbs_warn("create_qp: comp_mask is %#x, supported are %#x for %s QP", mask,
		   rules->comp_mask, rules->name);
	return EINVAL;
}

/* Creation flags that are passed to the kernel. The kernel refuses flags that do not fit the QP's
 * type or that it does not know, so the library need not check for either. */
#define CREATE_FLAGS_KNOWN                                               \
	(IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | IBV_QP_CREATE_SCATTER_FCS | \
	 IBV_QP_CREATE_CVLAN_STRIPPING | IBV_QP_CREATE_SOURCE_QPN |      \
	 IBV_QP_CREATE_PCI_WRITE_END_PADDING)

static int qp_check_create_flags(uint32_t flags, enum ibv_qp_type type)
{
	if (flags & ~(uint32_t)CREATE_FLAGS_KNOWN) {
		verbs_warn("create_qp: create_flags is %#x, supported are %#x", flags,
			   CREATE_FLAGS_KNOWN);
		return EINVAL;
	}
	if (flags & IBV_QP_CREATE_SOURCE_QPN && type != IBV_QPT_UD) {
		verbs_warn("create_qp: create_flags has SOURCE_QPN, which is for UD QPs");
		return EINVAL;
	}
	return 0;
}

static const char *qp_missing(const struct qp_rules *rules, const struct ibv_qp_init_attr_ex *attr)
{
	if (rules->needs_pd && (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd))
		return "pd";
	if (rules->comp_mask & IBV_QP_INIT_ATTR_XRCD &&
	    (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd))
		return "xrcd";
	if (rules->sends && !attr->send_cq)
		return "send_cq";
	return rules->receives && !attr->recv_cq ? "recv_cq" : NULL;
}

int mlx5_qp_check_attr(const struct ibv_context *context, const struct qp_rules *rules,
		       const struct ibv_qp_init_attr_ex *attr)
{
	int ret = qp_check_comp_mask(rules, attr->comp_mask);
	const char *missing;

	if (!ret && attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		ret = qp_check_create_flags(attr->create_flags, attr->qp_type);
	if (ret)
		return ret;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    (rules == mlx5_qp_underlay_rules() || attr->qp_type == IBV_QPT_XRC_RECV)) {
		verbs_warn("create_qp: send_ops_flags: there is no ibv_wr_* for %s QP",
			   rules->name);
		return EOPNOTSUPP;
	}
	missing = qp_missing(rules, attr);
	if (missing) {
		verbs_warn("create_qp: %s is missing: %s QP needs one", missing, rules->name);
		return EINVAL;
	}
	if (attr->srq && !rules->may_srq) {
		verbs_warn("create_qp: srq is set: %s QP has none", rules->name);
		return EINVAL;
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    attr->send_ops_flags == SEND_OPS_ANY) {
		verbs_warn("create_qp: send_ops_flags is %#llx, which has unknown ones",
			   (unsigned long long)attr->send_ops_flags);
		return EOPNOTSUPP;
	}
	return provider_qp_check_owners(context, attr);
}

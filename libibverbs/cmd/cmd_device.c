/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_device.c - commands on the device itself: context, capabilities, event channels.
 */
#include "cmd/cmd.h"

VERBS_EXPORT int verbs_cmd_get_context(struct verbs_context *vctx, const struct verbs_udata *udata)
{
	struct ibv_context *context = &vctx->context;
	uint32_t num_comp_vectors = 0;
	uint64_t core_support = 0;
	const struct verbs_attr attrs[] = {
		verbs_attr_out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &num_comp_vectors,
			       sizeof(num_comp_vectors)),
		verbs_attr_out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core_support,
			       sizeof(core_support)),
	};
	int ret;

	ret = cmd_run(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, attrs,
		      ARRAY_SIZE(attrs), udata);
	if (ret) {
		verbs_warn("ibv_open_device %s: the kernel refuses a context: %s",
			   context->device->name, strerror(ret));
		return ret;
	}
	context->num_comp_vectors = (int)num_comp_vectors;
	vctx->priv->core_support = core_support;
	return 0;
}

int cmd_alloc_async_fd(struct ibv_context *context)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_new_fd(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, &context->async_fd),
	};

	return cmd_run(context, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, attrs,
		       ARRAY_SIZE(attrs), NULL);
}

int cmd_create_comp_channel(struct ibv_context *context, int *fd)
{
	struct ib_uverbs_create_comp_channel req = {};
	struct ib_uverbs_create_comp_channel_resp resp = {};
	int ret;

	ret = cmd_run_write(context, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &req, sizeof(req),
			    &resp, sizeof(resp), NULL);
	if (!ret)
		*fd = (int)resp.fd;
	return ret;
}

static void copy_base_attr(struct ibv_device_attr *attr,
			   const struct ib_uverbs_query_device_resp *resp)
{
	attr->node_guid = resp->node_guid;
	attr->sys_image_guid = resp->sys_image_guid;
	attr->max_mr_size = resp->max_mr_size;
	attr->page_size_cap = resp->page_size_cap;
	attr->vendor_id = resp->vendor_id;
	attr->vendor_part_id = resp->vendor_part_id;
	attr->hw_ver = resp->hw_ver;
	attr->max_qp = (int)resp->max_qp;
	attr->max_qp_wr = (int)resp->max_qp_wr;
	attr->device_cap_flags = resp->device_cap_flags;
	attr->max_sge = (int)resp->max_sge;
	attr->max_sge_rd = (int)resp->max_sge_rd;
	attr->max_cq = (int)resp->max_cq;
	attr->max_cqe = (int)resp->max_cqe;
	attr->max_mr = (int)resp->max_mr;
	attr->max_pd = (int)resp->max_pd;
	attr->max_qp_rd_atom = (int)resp->max_qp_rd_atom;
	attr->max_ee_rd_atom = (int)resp->max_ee_rd_atom;
	attr->max_res_rd_atom = (int)resp->max_res_rd_atom;
	attr->max_qp_init_rd_atom = (int)resp->max_qp_init_rd_atom;
	attr->max_ee_init_rd_atom = (int)resp->max_ee_init_rd_atom;
	attr->atomic_cap = (enum ibv_atomic_cap)resp->atomic_cap;
	attr->max_ee = (int)resp->max_ee;
	attr->max_rdd = (int)resp->max_rdd;
	attr->max_mw = (int)resp->max_mw;
	attr->max_raw_ipv6_qp = (int)resp->max_raw_ipv6_qp;
	attr->max_raw_ethy_qp = (int)resp->max_raw_ethy_qp;
	attr->max_mcast_grp = (int)resp->max_mcast_grp;
	attr->max_mcast_qp_attach = (int)resp->max_mcast_qp_attach;
	attr->max_total_mcast_qp_attach = (int)resp->max_total_mcast_qp_attach;
	attr->max_ah = (int)resp->max_ah;
	attr->max_fmr = (int)resp->max_fmr;
	attr->max_map_per_fmr = (int)resp->max_map_per_fmr;
	attr->max_srq = (int)resp->max_srq;
	attr->max_srq_wr = (int)resp->max_srq_wr;
	attr->max_srq_sge = (int)resp->max_srq_sge;
	attr->max_pkeys = resp->max_pkeys;
	attr->local_ca_ack_delay = resp->local_ca_ack_delay;
	attr->phys_port_cnt = resp->phys_port_cnt;
}

static void copy_odp_caps(struct ibv_device_attr_ex *attr,
			  const struct ib_uverbs_ex_query_device_resp *resp)
{
	attr->odp_caps.general_caps = resp->odp_caps.general_caps;
	attr->odp_caps.per_transport_caps.rc_odp_caps =
		resp->odp_caps.per_transport_caps.rc_odp_caps;
	attr->odp_caps.per_transport_caps.uc_odp_caps =
		resp->odp_caps.per_transport_caps.uc_odp_caps;
	attr->odp_caps.per_transport_caps.ud_odp_caps =
		resp->odp_caps.per_transport_caps.ud_odp_caps;
	attr->xrc_odp_caps = resp->xrc_odp_caps;
}

static void copy_ex_attr(struct ibv_device_attr_ex *attr,
			 const struct ib_uverbs_ex_query_device_resp *resp)
{
	copy_odp_caps(attr, resp);
	attr->completion_timestamp_mask = resp->timestamp_mask;
	attr->hca_core_clock = resp->hca_core_clock;
	attr->device_cap_flags_ex = resp->device_cap_flags_ex;
	attr->rss_caps.supported_qpts = resp->rss_caps.supported_qpts;
	attr->rss_caps.max_rwq_indirection_tables = resp->rss_caps.max_rwq_indirection_tables;
	attr->rss_caps.max_rwq_indirection_table_size =
		resp->rss_caps.max_rwq_indirection_table_size;
	attr->max_wq_type_rq = resp->max_wq_type_rq;
	attr->raw_packet_caps = resp->raw_packet_caps;
	attr->tm_caps.max_rndv_hdr_size = resp->tm_caps.max_rndv_hdr_size;
	attr->tm_caps.max_num_tags = resp->tm_caps.max_num_tags;
	attr->tm_caps.flags = resp->tm_caps.flags;
	attr->tm_caps.max_ops = resp->tm_caps.max_ops;
	attr->tm_caps.max_sge = resp->tm_caps.max_sge;
	attr->cq_mod_caps.max_cq_count = resp->cq_moderation_caps.max_cq_moderation_count;
	attr->cq_mod_caps.max_cq_period = resp->cq_moderation_caps.max_cq_moderation_period;
	attr->max_dm_size = resp->max_dm_size;
}

VERBS_EXPORT int verbs_cmd_query_device(struct ibv_context *context,
					struct ibv_device_attr_ex *attr, size_t attr_size,
					uint64_t *fw_ver, const struct verbs_udata *udata)
{
	struct ib_uverbs_ex_query_device req = {};
	struct ib_uverbs_ex_query_device_resp resp = {};
	struct ibv_device_attr_ex full = {};
	int ret;

	ret = cmd_run_write(context,
			    IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
			    &req, sizeof(req), &resp, sizeof(resp), udata);
	if (ret) {
		verbs_warn("ibv_query_device %s: %s", context->device->name, strerror(ret));
		return ret;
	}
	copy_base_attr(&full.orig_attr, &resp.base);
	copy_ex_attr(&full, &resp);
	memset(attr, 0, attr_size);
	memcpy(attr, &full, min_of(attr_size, sizeof(full)));
	*fw_ver = resp.base.fw_ver;
	return 0;
}

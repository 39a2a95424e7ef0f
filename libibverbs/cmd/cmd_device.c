/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_device.c - commands on the device itself: context, capabilities, event channels.
 */
#include "cmd/cmd.h"

VERBS_EXPORT int verbs_cmd_get_context(struct verbs_context *vctx, const struct verbs_udata *udata)
{
	return verbs_cmd_get_context_with(vctx, udata, NULL);
}

VERBS_EXPORT int verbs_cmd_get_context_with(struct verbs_context *vctx,
					    const struct verbs_udata *udata,
					    const struct ibv_fd_arr *fds)
{
	struct ibv_context *context = &vctx->context;
	uint32_t num_comp_vectors = 0;
	uint64_t core_support = 0;
	const struct verbs_attr attrs[] = {
		verbs_attr_out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &num_comp_vectors,
			       sizeof(num_comp_vectors)),
		verbs_attr_out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core_support,
			       sizeof(core_support)),
		fds ? verbs_attr_in(UVERBS_ATTR_GET_CONTEXT_FD_ARR, fds->arr,
				    fds->count * sizeof(*fds->arr))
		    : verbs_attr_skip(),
	};
	int ret;

	ret = verbs_cmd_run_core(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, attrs,
				 ARRAY_SIZE(attrs), udata);
	if (ret) {
		verbs_warn("ibv_open_device %s: the kernel refuses a context: %s",
			   context->device->name, strerror(ret));
		return ret;
	}
	context->num_comp_vectors = (int)num_comp_vectors;
	to_priv(context)->core_support = core_support;
	return 0;
}

VERBS_EXPORT int verbs_cmd_query_context(struct verbs_context *vctx,
					 const struct verbs_udata *udata)
{
	struct ibv_context *context = &vctx->context;
	uint32_t num_comp_vectors = 0;
	uint64_t core_support = 0;
	const struct verbs_attr attrs[] = {
		verbs_attr_out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &num_comp_vectors,
			       sizeof(num_comp_vectors)),
		verbs_attr_out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &core_support,
			       sizeof(core_support)),
	};
	int ret = verbs_cmd_run_core(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
				     attrs, ARRAY_SIZE(attrs), udata);

	if (ret) {
		verbs_warn("ibv_import_device %s: cmd_fd %d: %s%s", context->device->name,
			   context->cmd_fd, strerror(ret),
			   ret == EINVAL ? ": no context was created on it" : "");
		return ret;
	}
	context->num_comp_vectors = (int)num_comp_vectors;
	to_priv(context)->core_support = core_support;
	return 0;
}

int verbs_cmd_alloc_async_fd(struct ibv_context *context)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_new_fd(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, &context->async_fd),
	};

	return verbs_cmd_run_core(context, UVERBS_OBJECT_ASYNC_EVENT,
				  UVERBS_METHOD_ASYNC_EVENT_ALLOC, attrs, ARRAY_SIZE(attrs), NULL);
}

int verbs_cmd_create_comp_channel(struct ibv_context *context, int *fd)
{
	struct ib_uverbs_create_comp_channel req = {};
	struct ib_uverbs_create_comp_channel_resp resp = {};
	int ret;

	ret = verbs_cmd_run_write(context, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &req, sizeof(req),
				  &resp, sizeof(resp), NULL);
	if (!ret)
		*fd = (int)resp.fd;
	return ret;
}

/* Copies a field that has the same name in the kernel's answer and in the verbs struct; a macro, as
 * the types differ: the kernel's are unsigned. */
#define COPY(field) (attr->field = resp->field)

static void copy_identity(struct ibv_device_attr *attr,
			  const struct ib_uverbs_query_device_resp *resp)
{
	COPY(node_guid), COPY(sys_image_guid);
	COPY(vendor_id), COPY(vendor_part_id), COPY(hw_ver);
	COPY(phys_port_cnt), COPY(max_pkeys), COPY(local_ca_ack_delay);
	COPY(device_cap_flags), COPY(page_size_cap);
	attr->atomic_cap = (enum ibv_atomic_cap)resp->atomic_cap;
}

static void copy_limits(struct ibv_device_attr *attr,
			const struct ib_uverbs_query_device_resp *resp)
{
	COPY(max_pd), COPY(max_mr), COPY(max_mr_size), COPY(max_mw), COPY(max_ah);
	COPY(max_fmr), COPY(max_map_per_fmr);
	COPY(max_cq), COPY(max_cqe);
	COPY(max_qp), COPY(max_qp_wr), COPY(max_sge), COPY(max_sge_rd);
	COPY(max_srq), COPY(max_srq_wr), COPY(max_srq_sge);
	COPY(max_qp_rd_atom), COPY(max_qp_init_rd_atom), COPY(max_res_rd_atom);
	COPY(max_ee), COPY(max_ee_rd_atom), COPY(max_ee_init_rd_atom), COPY(max_rdd);
	COPY(max_raw_ipv6_qp), COPY(max_raw_ethy_qp);
	COPY(max_mcast_grp), COPY(max_mcast_qp_attach), COPY(max_total_mcast_qp_attach);
}

static void copy_rss_and_tm(struct ibv_device_attr_ex *attr,
			    const struct ib_uverbs_ex_query_device_resp *resp)
{
	COPY(rss_caps.supported_qpts), COPY(rss_caps.max_rwq_indirection_tables);
	COPY(rss_caps.max_rwq_indirection_table_size), COPY(max_wq_type_rq);
	COPY(tm_caps.flags), COPY(tm_caps.max_ops), COPY(tm_caps.max_sge);
	COPY(tm_caps.max_num_tags), COPY(tm_caps.max_rndv_hdr_size);
}

static void copy_ex_attr(struct ibv_device_attr_ex *attr,
			 const struct ib_uverbs_ex_query_device_resp *resp)
{
	COPY(device_cap_flags_ex), COPY(raw_packet_caps), COPY(max_dm_size), COPY(hca_core_clock);
	COPY(odp_caps.general_caps), COPY(xrc_odp_caps);
	COPY(odp_caps.per_transport_caps.rc_odp_caps);
	COPY(odp_caps.per_transport_caps.uc_odp_caps);
	COPY(odp_caps.per_transport_caps.ud_odp_caps);
	attr->completion_timestamp_mask = resp->timestamp_mask;
	attr->cq_mod_caps.max_cq_count = resp->cq_moderation_caps.max_cq_moderation_count;
	attr->cq_mod_caps.max_cq_period = resp->cq_moderation_caps.max_cq_moderation_period;
	attr->phys_port_cnt_ex = resp->base.phys_port_cnt;
	copy_rss_and_tm(attr, resp);
}

VERBS_EXPORT int verbs_cmd_query_device(struct ibv_context *context,
					struct ibv_device_attr_ex *attr, size_t attr_size,
					uint64_t *fw_ver, const struct verbs_udata *udata)
{
	struct ib_uverbs_ex_query_device req = {};
	struct ib_uverbs_ex_query_device_resp resp = {};
	struct ibv_device_attr_ex full = {};
	int ret;

	ret = verbs_cmd_run_write(
		context, IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, &req,
		sizeof(req), &resp, sizeof(resp), udata);
	if (ret) {
		verbs_warn("ibv_query_device %s: %s", context->device->name, strerror(ret));
		return ret;
	}
	copy_identity(&full.orig_attr, &resp.base);
	copy_limits(&full.orig_attr, &resp.base);
	copy_ex_attr(&full, &resp);
	memset(attr, 0, attr_size);
	memcpy(attr, &full, min_of(attr_size, sizeof(full)));
	*fw_ver = resp.base.fw_ver;
	return 0;
}

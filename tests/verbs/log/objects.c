/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - bad calls on address handles, multicast groups, SRQs, XRC domains, windows,
 * re-registration, import and connection options, for verbs-log.
 *
 * Covers: libibverbs/explain/ah.c, util/log.c
 */
#include "log.h"

#include <fcntl.h>
#include <unistd.h>

static bool ah_is_refused(struct log_rig *l, struct ibv_ah_attr attr)
{
	return !ibv_create_ah(l->pair.pd, &attr);
}

static bool ah_port(struct log_rig *l, long port)
{
	return ah_is_refused(l, (struct ibv_ah_attr){ .dlid = 1, .port_num = (uint8_t)port });
}

static bool ah_of_unknown_gid(struct log_rig *l, long unused)
{
	struct ibv_grh grh = { .version_tclass_flow = htobe32(6u << 28), .next_hdr = 0x1b };
	struct ibv_wc wc = { .wc_flags = IBV_WC_GRH };
	struct ibv_ah_attr attr;

	(void)unused;
	grh.dgid.raw[0] = 0xff;
	return ibv_init_ah_from_wc(l->rig.ctx, 1, &wc, &grh, &attr);
}

static bool ah_of_no_header(struct log_rig *l, long first)
{
	struct ibv_grh grh = { .version_tclass_flow = htobe32((uint32_t)first) };
	struct ibv_wc wc = { .wc_flags = IBV_WC_GRH };
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(l->rig.ctx, 1, &wc, &grh, &attr);
}

static bool mcast_of_rc(struct log_rig *l, long lid)
{
	const union ibv_gid group = { .raw = { 0xff, 0x12 } };

	return ibv_attach_mcast(l->fresh, &group, (uint16_t)lid);
}

static bool srq_is_refused(struct log_rig *l, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };

	return !ibv_create_srq(l->pair.pd, &attr);
}

static bool srq_wr(struct log_rig *l, long more)
{
	return srq_is_refused(l, (uint32_t)(l->rig.device.max_srq_wr + more), 1);
}

static bool srq_sge(struct log_rig *l, long more)
{
	return srq_is_refused(l, 1, (uint32_t)(l->rig.device.max_srq_sge + more));
}

static bool srq_mask(struct log_rig *l, long mask)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 1, .max_sge = 1 },
					     .comp_mask = (uint32_t)mask,
					     .srq_type = IBV_SRQT_XRC,
					     .pd = l->pair.pd };

	return !ibv_create_srq_ex(l->rig.ctx, &attr);
}

static bool srq_limit(struct log_rig *l, long limit)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq_attr attr = { .srq_limit = (uint32_t)limit };
	struct ibv_srq *srq = ibv_create_srq(l->pair.pd, &init);
	bool refused;

	MUST(srq);
	refused = ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
	MUST(!ibv_destroy_srq(srq));
	return refused;
}

static bool xrcd_mask(struct log_rig *l, long mask)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = (uint32_t)mask, .fd = -1 };

	return !ibv_open_xrcd(l->rig.ctx, &attr);
}

static bool xrcd_fd(struct log_rig *l, long fd)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = 3, .fd = (int)fd, .oflags = O_CREAT };

	return !ibv_open_xrcd(l->rig.ctx, &attr);
}

static bool mw_type(struct log_rig *l, long type)
{
	return !ibv_alloc_mw(l->pair.pd, (enum ibv_mw_type)type);
}

static bool rereg_flags(struct log_rig *l, long flags)
{
	return ibv_rereg_mr(l->pair.end[0].mr, (int)flags, NULL, NULL, 0, 0);
}

static bool import_fd(struct log_rig *l, long fd)
{
	(void)l;
	return !ibv_import_device((int)fd);
}

static bool import_mr(struct log_rig *l, long handle)
{
	return !ibv_import_mr(l->pair.pd, (uint32_t)handle);
}

static bool cq_mask(struct log_rig *l, long mask)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = (uint32_t)mask };

	return ibv_modify_cq(l->channel_cq, &attr);
}

static bool cq_size(struct log_rig *l, long cqe)
{
	return ibv_resize_cq(l->channel_cq, (int)cqe);
}

static bool ece_vendor(struct log_rig *l, long vendor)
{
	struct ibv_ece ece = { .vendor_id = (uint32_t)vendor };

	return ibv_set_ece(l->fresh, &ece);
}

static bool state_of_9_bits(struct log_rig *l, long state)
{
	struct ibv_qp_attr attr = { .qp_state = (enum ibv_qp_state)state };

	return ibv_modify_qp(l->fresh, &attr, IBV_QP_STATE);
}

const struct log_case object_cases[] = {
	{ "AH port_num", ah_port, 200, { "create_ah", "port_num", "200", "@ports" } },
	{ "AH of an unknown GID", ah_of_unknown_gid, 0, { "init_ah_from_wc", "GID", "table" } },
	{ "AH of no header", ah_of_no_header, 0x12345678, { "init_ah_from_wc", "0x12345678" } },
	{ "multicast of an RC QP", mcast_of_rc, 0xc123, { "attach_mcast", "0xc123", "UD" } },
	{ "SRQ max_wr", srq_wr, 1, { "create_srq", "max_wr", "@max_srq_wr+1", "@max_srq_wr" } },
	{ "SRQ max_sge",
	  srq_sge,
	  1,
	  { "create_srq", "max_sge", "@max_srq_sge+1", "@max_srq_sge" } },
	{ "XRC SRQ without a CQ", srq_mask, 3, { "create_srq_ex", "comp_mask", "0x3", "ATTR_CQ" } },
	{ "SRQ comp_mask", srq_mask, 0x21, { "create_srq_ex", "comp_mask", "0x21" } },
	{ "SRQ limit", srq_limit, 10000, { "modify_srq", "srq_limit", "10000" } },
	{ "XRC domain comp_mask", xrcd_mask, 1, { "open_xrcd", "comp_mask", "0x1", "OFLAGS" } },
	{ "XRC domain fd", xrcd_fd, 12345, { "open_xrcd", "fd", "12345", "open file" } },
	{ "MW type", mw_type, 3, { "alloc_mw", "type", "3", "IBV_MW_TYPE" } },
	{ "rereg flags", rereg_flags, 8, { "rereg_mr", "flags", "0x8" } },
	{ "rereg without a PD", rereg_flags, IBV_REREG_MR_CHANGE_PD, { "rereg_mr", "PD" } },
	{ "import of a closed descriptor",
	  import_fd,
	  12345,
	  { "import_device", "12345", "descriptor" } },
	{ "import of standard output", import_fd, 1, { "import_device", "cmd_fd", "RDMA device" } },
	{ "import of no MR", import_mr, 99999, { "import_mr", "mr_handle", "99999" } },
	{ "CQ attr_mask", cq_mask, 2, { "modify_cq", "attr_mask", "0x2" } },
	{ "CQ size", cq_size, -1, { "resize_cq", "cqe" } },
	{ "ECE of no vendor", ece_vendor, 0, { "set_ece", "vendor_id", "0" } },
	{ "QP state of 9 bits", state_of_9_bits, 0x101, { "modify_qp", "qp_state", "257" } },
	{},
};

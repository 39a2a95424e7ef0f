/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - opens a context, and queries ports and the GID table.
 *
 * uverbs/query_device.c queries the adapter's capabilities.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "softhca/front/process/driver/netdev.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/log.h"

static uint32_t cap_of(const struct uverbs_call *uc, uint32_t field)
{
	return adapter_cap(uc->adapter, field);
}

static uint8_t least_inline(const struct uverbs_call *uc)
{
	if (!adapter_is_roce(uc->adapter))
		return MLX5_USER_INLINE_MODE_NA;
	return fld_get(uc->adapter->eth_caps, ETH_CAP_WQE_INLINE_MODE) ? MLX5_USER_INLINE_MODE_NONE
								       : MLX5_USER_INLINE_MODE_L2;
}

static void fill_ucontext(const struct uverbs_call *uc, struct mlx5_ib_alloc_ucontext_resp *resp)
{
	*resp = (struct mlx5_ib_alloc_ucontext_resp){
		.qp_tab_size = 1u << cap_of(uc, HCA_CAP_LOG_MAX_QP),
		.bf_reg_size = 1u << cap_of(uc, HCA_CAP_LOG_BF_REG_SIZE),
		.tot_bfregs = 0, /* none: UARs are objects, allocated on demand */
		.cache_line_size = 64,
		.max_sq_desc_sz = cap_of(uc, HCA_CAP_MAX_WQE_SZ_SQ),
		.max_rq_desc_sz = cap_of(uc, HCA_CAP_MAX_WQE_SZ_RQ),
		.max_send_wqebb = 1u << cap_of(uc, HCA_CAP_LOG_MAX_QP_SZ),
		.max_recv_wr = 1u << cap_of(uc, HCA_CAP_LOG_MAX_QP_SZ),
		.max_srq_recv_wr = 1u << cap_of(uc, HCA_CAP_LOG_MAX_SRQ_SZ),
		.num_ports = uc->adapter->num_ports,
		.cqe_version = uc->file->cqe_version,
		.eth_min_inline = least_inline(uc),
		.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1,
		.cmds_supp_uhw =
			MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		.log_uar_size = 12,
		.num_uars_per_page = 1,
		.num_dyn_bfregs = UVERBS_FILE_UARS,
	};
}

/* Returns the dump-fill key, which reads as zeroes and drops writes, for programs that have no
 * memory for some data. */
static int fill_dump_mkey(const struct uverbs_call *uc, struct mlx5_ib_alloc_ucontext_resp *resp)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_QUERY_SPECIAL_CONTEXTS_OUT_SIZE];
	int ret;

	if (!cap_of(uc, HCA_CAP_DUMP_FILL_MKEY))
		return 0;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_SPECIAL_CONTEXTS);
	ret = adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	resp->dump_fill_mkey = fld_get(out, QUERY_SPECIAL_CONTEXTS_OUT_DUMP_FILL_MKEY);
	resp->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;
	return 0;
}

/* Reports that the driver supports SQD to RTS, and connection options (ECE) if the adapter has
 * them. */
static void fill_states(const struct uverbs_call *uc, struct mlx5_ib_alloc_ucontext_resp *resp)
{
	resp->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS;
	if (cap_of(uc, HCA_CAP_ECE_SUPPORT))
		resp->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE;
}

static void fill_real_time(const struct uverbs_call *uc, struct mlx5_ib_alloc_ucontext_resp *resp)
{
	if (adapter_has_real_time(uc->adapter))
		resp->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS;
}

static int return_ucontext(struct uverbs_call *uc, uint16_t vectors_id, uint16_t support_id,
			   uint16_t resp_id)
{
	static const uint32_t vectors = NUM_COMP_VECTORS;
	static const uint64_t support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	struct mlx5_ib_alloc_ucontext_resp resp;
	int ret;

	fill_ucontext(uc, &resp);
	fill_states(uc, &resp);
	fill_real_time(uc, &resp);
	ret = fill_dump_mkey(uc, &resp);
	if (ret)
		return ret;
	resp.response_length = uc_response_length(uc, resp_id, sizeof(resp));
	if (uc_out(uc, vectors_id, &vectors, sizeof(vectors)) ||
	    uc_out(uc, support_id, &support, sizeof(support)) ||
	    uc_out(uc, resp_id, &resp, sizeof(resp)))
		return EFAULT;
	return 0;
}

static int check_ucontext(struct uverbs_call *uc, const struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	if (req->reserved0 || req->reserved1 || req->reserved2 || req->comp_mask)
		return EOPNOTSUPP;
	if (!(req->lib_caps & MLX5_LIB_CAP_DYN_UAR) || !(req->lib_caps & MLX5_LIB_CAP_4K_UAR)) {
		log_error("%s: process %d uses a libmlx5 without dynamic UARs: too old",
			  uc->adapter->name, uc->tid);
		return EOPNOTSUPP;
	}
	return 0;
}

/* Refuses device files that grant rights (since Linux 6.15): the driver has none of these. */
static int check_rights(struct uverbs_call *uc)
{
	size_t len = uc_len(uc, UVERBS_ATTR_GET_CONTEXT_FD_ARR);
	struct stat st;
	int fds[256];

	if (!len)
		return 0;
	if (len % sizeof(*fds) || len > sizeof(fds))
		return EINVAL;
	if (uc_in(uc, UVERBS_ATTR_GET_CONTEXT_FD_ARR, fds, len))
		return EFAULT;
	return client_fd_stat(uc->tid, fds[0], &st) ? EBADF : EINVAL;
}

static int get_context(struct uverbs_call *uc)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	uint32_t version = cap_of(uc, HCA_CAP_CQE_VERSION);
	int ret;

	if (uc->file->has_context)
		return EINVAL;
	if (adapter_is_mlx4(uc->adapter)) {
		ret = mlx4_open_context(uc);
		uc->file->has_context = !ret;
		return ret;
	}
	if (uc_len(uc, UVERBS_ATTR_UHW_IN) < sizeof(struct mlx5_ib_alloc_ucontext_req))
		return EINVAL;
	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &req, sizeof(req)))
		return EFAULT;
	ret = check_ucontext(uc, &req);
	if (!ret)
		ret = check_rights(uc);
	if (ret)
		return ret;
	if (req.flags & MLX5_IB_ALLOC_UCTX_DEVX) {
		ret = devx_file_open(uc);
		if (ret)
			return ret;
	}
	uc->file->cqe_version = version < req.max_cqe_version ? version : req.max_cqe_version;
	ret = return_ucontext(uc, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
			      UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, UVERBS_ATTR_UHW_OUT);
	uc->file->has_context = !ret;
	if (ret)
		devx_file_close(uc->file);
	return ret;
}

/* Returns what get_context returned, for a program that inherited the file. */
static int query_context(struct uverbs_call *uc)
{
	return return_ucontext(uc, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
			       UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
			       MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);
}

static int fill_port(struct uverbs_call *uc, unsigned int number,
		     struct ib_uverbs_query_port_resp *resp)
{
	bool roce = adapter_is_roce(uc->adapter);
	struct port_info info;
	int ret = adapter_query_port(uc->adapter, number, &info);

	if (ret)
		return ret;
	*resp = (struct ib_uverbs_query_port_resp){
		.port_cap_flags = info.cap_mask,
		.max_msg_sz = 1u << cap_of(uc, HCA_CAP_LOG_MAX_MSG),
		.bad_pkey_cntr = info.bad_pkeys,
		.qkey_viol_cntr = info.bad_qkeys,
		.gid_tbl_len = info.gid_table_len,
		.pkey_tbl_len = info.pkey_table_len,
		.lid = info.lid,
		.sm_lid = info.sm_lid,
		.state = info.state,
		.max_mtu = info.max_mtu,
		.active_mtu = info.active_mtu,
		.lmc = info.lmc,
		.max_vl_num = roce ? 0 : 1,
		.sm_sl = info.sm_sl,
		.subnet_timeout = info.subnet_timeout,
		.init_type_reply = info.init_type_reply,
		.active_width = info.active_width,
		.active_speed = info.active_speed,
		.phys_state = info.phys_state,
		.link_layer = roce ? 2 : 1,
		.flags = info.grh_required || roce ? IB_UVERBS_QPF_GRH_REQUIRED : 0,
	};
	return 0;
}

static int query_port_ex(struct uverbs_call *uc)
{
	struct ib_uverbs_query_port_resp_ex resp = { 0 };
	uint8_t number;
	int ret = uc_in(uc, UVERBS_ATTR_QUERY_PORT_PORT_NUM, &number, sizeof(number));

	if (!ret)
		ret = fill_port(uc, number, &resp.legacy_resp);
	return ret ? ret : uc_out_padded(uc, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
}

static int query_port_speed(struct uverbs_call *uc)
{
	uint32_t number;
	uint64_t speed;
	int ret;

	if (adapter_is_mlx4(uc->adapter))
		/* Linux has the method, but mlx4's driver does not implement it. */
		return EOPNOTSUPP;
	if (uc_in(uc, UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, &number, sizeof(number)))
		return EFAULT;
	ret = adapter_query_speed(uc->adapter, number, &speed);
	return ret ? ret : uc_out(uc, UVERBS_ATTR_QUERY_PORT_SPEED_RESP, &speed, sizeof(speed));
}

/* Describes a port in the e-switch. There is none, so no field is valid. */
static int query_eswitch_port(struct uverbs_call *uc)
{
	const struct mlx5_ib_uapi_query_port none = { 0 };
	uint32_t number;

	if (uc_in(uc, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, &number, sizeof(number)))
		return EFAULT;
	if (number < 1 || number > uc->adapter->num_ports)
		return EINVAL;
	return uc_out_padded(uc, MLX5_IB_ATTR_QUERY_PORT, &none, sizeof(none));
}

/* Refuses the data direct function (PCI access to other devices' memory), as the adapter has only
 * one function. */
static int get_data_direct_path(struct uverbs_call *uc)
{
	(void)uc;
	return ENODEV;
}

static int query_port(struct uverbs_call *uc)
{
	struct ib_uverbs_query_port_resp resp;
	struct ib_uverbs_query_port cmd;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = fill_port(uc, cmd.port_num, &resp);
	return ret ? ret : uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static void fill_gid(const struct adapter *adapter, const struct gid_entry *gid, unsigned int port,
		     uint32_t index, struct ib_uverbs_gid_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	memcpy(entry->gid, gid->gid, sizeof(gid->gid));
	entry->gid_index = index;
	entry->port_num = port;
	entry->gid_type = gid->kind;
	if (gid->kind != GID_IB)
		entry->netdev_ifindex = netdev_index(adapter, port);
}

static int query_gid_entry(struct uverbs_call *uc)
{
	struct ib_uverbs_gid_entry entry;
	struct gid_entry gid;
	uint32_t port, index, flags;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, &port, sizeof(port)) ||
	    uc_in(uc, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, &index, sizeof(index)) ||
	    uc_in(uc, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	if (flags)
		return EINVAL;
	ret = adapter_query_gid(uc->adapter, port, index, &gid);
	if (ret)
		return ret;
	fill_gid(uc->adapter, &gid, port, index, &entry);
	return uc_out_padded(uc, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry));
}

/* Appends a port's valid entries, from *COUNT on, while there is room. */
static int collect_gids(struct uverbs_call *uc, unsigned int port, uint8_t *entries,
			size_t entry_size, uint64_t room, uint64_t *count)
{
	struct ib_uverbs_gid_entry entry;
	struct port_info info;
	struct gid_entry gid;
	int ret = adapter_query_port(uc->adapter, port, &info);

	for (uint32_t index = 0; !ret && index < info.gid_table_len; index++) {
		if (adapter_query_gid(uc->adapter, port, index, &gid))
			continue;
		if (*count == room)
			return EINVAL;
		fill_gid(uc->adapter, &gid, port, index, &entry);
		memcpy(entries + *count * entry_size, &entry,
		       entry_size < sizeof(entry) ? entry_size : sizeof(entry));
		(*count)++;
	}
	return ret;
}

static int query_gid_table(struct uverbs_call *uc)
{
	size_t bytes = uc_len(uc, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	uint64_t entry_size, count = 0;
	uint32_t flags;
	uint8_t *entries;
	int ret = 0;

	if (uc_in(uc, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, &entry_size, sizeof(entry_size)) ||
	    uc_in(uc, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	if (flags || !entry_size || bytes % entry_size)
		return EINVAL;
	entries = calloc(1, bytes + 1);
	if (!entries)
		return ENOMEM;
	for (unsigned int port = 1; !ret && port <= uc->adapter->num_ports; port++)
		ret = collect_gids(uc, port, entries, entry_size, bytes / entry_size, &count);
	if (!ret)
		ret = uc_out(uc, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries,
			     count * entry_size);
	if (!ret)
		ret = uc_out(uc, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &count,
			     sizeof(count));
	free(entries);
	return ret;
}

static int info_handles(struct uverbs_call *uc)
{
	size_t room = uc_len(uc, UVERBS_ATTR_INFO_HANDLES_LIST) / sizeof(uint32_t);
	const struct uverbs_file *file = uc->file;
	uint32_t *handles, count = 0;
	uint64_t type;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_INFO_OBJECT_ID, &type, sizeof(type)))
		return EFAULT;
	if (type > UINT16_MAX || !room ||
	    uc_len(uc, UVERBS_ATTR_INFO_HANDLES_LIST) % sizeof(uint32_t))
		return EINVAL;
	if (!uc_attr(uc, UVERBS_ATTR_INFO_TOTAL_HANDLES))
		return ENOENT;
	handles = calloc(room + 1, sizeof(*handles));
	if (!handles)
		return ENOMEM;
	for (uint32_t i = 0; i < file->num_objects && count < room; i++)
		if (file->object[i] && file->object[i]->type == type)
			handles[count++] = i;
	ret = uc_out(uc, UVERBS_ATTR_INFO_TOTAL_HANDLES, &count, sizeof(count));
	if (!ret)
		ret = uc_out(uc, UVERBS_ATTR_INFO_HANDLES_LIST, handles, count * sizeof(*handles));
	free(handles);
	return ret;
}

static const struct uverbs_attr get_context_attrs[] = {
	{ UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, ATTR_OUT, OPTIONAL, 4, 4, 0 },
	{ UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, ATTR_OUT, OPTIONAL, 8, 8, 0 },
	{ UVERBS_ATTR_GET_CONTEXT_FD_ARR, ATTR_IN, OPTIONAL, sizeof(int), ANY_SIZE, 0 },
	UHW_ATTRS,
};

static const struct uverbs_attr query_context_attrs[] = {
	{ UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, ATTR_OUT, OPTIONAL, 4, 4, 0 },
	{ UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, ATTR_OUT, OPTIONAL, 8, 8, 0 },
	{ MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, ATTR_OUT, MANDATORY,
	  offsetof(struct mlx5_ib_alloc_ucontext_resp, dump_fill_mkey) + sizeof(uint32_t), ANY_SIZE,
	  0 },
};

static const struct uverbs_attr query_port_attrs[] = {
	{ UVERBS_ATTR_QUERY_PORT_PORT_NUM, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_QUERY_PORT_RESP, ATTR_OUT, MANDATORY,
	  sizeof(struct ib_uverbs_query_port_resp_ex), ANY_SIZE, 0 },
};

static const struct uverbs_attr query_port_speed_attrs[] = {
	{ UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_QUERY_PORT_SPEED_RESP, ATTR_OUT, MANDATORY, 8, 8, 0 },
};

static const struct uverbs_attr query_eswitch_port_attrs[] = {
	{ MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_QUERY_PORT, ATTR_OUT, MANDATORY, sizeof(struct mlx5_ib_uapi_query_port),
	  ANY_SIZE, 0 },
};

static const struct uverbs_attr data_direct_attrs[] = {
	{ MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH, ATTR_OUT, MANDATORY, 0, ANY_SIZE, 0 },
};

static const struct uverbs_attr query_gid_entry_attrs[] = {
	{ UVERBS_ATTR_QUERY_GID_ENTRY_PORT, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, ATTR_IN, MANDATORY, 4, 8, 0 },
	{ UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, ATTR_OUT, MANDATORY,
	  sizeof(struct ib_uverbs_gid_entry), ANY_SIZE, 0 },
};

static const struct uverbs_attr query_gid_table_attrs[] = {
	{ UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
	{ UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, ATTR_OUT, MANDATORY, 0, ANY_SIZE, 0 },
	{ UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, ATTR_OUT, MANDATORY, 8, 8, 0 },
};

static const struct uverbs_attr info_handles_attrs[] = {
	{ UVERBS_ATTR_INFO_OBJECT_ID, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_INFO_TOTAL_HANDLES, ATTR_OUT, OPTIONAL, 4, 4, 0 },
	{ UVERBS_ATTR_INFO_HANDLES_LIST, ATTR_OUT, OPTIONAL, 4, ANY_SIZE, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("GET_CONTEXT", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, get_context,
	       get_context_attrs),
	METHOD("QUERY_CONTEXT", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, query_context,
	       query_context_attrs),
	METHOD("QUERY_PORT", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, query_port_ex,
	       query_port_attrs),
	METHOD("QUERY_PORT_SPEED", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED,
	       query_port_speed, query_port_speed_attrs),
	METHOD("QUERY_GID_ENTRY", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY,
	       query_gid_entry, query_gid_entry_attrs),
	METHOD("QUERY_GID_TABLE", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE,
	       query_gid_table, query_gid_table_attrs),
	METHOD("MLX5_QUERY_PORT", UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT,
	       query_eswitch_port, query_eswitch_port_attrs),
	METHOD("DATA_DIRECT_PATH", UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH,
	       get_data_direct_path, data_direct_attrs),
	METHOD("INFO_HANDLES", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, info_handles,
	       info_handles_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "QUERY_PORT", IB_USER_VERBS_CMD_QUERY_PORT, sizeof(struct ib_uverbs_query_port),
	  sizeof(struct ib_uverbs_query_port_resp), query_port },
};

const struct uverbs_methods device_methods = METHODS(method_table);
const struct uverbs_writes device_writes = METHODS(write_table);

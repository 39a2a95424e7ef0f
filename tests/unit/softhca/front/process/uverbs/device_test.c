/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_test.c - contexts and what programs are told of them; queries of ports, GIDs and handles.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/device.c"

enum { IFINDEX = 7, GIDS = 4, LIB_CAPS = MLX5_LIB_CAP_DYN_UAR | MLX5_LIB_CAP_4K_UAR };

static struct {
	int devx_error, mlx4_error;
	int devx_opened;
	unsigned int mlx4_opened;
	struct port_info port;
	uint64_t speed;
	struct gid_entry gid[GIDS + 1]; /* of each port, if valid */
	bool has_total;                 /* attribute of the number of handles */
	struct mlx5_ib_alloc_ucontext_req_v2 req;
} it;

int devx_file_open(struct uverbs_call *uc)
{
	assert_ptr_equal(uc, &rig.call);
	it.devx_opened += !it.devx_error;
	return it.devx_error;
}

void devx_file_close(struct uverbs_file *file)
{
	assert_ptr_equal(file, &rig.file);
	it.devx_opened = 0;
}

int mlx4_open_context(struct uverbs_call *uc)
{
	assert_ptr_equal(uc, &rig.call);
	it.mlx4_opened++;
	return it.mlx4_error;
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	(void)tid, (void)st;
	return fd == 3 ? 0 : EBADF;
}

struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	assert_int_equal(id, UVERBS_ATTR_INFO_TOTAL_HANDLES);
	return it.has_total ? uc->attr : NULL;
}

uint32_t netdev_index(const struct adapter *adapter, unsigned int port)
{
	assert_ptr_equal(adapter, &rig.adapter);
	return IFINDEX + port;
}

int adapter_query_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	if (port < 1 || port > adapter->num_ports)
		return EINVAL;
	*info = it.port;
	return 0;
}

int adapter_query_speed(struct adapter *adapter, unsigned int port, uint64_t *speed)
{
	*speed = it.speed;
	return port < 1 || port > adapter->num_ports ? EINVAL : 0;
}

int adapter_query_gid(struct adapter *adapter, unsigned int port, uint32_t index,
		      struct gid_entry *entry)
{
	assert_true(port >= 1 && port <= adapter->num_ports);
	if (index >= GIDS)
		return EINVAL;
	*entry = it.gid[index];
	return entry->valid ? 0 : ENODATA;
}

static int device_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	it.has_total = true;
	it.port.gid_table_len = GIDS;
	it.req.lib_caps = LIB_CAPS;
	rig.adapter.num_ports = 2;
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_QP, 10);
	fld_set(rig.adapter.caps, HCA_CAP_CQE_VERSION, 1);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_MSG, 30);
	return 0;
}

static int context_asked(void)
{
	rig_in(UVERBS_ATTR_UHW_IN, &it.req, sizeof(it.req));
	return get_context(&rig.call);
}

static const struct mlx5_ib_alloc_ucontext_resp *context_resp(void)
{
	return rig_out(UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_alloc_ucontext_resp));
}

/* ---- contexts ---- */

static void a_context_tells_what_queues_may_have(void **state)
{
	const struct mlx5_ib_alloc_ucontext_resp *resp;

	(void)state;
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_QP_SZ, 15);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_SRQ_SZ, 12);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_BF_REG_SIZE, 9);
	fld_set(rig.adapter.caps, HCA_CAP_MAX_WQE_SZ_SQ, 1024);
	fld_set(rig.adapter.caps, HCA_CAP_MAX_WQE_SZ_RQ, 512);
	assert_int_equal(context_asked(), 0);
	assert_true(rig.file.has_context);
	resp = context_resp();
	assert_int_equal(resp->qp_tab_size, 1024);
	assert_int_equal(resp->bf_reg_size, 512);
	assert_int_equal(resp->tot_bfregs, 0);
	assert_int_equal(resp->max_sq_desc_sz, 1024);
	assert_int_equal(resp->max_rq_desc_sz, 512);
	assert_int_equal(resp->max_send_wqebb, 1 << 15);
	assert_int_equal(resp->max_recv_wr, 1 << 15);
	assert_int_equal(resp->max_srq_recv_wr, 1 << 12);
	assert_int_equal(resp->num_ports, 2);
	assert_int_equal(resp->num_dyn_bfregs, UVERBS_FILE_UARS);
	assert_int_equal(resp->log_uar_size, 12);
	assert_int_equal(resp->clock_info_versions, 1 << MLX5_IB_CLOCK_INFO_V1);
	assert_int_equal(resp->response_length, sizeof(*resp));
	assert_int_equal(resp->comp_mask, MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS);
	assert_int_equal(rig.commands, 0);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
			 NUM_COMP_VECTORS);
	assert_int_equal(*(const uint64_t *)rig_out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
			 IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
}

static void features_show_as_bits(void **state)
{
	const struct mlx5_ib_alloc_ucontext_resp *resp;

	(void)state;
	fld_set(rig.adapter.caps, HCA_CAP_ECE_SUPPORT, 1);
	fld_set(rig.adapter.caps, HCA_CAP_DUMP_FILL_MKEY, 1);
	assert_int_equal(context_asked(), 0);
	resp = context_resp();
	assert_int_equal(resp->comp_mask, MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS |
						  MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE |
						  MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY);
	assert_int_equal(resp->dump_fill_mkey, rig.number);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_QUERY_SPECIAL_CONTEXTS);
}

static void a_device_that_refuses_its_key_gives_no_context(void **state)
{
	(void)state;
	fld_set(rig.adapter.caps, HCA_CAP_DUMP_FILL_MKEY, 1);
	rig.command_error = EREMOTEIO;
	it.req.flags = MLX5_IB_ALLOC_UCTX_DEVX;
	assert_int_equal(context_asked(), EREMOTEIO);
	assert_false(rig.file.has_context);
	assert_int_equal(it.devx_opened, 0); /* closed again */
}

static void the_inline_mode_is_of_ethernet(void **state)
{
	(void)state;
	assert_int_equal(context_asked(), 0);
	assert_int_equal(context_resp()->eth_min_inline, MLX5_USER_INLINE_MODE_NA);
	rig.file.has_context = false;
	rig.adapter.link_layer = HCA_LINK_ETHERNET;
	assert_int_equal(context_asked(), 0);
	assert_int_equal(context_resp()->eth_min_inline, MLX5_USER_INLINE_MODE_L2);
	rig.file.has_context = false;
	fld_set(rig.adapter.eth_caps, ETH_CAP_WQE_INLINE_MODE, 1);
	assert_int_equal(context_asked(), 0);
	assert_int_equal(context_resp()->eth_min_inline, MLX5_USER_INLINE_MODE_NONE);
}

static void the_lower_cqe_version_is_taken(void **state)
{
	(void)state;
	assert_int_equal(context_asked(), 0);
	assert_int_equal(context_resp()->cqe_version, 0); /* the program's */
	rig.file.has_context = false;
	it.req.max_cqe_version = 2;
	assert_int_equal(context_asked(), 0);
	assert_int_equal(context_resp()->cqe_version, 1); /* the adapter's */
	assert_int_equal(rig.file.cqe_version, 1);
}

static void a_file_has_one_context(void **state)
{
	(void)state;
	assert_int_equal(context_asked(), 0);
	assert_int_equal(context_asked(), EINVAL);
}

static void a_request_is_checked(void **state)
{
	(void)state;
	it.req.lib_caps = MLX5_LIB_CAP_4K_UAR;
	assert_int_equal(context_asked(), EOPNOTSUPP);
	it.req.lib_caps = MLX5_LIB_CAP_DYN_UAR;
	assert_int_equal(context_asked(), EOPNOTSUPP);
	it.req.lib_caps = LIB_CAPS;
	it.req.reserved1 = 1;
	assert_int_equal(context_asked(), EOPNOTSUPP);
	it.req.reserved1 = 0;
	it.req.comp_mask = 1;
	assert_int_equal(context_asked(), EOPNOTSUPP);
	it.req.comp_mask = 0;
	rig.in_refused = UVERBS_ATTR_UHW_IN;
	assert_int_equal(context_asked(), EFAULT);
	rig.in_refused = UINT16_MAX;
	rig_in(UVERBS_ATTR_UHW_IN, &it.req, sizeof(struct mlx5_ib_alloc_ucontext_req) - 1);
	assert_int_equal(get_context(&rig.call), EINVAL);
	assert_false(rig.file.has_context);
}

static void files_that_grant_rights_are_refused(void **state)
{
	int fds[2] = { 3, 4 };

	(void)state;
	rig_in(UVERBS_ATTR_GET_CONTEXT_FD_ARR, fds, sizeof(fds));
	assert_int_equal(context_asked(), EINVAL);
	rig_in(UVERBS_ATTR_GET_CONTEXT_FD_ARR, &fds[1], sizeof(fds[1]));
	assert_int_equal(context_asked(), EBADF);
	rig_in(UVERBS_ATTR_GET_CONTEXT_FD_ARR, &fds[1], sizeof(fds[1]) - 1);
	assert_int_equal(context_asked(), EINVAL);
	rig_in(UVERBS_ATTR_GET_CONTEXT_FD_ARR, fds, sizeof(fds));
	rig.in_refused = UVERBS_ATTR_GET_CONTEXT_FD_ARR;
	assert_int_equal(context_asked(), EFAULT);
}

static void devx_opens_with_the_context_and_closes_with_its_failure(void **state)
{
	(void)state;
	it.req.flags = MLX5_IB_ALLOC_UCTX_DEVX;
	it.devx_error = EPERM;
	assert_int_equal(context_asked(), EPERM);
	it.devx_error = 0;
	rig.out_refused = UVERBS_ATTR_UHW_OUT;
	assert_int_equal(context_asked(), EFAULT);
	assert_int_equal(it.devx_opened, 0);
	assert_false(rig.file.has_context);
	rig.out_refused = UINT16_MAX;
	assert_int_equal(context_asked(), 0);
	assert_int_equal(it.devx_opened, 1);
}

static void mlx4_opens_its_own(void **state)
{
	(void)state;
	rig.identity.kind = HCA_MLX4;
	it.mlx4_error = ENOMEM;
	assert_int_equal(get_context(&rig.call), ENOMEM);
	assert_false(rig.file.has_context);
	it.mlx4_error = 0;
	assert_int_equal(get_context(&rig.call), 0);
	assert_true(rig.file.has_context);
	assert_int_equal(it.mlx4_opened, 2);
}

static void an_heir_is_told_the_same(void **state)
{
	struct mlx5_ib_alloc_ucontext_resp resp;

	(void)state;
	assert_int_equal(context_asked(), 0);
	resp = *context_resp();
	assert_int_equal(query_context(&rig.call), 0);
	assert_memory_equal(&resp, rig_out(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, sizeof(resp)),
			    sizeof(resp));
	rig_out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4);
	rig_out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8);
}

/* ---- ports ---- */

static int port_asked(uint8_t number)
{
	struct ib_uverbs_query_port cmd = { .port_num = number };

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return query_port(&rig.call);
}

static void a_port_is_as_the_adapter_says(void **state)
{
	const struct ib_uverbs_query_port_resp *resp;

	(void)state;
	it.port = (struct port_info){ .cap_mask = 0x1234,
				      .gid_table_len = 8,
				      .pkey_table_len = 9,
				      .lid = 10,
				      .sm_lid = 11,
				      .lmc = 1,
				      .sm_sl = 2,
				      .subnet_timeout = 18,
				      .init_type_reply = 3,
				      .state = 4,
				      .phys_state = 5,
				      .max_mtu = 6,
				      .active_mtu = 7,
				      .active_width = 12,
				      .active_speed = 13,
				      .bad_pkeys = 14,
				      .bad_qkeys = 15 };
	assert_int_equal(port_asked(2), 0);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	assert_int_equal(resp->port_cap_flags, 0x1234);
	assert_int_equal(resp->max_msg_sz, 1 << 30);
	assert_int_equal(resp->gid_tbl_len, 8);
	assert_int_equal(resp->pkey_tbl_len, 9);
	assert_int_equal(resp->lid, 10);
	assert_int_equal(resp->sm_lid, 11);
	assert_int_equal(resp->lmc, 1);
	assert_int_equal(resp->sm_sl, 2);
	assert_int_equal(resp->subnet_timeout, 18);
	assert_int_equal(resp->init_type_reply, 3);
	assert_int_equal(resp->state, 4);
	assert_int_equal(resp->phys_state, 5);
	assert_int_equal(resp->max_mtu, 6);
	assert_int_equal(resp->active_mtu, 7);
	assert_int_equal(resp->active_width, 12);
	assert_int_equal(resp->active_speed, 13);
	assert_int_equal(resp->bad_pkey_cntr, 14);
	assert_int_equal(resp->qkey_viol_cntr, 15);
	assert_int_equal(resp->max_vl_num, 1);
	assert_int_equal(resp->link_layer, 1);
	assert_int_equal(resp->flags, 0);
	assert_int_equal(port_asked(3), EINVAL);
	assert_int_equal(port_asked(0), EINVAL);
}

static void addresses_need_a_grh_on_ethernet_or_where_it_is_required(void **state)
{
	const struct ib_uverbs_query_port_resp_ex *resp;
	uint8_t number = 1;

	(void)state;
	rig_in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, &number, sizeof(number));
	it.port.grh_required = true;
	assert_int_equal(query_port_ex(&rig.call), 0);
	resp = rig_out(UVERBS_ATTR_QUERY_PORT_RESP, sizeof(*resp));
	assert_int_equal(resp->legacy_resp.flags, IB_UVERBS_QPF_GRH_REQUIRED);
	assert_int_equal(resp->legacy_resp.link_layer, 1);
	it.port.grh_required = false;
	rig.adapter.link_layer = HCA_LINK_ETHERNET;
	assert_int_equal(query_port_ex(&rig.call), 0);
	resp = rig_out(UVERBS_ATTR_QUERY_PORT_RESP, sizeof(*resp));
	assert_int_equal(resp->legacy_resp.flags, IB_UVERBS_QPF_GRH_REQUIRED);
	assert_int_equal(resp->legacy_resp.link_layer, 2);
	assert_int_equal(resp->legacy_resp.max_vl_num, 0);
	rig.in_refused = UVERBS_ATTR_QUERY_PORT_PORT_NUM;
	assert_int_equal(query_port_ex(&rig.call), EFAULT);
}

static void mlx4_has_no_speed(void **state)
{
	uint32_t number = 2;

	(void)state;
	it.speed = 4000;
	rig_in(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, &number, sizeof(number));
	assert_int_equal(query_port_speed(&rig.call), 0);
	assert_int_equal(*(const uint64_t *)rig_out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, 8), 4000);
	number = 3;
	rig_in(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, &number, sizeof(number));
	assert_int_equal(query_port_speed(&rig.call), EINVAL);
	rig.identity.kind = HCA_MLX4;
	assert_int_equal(query_port_speed(&rig.call), EOPNOTSUPP);
}

static void a_port_of_no_switch_has_no_valid_field(void **state)
{
	static const struct mlx5_ib_uapi_query_port none;
	uint32_t number;

	(void)state;
	for (number = 0; number < 4; number++) {
		bool is_port = number == 1 || number == 2;

		rig_in(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, &number, sizeof(number));
		assert_int_equal(query_eswitch_port(&rig.call), is_port ? 0 : EINVAL);
	}
	assert_memory_equal(rig_out(MLX5_IB_ATTR_QUERY_PORT, sizeof(none)), &none, sizeof(none));
	assert_int_equal(get_data_direct_path(&rig.call), ENODEV);
}

/* ---- GIDs ---- */

static void gid_made(uint32_t index, enum gid_kind kind, uint8_t byte)
{
	it.gid[index] = (struct gid_entry){ .valid = true, .kind = kind };
	memset(it.gid[index].gid, byte, sizeof(it.gid[index].gid));
}

static int gid_asked(uint32_t port, uint32_t index, uint32_t flags)
{
	rig_in(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, &port, sizeof(port));
	rig_in(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, &index, sizeof(index));
	rig_in(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, &flags, sizeof(flags));
	return query_gid_entry(&rig.call);
}

static void a_gid_has_its_interface(void **state)
{
	const struct ib_uverbs_gid_entry *entry;

	(void)state;
	gid_made(1, GID_IB, 0x11);
	gid_made(2, GID_ROCE_V2, 0x22);
	assert_int_equal(gid_asked(2, 1, 0), 0);
	entry = rig_out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof(*entry));
	assert_memory_equal(entry->gid, it.gid[1].gid, 16);
	assert_int_equal(entry->gid_index, 1);
	assert_int_equal(entry->port_num, 2);
	assert_int_equal(entry->gid_type, GID_IB);
	assert_int_equal(entry->netdev_ifindex, 0);
	assert_int_equal(gid_asked(1, 2, 0), 0);
	entry = rig_out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof(*entry));
	assert_int_equal(entry->gid_type, GID_ROCE_V2);
	assert_int_equal(entry->netdev_ifindex, IFINDEX + 1);
	assert_int_equal(gid_asked(1, 0, 0), ENODATA);
	assert_int_equal(gid_asked(1, GIDS, 0), EINVAL);
	assert_int_equal(gid_asked(1, 2, 1), EINVAL);
	rig.in_refused = UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX;
	assert_int_equal(gid_asked(1, 2, 0), EFAULT);
}

static int table_asked(uint64_t entry_size, unsigned int entries, uint32_t flags)
{
	static const uint8_t room[RIG_ATTR_SIZE];

	rig_in(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, &entry_size, sizeof(entry_size));
	rig_in(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, &flags, sizeof(flags));
	rig_in(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, room, entries * entry_size);
	return query_gid_table(&rig.call);
}

static void a_table_has_the_valid_gids_of_all_ports(void **state)
{
	enum { SIZE = sizeof(struct ib_uverbs_gid_entry) };
	static const uint8_t room[RIG_ATTR_SIZE];
	const struct ib_uverbs_gid_entry *entry;

	(void)state;
	gid_made(0, GID_IB, 0x11);
	gid_made(3, GID_IB, 0x33);
	assert_int_equal(table_asked(SIZE, 5, 0), 0);
	entry = rig_out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 4 * SIZE);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(entry[i].port_num, 1 + i / 2);
		assert_int_equal(entry[i].gid_index, i % 2 * 3);
		assert_int_equal(*(const uint8_t *)entry[i].gid, i % 2 ? 0x33 : 0x11);
	}
	assert_int_equal(
		*(const uint64_t *)rig_out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8), 4);
	assert_int_equal(table_asked(SIZE, 4, 0), 0);
	assert_int_equal(table_asked(SIZE, 3, 0), EINVAL);
	assert_int_equal(table_asked(SIZE, 5, 1), EINVAL);
	assert_int_equal(table_asked(0, 5, 0), EINVAL);
	assert_int_equal(table_asked(SIZE, 5, 0), 0);
	rig_in(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, room, 5 * SIZE + 1);
	assert_int_equal(query_gid_table(&rig.call), EINVAL);
}

static void a_program_of_another_release_has_entries_of_another_size(void **state)
{
	enum { SHORT = 16, LONG = sizeof(struct ib_uverbs_gid_entry) + 8 };
	const uint8_t *entry;

	(void)state;
	gid_made(2, GID_IB, 0x22);
	assert_int_equal(table_asked(SHORT, 4, 0), 0);
	entry = rig_out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 2 * SHORT);
	assert_int_equal(entry[0], 0x22);
	assert_int_equal(entry[SHORT], 0x22);
	assert_int_equal(table_asked(LONG, 3, 0), 0);
	entry = rig_out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 2 * LONG);
	assert_int_equal(entry[LONG], 0x22);
	for (unsigned int i = sizeof(struct ib_uverbs_gid_entry); i < LONG; i++)
		assert_int_equal(entry[i], 0);
}

/* ---- handles ---- */

static int handles_asked(uint64_t type, size_t room)
{
	static const uint8_t bytes[RIG_ATTR_SIZE];

	rig_in(UVERBS_ATTR_INFO_OBJECT_ID, &type, sizeof(type));
	rig_in(UVERBS_ATTR_INFO_HANDLES_LIST, bytes, room);
	return info_handles(&rig.call);
}

static void handles_are_of_one_type_and_as_many_as_fit(void **state)
{
	struct object cq = { .type = UVERBS_OBJECT_CQ }, pd = { .type = UVERBS_OBJECT_PD };
	struct object *objects[] = { &cq, &pd, NULL, &cq, &cq };
	const uint32_t *handles;

	(void)state;
	rig.file.object = objects;
	rig.file.num_objects = 5;
	assert_int_equal(handles_asked(UVERBS_OBJECT_CQ, 16), 0);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_INFO_TOTAL_HANDLES, 4), 3);
	handles = rig_out(UVERBS_ATTR_INFO_HANDLES_LIST, 12);
	assert_int_equal(handles[0], 0);
	assert_int_equal(handles[1], 3);
	assert_int_equal(handles[2], 4);
	assert_int_equal(handles_asked(UVERBS_OBJECT_CQ, 8), 0);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_INFO_TOTAL_HANDLES, 4), 2);
	rig_out(UVERBS_ATTR_INFO_HANDLES_LIST, 8);
	assert_int_equal(handles_asked(UVERBS_OBJECT_CQ, 0), EINVAL);
	assert_int_equal(handles_asked(UVERBS_OBJECT_CQ, 6), EINVAL);
	assert_int_equal(handles_asked(UVERBS_OBJECT_CQ + 0x10000, 8), EINVAL);
	it.has_total = false;
	assert_int_equal(handles_asked(UVERBS_OBJECT_CQ, 8), ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, device_begin, rig_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_context_tells_what_queues_may_have),
		TEST(features_show_as_bits),
		TEST(a_device_that_refuses_its_key_gives_no_context),
		TEST(the_inline_mode_is_of_ethernet),
		TEST(the_lower_cqe_version_is_taken),
		TEST(a_file_has_one_context),
		TEST(a_request_is_checked),
		TEST(files_that_grant_rights_are_refused),
		TEST(devx_opens_with_the_context_and_closes_with_its_failure),
		TEST(mlx4_opens_its_own),
		TEST(an_heir_is_told_the_same),
		TEST(a_port_is_as_the_adapter_says),
		TEST(addresses_need_a_grh_on_ethernet_or_where_it_is_required),
		TEST(mlx4_has_no_speed),
		TEST(a_port_of_no_switch_has_no_valid_field),
		TEST(a_gid_has_its_interface),
		TEST(a_table_has_the_valid_gids_of_all_ports),
		TEST(a_program_of_another_release_has_entries_of_another_size),
		TEST(handles_are_of_one_type_and_as_many_as_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_lengths_test.c - lengths of each command's mailboxes, compared with the kernel's layouts:
 * one byte less is refused with the status that names the mailbox, and the device knows no command
 * that is not listed here. Skips without the kernel's headers.
 *
 * Covers: softhca/device/format/mlx5/cmd/cmd.c
 */
#include <stdio.h>

#ifndef KERNEL_MLX5

int main(void)
{
	printf("skipped: no linux/mlx5/mlx5_ifc.h; install linux-headers-*-common\n");
	return 77;
}

#else

#include "flat.h"
#include "tests/unit/kernel_ifc.h"
#include "prm/mlx5/general_obj.h"
#include "util/bits.h"

enum { ROOM = 16384, OPCODES = 0x1000, OBJECTS = 0x100 };

struct command {
	const char *name;
	uint32_t opcode;
	size_t in, out;
};

/* clang-format off */
#define COMMAND(op, layout) \
	{ #op, MLX5_CMD_OP_##op, IFC_BYTES(layout##_in), IFC_BYTES(layout##_out) }
/* The output ends in a list of at least that many bytes. */
#define LIST(op, layout, bytes) \
	{ #op, MLX5_CMD_OP_##op, IFC_BYTES(layout##_in), IFC_BYTES(layout##_out) + (bytes) }
/* A command whose lengths differ from the kernel's layout */
#define OTHER(op, in, out) \
	{ #op, MLX5_CMD_OP_##op, in, out }
/* clang-format on */

static const struct command commands[] = {
	/* The output is as long as the part of the page that the program knows. */
	OTHER(QUERY_HCA_CAP, 16, 16),
	COMMAND(SET_HCA_CAP, set_hca_cap),
	COMMAND(ENABLE_HCA, enable_hca),
	COMMAND(DISABLE_HCA, disable_hca),
	OTHER(INIT_HCA, 16, 16), /* release 65.0's libmlx5 names no owner, as old drivers */
	COMMAND(TEARDOWN_HCA, teardown_hca),
	COMMAND(QUERY_ISSI, query_issi),
	COMMAND(SET_ISSI, set_issi),
	COMMAND(QUERY_PAGES, query_pages),
	COMMAND(MANAGE_PAGES, manage_pages),
	COMMAND(ALLOC_XRCD, alloc_xrcd),
	COMMAND(DEALLOC_XRCD, dealloc_xrcd),
	COMMAND(CREATE_XRC_SRQ, create_xrc_srq),
	COMMAND(DESTROY_XRC_SRQ, destroy_xrc_srq),
	COMMAND(ARM_XRC_SRQ, arm_xrc_srq),
	COMMAND(QUERY_XRC_SRQ, query_xrc_srq),
	COMMAND(MODIFY_RMP, modify_rmp),
	COMMAND(QUERY_RMP, query_rmp),
	COMMAND(CREATE_RMP, create_rmp),
	COMMAND(DESTROY_RMP, destroy_rmp),
	COMMAND(CREATE_XRQ, create_xrq),
	COMMAND(DESTROY_XRQ, destroy_xrq),
	COMMAND(QUERY_XRQ, query_xrq),
	COMMAND(ARM_RQ, arm_rq),
	COMMAND(ACCESS_REG, access_register),
	COMMAND(QUERY_ADAPTER, query_adapter),
	COMMAND(CREATE_MKEY, create_mkey),
	COMMAND(QUERY_MKEY, query_mkey),
	COMMAND(QUERY_SPECIAL_CONTEXTS, query_special_contexts),
	COMMAND(DESTROY_MKEY, destroy_mkey),
	COMMAND(CREATE_PSV, create_psv),
	COMMAND(DESTROY_PSV, destroy_psv),
	COMMAND(ALLOC_MEMIC, alloc_memic),
	COMMAND(DEALLOC_MEMIC, dealloc_memic),
	COMMAND(MODIFY_MEMIC, modify_memic),
	COMMAND(CREATE_EQ, create_eq),
	COMMAND(QUERY_EQ, query_eq),
	COMMAND(DESTROY_EQ, destroy_eq),
	COMMAND(CREATE_CQ, create_cq),
	COMMAND(QUERY_CQ, query_cq),
	COMMAND(MODIFY_CQ, modify_cq),
	COMMAND(DESTROY_CQ, destroy_cq),
	COMMAND(CREATE_QP, create_qp),
	COMMAND(DESTROY_QP, destroy_qp),
	COMMAND(QUERY_QP, query_qp),
	COMMAND(RST2INIT_QP, rst2init_qp),
	COMMAND(INIT2INIT_QP, init2init_qp),
	COMMAND(INIT2RTR_QP, init2rtr_qp),
	COMMAND(RTR2RTS_QP, rtr2rts_qp),
	COMMAND(RTS2RTS_QP, rts2rts_qp),
	COMMAND(SQD_RTS_QP, sqd2rts_qp),
	COMMAND(SQERR2RTS_QP, sqerr2rts_qp),
	COMMAND(2ERR_QP, qp_2err),
	COMMAND(2RST_QP, qp_2rst),
	COMMAND(CREATE_DCT, create_dct),
	COMMAND(DRAIN_DCT, drain_dct),
	COMMAND(DESTROY_DCT, destroy_dct),
	COMMAND(QUERY_DCT, query_dct),
	COMMAND(ARM_DCT_FOR_KEY_VIOLATION, arm_dct),
	COMMAND(QUERY_VPORT_STATE, query_vport_state),
	COMMAND(SET_ROCE_ADDRESS, set_roce_address),
	COMMAND(QUERY_ROCE_ADDRESS, query_roce_address),
	COMMAND(QUERY_HCA_VPORT_CONTEXT, query_hca_vport_context),
	COMMAND(MODIFY_HCA_VPORT_CONTEXT, modify_hca_vport_context),
	LIST(QUERY_HCA_VPORT_GID, query_hca_vport_gid, 16),
	LIST(QUERY_HCA_VPORT_PKEY, query_hca_vport_pkey, 4),
	COMMAND(MAD_IFC, mad_ifc),
	COMMAND(ATTACH_TO_MCG, attach_to_mcg),
	COMMAND(DETACH_FROM_MCG, detach_from_mcg),
	COMMAND(MODIFY_VPORT_STATE, modify_vport_state),
	COMMAND(QUERY_NIC_VPORT_CONTEXT, query_nic_vport_context),
	COMMAND(MODIFY_NIC_VPORT_CONTEXT, modify_nic_vport_context),
	COMMAND(QUERY_VPORT_COUNTER, query_vport_counter),
	COMMAND(ALLOC_Q_COUNTER, alloc_q_counter),
	COMMAND(QUERY_Q_COUNTER, query_q_counter),
	COMMAND(DEALLOC_Q_COUNTER, dealloc_q_counter),
	COMMAND(CREATE_RQ, create_rq),
	COMMAND(MODIFY_RQ, modify_rq),
	COMMAND(QUERY_RQ, query_rq),
	COMMAND(DESTROY_RQ, destroy_rq),
	COMMAND(CREATE_SQ, create_sq),
	COMMAND(MODIFY_SQ, modify_sq),
	COMMAND(QUERY_SQ, query_sq),
	COMMAND(DESTROY_SQ, destroy_sq),
	COMMAND(SET_PP_RATE_LIMIT, set_pp_rate_limit),
	COMMAND(CREATE_TIS, create_tis),
	COMMAND(MODIFY_TIS, modify_tis),
	COMMAND(QUERY_TIS, query_tis),
	COMMAND(DESTROY_TIS, destroy_tis),
	COMMAND(CREATE_TIR, create_tir),
	COMMAND(MODIFY_TIR, modify_tir),
	COMMAND(QUERY_TIR, query_tir),
	COMMAND(DESTROY_TIR, destroy_tir),
	COMMAND(CREATE_RQT, create_rqt),
	COMMAND(MODIFY_RQT, modify_rqt),
	COMMAND(QUERY_RQT, query_rqt),
	COMMAND(DESTROY_RQT, destroy_rqt),
	COMMAND(CREATE_FLOW_TABLE, create_flow_table),
	COMMAND(MODIFY_FLOW_TABLE, modify_flow_table),
	COMMAND(QUERY_FLOW_TABLE, query_flow_table),
	COMMAND(DESTROY_FLOW_TABLE, destroy_flow_table),
	COMMAND(SET_FLOW_TABLE_ROOT, set_flow_table_root),
	COMMAND(CREATE_FLOW_GROUP, create_flow_group),
	COMMAND(DESTROY_FLOW_GROUP, destroy_flow_group),
	COMMAND(SET_FLOW_TABLE_ENTRY, set_fte),
	COMMAND(QUERY_FLOW_TABLE_ENTRY, query_fte),
	COMMAND(DELETE_FLOW_TABLE_ENTRY, delete_fte),
	COMMAND(ALLOC_FLOW_COUNTER, alloc_flow_counter),
	LIST(QUERY_FLOW_COUNTER, query_flow_counter, 16),
	COMMAND(DEALLOC_FLOW_COUNTER, dealloc_flow_counter),
	COMMAND(ALLOC_MODIFY_HEADER_CONTEXT, alloc_modify_header_context),
	COMMAND(DEALLOC_MODIFY_HEADER_CONTEXT, dealloc_modify_header_context),
	COMMAND(ALLOC_PACKET_REFORMAT_CONTEXT, alloc_packet_reformat_context),
	COMMAND(DEALLOC_PACKET_REFORMAT_CONTEXT, dealloc_packet_reformat_context),
	COMMAND(QUERY_LAG, query_lag),
	COMMAND(SYNC_STEERING, sync_steering),
	/* The length depends on the object; see OBJECTS below. */
	OTHER(CREATE_GENERAL_OBJECT, 16, 16),
	OTHER(MODIFY_GENERAL_OBJECT, 16, 16),
	OTHER(QUERY_GENERAL_OBJECT, 16, 16),
	OTHER(DESTROY_GENERAL_OBJECT, 16, 16),
	COMMAND(ALLOC_PD, alloc_pd),
	COMMAND(DEALLOC_PD, dealloc_pd),
	COMMAND(ALLOC_UAR, alloc_uar),
	COMMAND(DEALLOC_UAR, dealloc_uar),
	COMMAND(NOP, nop),
	COMMAND(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain),
	COMMAND(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain),
	COMMAND(CREATE_UCTX, create_uctx),
	COMMAND(DESTROY_UCTX, destroy_uctx),
	COMMAND(CREATE_UMEM, create_umem),
	COMMAND(DESTROY_UMEM, destroy_umem),
};

/* Sizes of general objects, which the kernel's headers mostly lack, behind the header of 16 bytes:
 * in the command of a creation or change, and in the output of a query. */
static const struct object {
	uint32_t type;
	size_t size;
	bool is_changed, is_queried;
} objects[] = {
	{ 0x08, 64, false, false }, /* SW_ICM */
	{ 0x0a, 128, true, true },  /* FLOW_METER */
	{ 0x24, 128, false, true }, /* ASO_FLOW_METER */
	{ 0x25, 128, false, true }, /* ASO_FIRST_HIT */
	{ 0x31, 128, false, true }, /* ASO_CONNECTIONS */
	{ 0x20, 40, false, true },  /* SAMPLER */
	{ 0x26, 128, true, true },  /* SCHEDULING_ELEMENT */
	{ 0x2c, 16, false, false }, /* RESERVED_QPN */
	{ 0x3a, 48, false, true },  /* AV_QP_MAPPING */
	{ 0x1f, 256, false, true }, /* CRYPTO_LOGIN */
	{ 0x0c, 256, false, true }, /* DEK */
};

static uint8_t in[ROOM], out[ROOM];

static enum prm_status command_status(size_t in_len, size_t out_len)
{
	hca_exec(flat.hca[0], in, in_len, out, out_len);
	return fld_get(out, CMD_OUT_STATUS);
}

static bool is_about_length(enum prm_status status)
{
	return status == PRM_STAT_BAD_INP_LEN_ERR || status == PRM_STAT_BAD_OUTP_LEN_ERR;
}

static void cmd_clear(uint32_t opcode)
{
	memset(in, 0, sizeof(in));
	fld_set(in, CMD_IN_OPCODE, opcode);
}

/* Checks a command with mailboxes of exactly these lengths, and with one byte less. */
static void cmd_check_lengths(const char *name, size_t in_len, size_t out_len)
{
	if (command_status(in_len - 1, ROOM) != PRM_STAT_BAD_INP_LEN_ERR)
		fail_msg("%s: takes a command of %zu bytes", name, in_len - 1);
	if (command_status(in_len, out_len - 1) != PRM_STAT_BAD_OUTP_LEN_ERR)
		fail_msg("%s: takes room for %zu bytes of an answer", name, out_len - 1);
	if (is_about_length(command_status(in_len, out_len)))
		fail_msg("%s: does not take %zu and %zu bytes", name, in_len, out_len);
}

static void a_byte_less_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		cmd_clear(commands[i].opcode);
		cmd_check_lengths(commands[i].name, commands[i].in, commands[i].out);
	}
}

static void nothing_else_is_known(void **state)
{
	size_t listed;

	(void)state;
	for (uint32_t opcode = 0; opcode < OPCODES; opcode++) {
		for (listed = 0; listed < ARRAY_SIZE(commands); listed++)
			if (commands[listed].opcode == opcode)
				break;
		cmd_clear(opcode);
		if (listed == ARRAY_SIZE(commands) &&
		    command_status(ROOM, ROOM) != PRM_STAT_BAD_OP_ERR)
			fail_msg("%#x is no command", opcode);
		else if (listed < ARRAY_SIZE(commands) &&
			 command_status(8, 8) == PRM_STAT_BAD_OP_ERR)
			fail_msg("%#x is a command", opcode);
	}
}

static void clear_object(uint32_t opcode, uint32_t type)
{
	cmd_clear(opcode);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, type);
}

static void objects_have_their_size(void **state)
{
	enum { HEADER = 16 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		const struct object *object = &objects[i];

		clear_object(MLX5_CMD_OP_CREATE_GENERAL_OBJECT, object->type);
		cmd_check_lengths("create", HEADER + object->size, HEADER);
		clear_object(MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, object->type);
		cmd_check_lengths("destroy", HEADER, HEADER);
		clear_object(MLX5_CMD_OP_MODIFY_GENERAL_OBJECT, object->type);
		if (object->is_changed)
			cmd_check_lengths("modify", HEADER + object->size, HEADER);
		else
			assert_int_equal(command_status(ROOM, ROOM), PRM_STAT_BAD_PARAM_ERR);
		clear_object(MLX5_CMD_OP_QUERY_GENERAL_OBJECT, object->type);
		if (object->is_queried)
			cmd_check_lengths("query", HEADER, HEADER + object->size);
		else
			assert_int_equal(command_status(ROOM, ROOM), PRM_STAT_BAD_PARAM_ERR);
	}
}

static void other_objects_are_unknown(void **state)
{
	size_t listed;

	(void)state;
	for (uint32_t type = 0; type < OBJECTS; type++) {
		for (listed = 0; listed < ARRAY_SIZE(objects); listed++)
			if (objects[listed].type == type)
				break;
		if (listed < ARRAY_SIZE(objects))
			continue;
		for (uint32_t op = MLX5_CMD_OP_CREATE_GENERAL_OBJECT;
		     op <= MLX5_CMD_OP_DESTROY_GENERAL_OBJECT; op++) {
			clear_object(op, type);
			assert_int_equal(command_status(ROOM, ROOM), PRM_STAT_BAD_PARAM_ERR);
		}
	}
}

/* clang-format off */
#define NUMBER(op, layout, member)                                             \
	{ #op, MLX5_CMD_OP_##op,                                               \
	  offsetof(struct mlx5_ifc_##layout##_in_bits, member) << 8 |          \
		  sizeof(((struct mlx5_ifc_##layout##_in_bits *)0)->member) }
/* clang-format on */

/* Commands about an object, and the place of its number in FLD() form */
static const struct use {
	const char *name;
	uint32_t opcode, number;
} uses[] = {
	NUMBER(DESTROY_MKEY, destroy_mkey, mkey_index),
	NUMBER(QUERY_MKEY, query_mkey, mkey_index),
	NUMBER(DESTROY_PSV, destroy_psv, psvn),
	NUMBER(DESTROY_CQ, destroy_cq, cqn),
	NUMBER(QUERY_CQ, query_cq, cqn),
	NUMBER(MODIFY_CQ, modify_cq, cqn),
	NUMBER(DESTROY_QP, destroy_qp, qpn),
	NUMBER(QUERY_QP, query_qp, qpn),
	NUMBER(RST2INIT_QP, rst2init_qp, qpn),
	NUMBER(INIT2INIT_QP, init2init_qp, qpn),
	NUMBER(INIT2RTR_QP, init2rtr_qp, qpn),
	NUMBER(RTR2RTS_QP, rtr2rts_qp, qpn),
	NUMBER(RTS2RTS_QP, rts2rts_qp, qpn),
	NUMBER(SQERR2RTS_QP, sqerr2rts_qp, qpn),
	NUMBER(2ERR_QP, qp_2err, qpn),
	NUMBER(2RST_QP, qp_2rst, qpn),
	NUMBER(DESTROY_DCT, destroy_dct, dctn),
	NUMBER(QUERY_DCT, query_dct, dctn),
	NUMBER(DRAIN_DCT, drain_dct, dctn),
	NUMBER(DESTROY_XRC_SRQ, destroy_xrc_srq, xrc_srqn),
	NUMBER(QUERY_XRC_SRQ, query_xrc_srq, xrc_srqn),
	NUMBER(ARM_XRC_SRQ, arm_xrc_srq, xrc_srqn),
	NUMBER(DESTROY_XRQ, destroy_xrq, xrqn),
	NUMBER(QUERY_XRQ, query_xrq, xrqn),
	NUMBER(ARM_RQ, arm_rq, srq_number),
	NUMBER(DESTROY_RMP, destroy_rmp, rmpn),
	NUMBER(QUERY_RMP, query_rmp, rmpn),
	NUMBER(MODIFY_RMP, modify_rmp, rmpn),
	NUMBER(DESTROY_RQ, destroy_rq, rqn),
	NUMBER(QUERY_RQ, query_rq, rqn),
	NUMBER(MODIFY_RQ, modify_rq, rqn),
	NUMBER(DESTROY_SQ, destroy_sq, sqn),
	NUMBER(QUERY_SQ, query_sq, sqn),
	NUMBER(MODIFY_SQ, modify_sq, sqn),
	NUMBER(DESTROY_RQT, destroy_rqt, rqtn),
	NUMBER(QUERY_RQT, query_rqt, rqtn),
	NUMBER(MODIFY_RQT, modify_rqt, rqtn),
	NUMBER(DESTROY_TIR, destroy_tir, tirn),
	NUMBER(QUERY_TIR, query_tir, tirn),
	NUMBER(MODIFY_TIR, modify_tir, tirn),
	NUMBER(DESTROY_TIS, destroy_tis, tisn),
	NUMBER(QUERY_TIS, query_tis, tisn),
	NUMBER(MODIFY_TIS, modify_tis, tisn),
	NUMBER(DEALLOC_PD, dealloc_pd, pd),
	NUMBER(DEALLOC_UAR, dealloc_uar, uar),
	NUMBER(DEALLOC_XRCD, dealloc_xrcd, xrcd),
	NUMBER(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain, transport_domain),
	NUMBER(DEALLOC_Q_COUNTER, dealloc_q_counter, counter_set_id),
	NUMBER(QUERY_Q_COUNTER, query_q_counter, counter_set_id),
	NUMBER(DEALLOC_FLOW_COUNTER, dealloc_flow_counter, flow_counter_id),
	NUMBER(QUERY_FLOW_COUNTER, query_flow_counter, flow_counter_id),
	NUMBER(DEALLOC_MODIFY_HEADER_CONTEXT, dealloc_modify_header_context, modify_header_id),
	NUMBER(DEALLOC_PACKET_REFORMAT_CONTEXT, dealloc_packet_reformat_context,
	       packet_reformat_id),
	NUMBER(DESTROY_UMEM, destroy_umem, umem_id),
	NUMBER(DESTROY_UCTX, destroy_uctx, uid),
	NUMBER(DESTROY_EQ, destroy_eq, eq_number),
	NUMBER(QUERY_EQ, query_eq, eq_number),
};

static void what_is_not_there_is_not_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		uint32_t width = FLD_WIDTH(uses[i].number);

		cmd_clear(uses[i].opcode);
		fld_set(in, uses[i].number, width == 8 ? 0xfe : 0xfffe);
		if (command_status(ROOM, ROOM) != PRM_STAT_BAD_RES_ERR)
			fail_msg("%s of what is not there: status %#x", uses[i].name,
				 (unsigned int)fld_get(out, CMD_OUT_STATUS));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_byte_less_is_refused, flat_setup_lenient,
						flat_teardown),
		cmocka_unit_test_setup_teardown(nothing_else_is_known, flat_setup_lenient,
						flat_teardown),
		cmocka_unit_test_setup_teardown(objects_have_their_size, flat_setup_lenient,
						flat_teardown),
		cmocka_unit_test_setup_teardown(other_objects_are_unknown, flat_setup_lenient,
						flat_teardown),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_not_found, flat_setup_lenient,
						flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

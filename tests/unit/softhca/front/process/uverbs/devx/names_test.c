/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names_test.c - DEVX commands that Linux accepts for each type of object, and the position of the
 * object's number by the kernel's headers; in all other commands, the process front must find no
 * object. Skips without the headers.
 *
 * Covers: softhca/front/process/uverbs/devx/names.c
 */
#include <stdio.h>

#ifndef KERNEL_MLX5

int main(void)
{
	printf("skipped: no linux/mlx5/mlx5_ifc.h; install linux-headers-*-common\n");
	return 77;
}

#else

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/kernel_ifc.h"
#include "softhca/front/process/uverbs/devx/devx.h"
#include "util/bits.h"

enum { OPCODES = 0x1000, ROOM = 1024, NUMBER = 0x54 /* NUMBER fits all fields */, TYPE = 0x26 };

/* Byte position of a member, since a bit is a byte in the kernel's layouts */
#define PLACE(layout, member)                                     \
	(offsetof(struct mlx5_ifc_##layout##_bits, member) << 8 | \
	 sizeof(((struct mlx5_ifc_##layout##_bits *)0)->member))

/* A type of object: the position of its number in the output, or, with OF_COMMAND, in the command;
 * and the destroy command with its length */
static const struct kind {
	const char *name;
	uint32_t create, destroy, made, gone;
	size_t length;
	bool of_command;
} kinds[] = {
#define KIND(make, made_in, made, end, end_in, gone)                                      \
	{                                                                                 \
#make, MLX5_CMD_OP_##make, MLX5_CMD_OP_##end, PLACE(made_in##_out, made), \
			PLACE(end_in##_in, gone), IFC_BYTES(end_in##_in), false           \
	}
#define NAMED(make, end, end_in, gone)                                                     \
	{                                                                                  \
#make, MLX5_CMD_OP_##make, MLX5_CMD_OP_##end, 0, PLACE(end_in##_in, gone), \
			IFC_BYTES(end_in##_in), true                                       \
	}
	KIND(CREATE_MKEY, create_mkey, mkey_index, DESTROY_MKEY, destroy_mkey, mkey_index),
	KIND(CREATE_CQ, create_cq, cqn, DESTROY_CQ, destroy_cq, cqn),
	KIND(CREATE_QP, create_qp, qpn, DESTROY_QP, destroy_qp, qpn),
	KIND(CREATE_DCT, create_dct, dctn, DESTROY_DCT, destroy_dct, dctn),
	KIND(CREATE_XRC_SRQ, create_xrc_srq, xrc_srqn, DESTROY_XRC_SRQ, destroy_xrc_srq, xrc_srqn),
	KIND(CREATE_XRQ, create_xrq, xrqn, DESTROY_XRQ, destroy_xrq, xrqn),
	KIND(CREATE_RMP, create_rmp, rmpn, DESTROY_RMP, destroy_rmp, rmpn),
	KIND(CREATE_SQ, create_sq, sqn, DESTROY_SQ, destroy_sq, sqn),
	KIND(CREATE_RQ, create_rq, rqn, DESTROY_RQ, destroy_rq, rqn),
	KIND(CREATE_RQT, create_rqt, rqtn, DESTROY_RQT, destroy_rqt, rqtn),
	KIND(CREATE_TIR, create_tir, tirn, DESTROY_TIR, destroy_tir, tirn),
	KIND(CREATE_TIS, create_tis, tisn, DESTROY_TIS, destroy_tis, tisn),
	KIND(ALLOC_PD, alloc_pd, pd, DEALLOC_PD, dealloc_pd, pd),
	KIND(ALLOC_XRCD, alloc_xrcd, xrcd, DEALLOC_XRCD, dealloc_xrcd, xrcd),
	KIND(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain, transport_domain,
	     DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain, transport_domain),
	KIND(ALLOC_Q_COUNTER, alloc_q_counter, counter_set_id, DEALLOC_Q_COUNTER, dealloc_q_counter,
	     counter_set_id),
	KIND(ALLOC_FLOW_COUNTER, alloc_flow_counter, flow_counter_id, DEALLOC_FLOW_COUNTER,
	     dealloc_flow_counter, flow_counter_id),
	KIND(ALLOC_MODIFY_HEADER_CONTEXT, alloc_modify_header_context, modify_header_id,
	     DEALLOC_MODIFY_HEADER_CONTEXT, dealloc_modify_header_context, modify_header_id),
	KIND(ALLOC_PACKET_REFORMAT_CONTEXT, alloc_packet_reformat_context, packet_reformat_id,
	     DEALLOC_PACKET_REFORMAT_CONTEXT, dealloc_packet_reformat_context, packet_reformat_id),
	KIND(CREATE_FLOW_TABLE, create_flow_table, table_id, DESTROY_FLOW_TABLE, destroy_flow_table,
	     table_id),
	KIND(CREATE_FLOW_GROUP, create_flow_group, group_id, DESTROY_FLOW_GROUP, destroy_flow_group,
	     group_id),
	KIND(CREATE_SCHEDULING_ELEMENT, create_scheduling_element, scheduling_element_id,
	     DESTROY_SCHEDULING_ELEMENT, destroy_scheduling_element, scheduling_element_id),
	KIND(CREATE_PSV, create_psv, psv0_index, DESTROY_PSV, destroy_psv, psvn),
	{ "CREATE_GENERAL_OBJECT", MLX5_CMD_OP_CREATE_GENERAL_OBJECT,
	  MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, PLACE(general_obj_out_cmd_hdr, obj_id),
	  PLACE(general_obj_in_cmd_hdr, obj_id), IFC_BYTES(general_obj_in_cmd_hdr), false },
	NAMED(SET_FLOW_TABLE_ENTRY, DELETE_FLOW_TABLE_ENTRY, delete_fte, flow_index),
	NAMED(ATTACH_TO_MCG, DETACH_FROM_MCG, detach_from_mcg, qpn),
};

/* Objects that the adapter lacks: Linux passes their commands on, and the adapter refuses them. */
static const uint32_t not_had[] = {
	MLX5_CMD_OP_CREATE_SRQ,
	MLX5_CMD_OP_ADD_VXLAN_UDP_DPORT,
	MLX5_CMD_OP_SET_L2_TABLE_ENTRY,
};

static uint8_t in[ROOM], out[ROOM];

static void cmd_clear(uint32_t opcode)
{
	memset(in, 0, sizeof(in));
	memset(out, 0, sizeof(out));
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, PLACE(general_obj_in_cmd_hdr, obj_type),
		opcode >= MLX5_CMD_OP_CREATE_GENERAL_OBJECT ? TYPE : 0);
}

static const struct kind *kind_of(uint32_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].create == opcode)
			return &kinds[i];
	return NULL;
}

static bool is_not_had(uint32_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(not_had); i++)
		if (not_had[i] == opcode)
			return true;
	return false;
}

static void objects_are_made_by_these(void **state)
{
	(void)state;
	for (uint32_t opcode = 0; opcode < OPCODES; opcode++) {
		bool expect = kind_of(opcode) || is_not_had(opcode);

		cmd_clear(opcode);
		if (opcode == MLX5_CMD_OP_CREATE_PSV)
			fld_set(in, PLACE(create_psv_in, num_psv), 1);
		if (devx_makes_object(in) != expect)
			fail_msg("%#x: %s", opcode, expect ? "makes an object" : "makes none");
	}
	cmd_clear(MLX5_CMD_OP_CREATE_PSV);
	fld_set(in, PLACE(create_psv_in, num_psv), 2);
	assert_false(devx_makes_object(in));
	cmd_clear(MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY);
	fld_set(in, CMD_IN_OP_MOD, 1);
	assert_false(devx_makes_object(in));
}

static void objects_use_up_their_own_kind(void **state)
{
	static const struct {
		uint32_t opcode;
		enum object_kind kind;
	} special[] = {
		{ MLX5_CMD_OP_CREATE_QP, OBJECT_QP },    { MLX5_CMD_OP_CREATE_DCT, OBJECT_DCT },
		{ MLX5_CMD_OP_CREATE_RQ, OBJECT_RQ },    { MLX5_CMD_OP_CREATE_SQ, OBJECT_SQ },
		{ MLX5_CMD_OP_CREATE_CQ, OBJECT_CQ },    { MLX5_CMD_OP_CREATE_RMP, OBJECT_SRQ },
		{ MLX5_CMD_OP_CREATE_XRQ, OBJECT_SRQ },  { MLX5_CMD_OP_CREATE_XRC_SRQ, OBJECT_SRQ },
		{ MLX5_CMD_OP_CREATE_MKEY, OBJECT_KEY }, { MLX5_CMD_OP_ALLOC_PD, OBJECT_PD },
	};

	(void)state;
	for (uint32_t opcode = 0; opcode < OPCODES; opcode++) {
		enum object_kind expect = OBJECT_OTHER;

		for (unsigned int i = 0; i < ARRAY_SIZE(special); i++)
			if (special[i].opcode == opcode)
				expect = special[i].kind;
		cmd_clear(opcode);
		assert_int_equal(devx_kind(in), expect);
	}
}

static void objects_are_destroyed_by_those(void **state)
{
	struct devx_made made;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *kind = &kinds[i];

		cmd_clear(kind->create);
		memset(&made, 0, sizeof(made));
		fld_set(kind->of_command ? in : out, kind->of_command ? kind->gone : kind->made,
			NUMBER);
		if (kind->create == MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY)
			fld_set(in, PLACE(set_fte_in, flow_index), NUMBER);
		devx_describe_made(in, out, &made);
		if (fld_get(made.destroy, CMD_IN_OPCODE) != kind->destroy ||
		    fld_get(made.destroy, kind->gone) != NUMBER || made.destroy_len != kind->length)
			fail_msg("%s: destroyed by %#x of %zu bytes, number %#x", kind->name,
				 (unsigned int)fld_get(made.destroy, CMD_IN_OPCODE),
				 made.destroy_len, (unsigned int)fld_get(made.destroy, kind->gone));
		assert_int_equal(
			made.name,
			devx_name(kind->create,
				  kind->create == MLX5_CMD_OP_CREATE_GENERAL_OBJECT ? TYPE : 0,
				  NUMBER));
	}
}

/* A bulk of flow counters has 128 counters for each bit. */
static void a_command_makes_one_object_or_a_bulk(void **state)
{
	struct devx_made made;

	(void)state;
	for (uint32_t bulk = 0; bulk <= 0x80; bulk = bulk ? 2 * bulk : 1) {
		cmd_clear(MLX5_CMD_OP_ALLOC_FLOW_COUNTER);
		fld_set(in, PLACE(alloc_flow_counter_in, flow_counter_bulk), bulk);
		memset(&made, 0xee, sizeof(made));
		devx_describe_made(in, out, &made);
		assert_int_equal(made.count, bulk ? 128 * bulk : 1);
		cmd_clear(MLX5_CMD_OP_ALLOC_PD); /* which has no bulk field */
		fld_set(in, PLACE(alloc_flow_counter_in, flow_counter_bulk), bulk);
		memset(&made, 0xee, sizeof(made));
		devx_describe_made(in, out, &made);
		assert_int_equal(made.count, 1);
	}
}

struct use {
	uint32_t opcode, create, number;
};

/* clang-format off */
#define USE(op, layout, member, make) \
	{ MLX5_CMD_OP_##op, MLX5_CMD_OP_##make, PLACE(layout##_in, member) }
/* clang-format on */

static const struct use queries[] = {
	USE(QUERY_MKEY, query_mkey, mkey_index, CREATE_MKEY),
	USE(QUERY_CQ, query_cq, cqn, CREATE_CQ),
	USE(QUERY_QP, query_qp, qpn, CREATE_QP),
	USE(QUERY_DCT, query_dct, dctn, CREATE_DCT),
	USE(QUERY_XRC_SRQ, query_xrc_srq, xrc_srqn, CREATE_XRC_SRQ),
	USE(QUERY_XRQ, query_xrq, xrqn, CREATE_XRQ),
	USE(QUERY_XRQ_DC_PARAMS_ENTRY, query_xrq, xrqn, CREATE_XRQ),
	USE(QUERY_XRQ_ERROR_PARAMS, query_xrq, xrqn, CREATE_XRQ),
	USE(QUERY_RMP, query_rmp, rmpn, CREATE_RMP),
	USE(QUERY_SQ, query_sq, sqn, CREATE_SQ),
	USE(QUERY_RQ, query_rq, rqn, CREATE_RQ),
	USE(QUERY_RQT, query_rqt, rqtn, CREATE_RQT),
	USE(QUERY_TIR, query_tir, tirn, CREATE_TIR),
	USE(QUERY_TIS, query_tis, tisn, CREATE_TIS),
	USE(QUERY_Q_COUNTER, query_q_counter, counter_set_id, ALLOC_Q_COUNTER),
	USE(QUERY_FLOW_COUNTER, query_flow_counter, flow_counter_id, ALLOC_FLOW_COUNTER),
	USE(QUERY_FLOW_TABLE, query_flow_table, table_id, CREATE_FLOW_TABLE),
	USE(QUERY_FLOW_GROUP, query_flow_group, group_id, CREATE_FLOW_GROUP),
	USE(QUERY_FLOW_TABLE_ENTRY, query_fte, flow_index, SET_FLOW_TABLE_ENTRY),
	USE(QUERY_SCHEDULING_ELEMENT, query_scheduling_element, scheduling_element_id,
	    CREATE_SCHEDULING_ELEMENT),
	{ MLX5_CMD_OP_QUERY_GENERAL_OBJECT, MLX5_CMD_OP_CREATE_GENERAL_OBJECT,
	  PLACE(general_obj_in_cmd_hdr, obj_id) },
};

static const struct use changes[] = {
	USE(MODIFY_CQ, modify_cq, cqn, CREATE_CQ),
	USE(RST2INIT_QP, rst2init_qp, qpn, CREATE_QP),
	USE(INIT2INIT_QP, init2init_qp, qpn, CREATE_QP),
	USE(INIT2RTR_QP, init2rtr_qp, qpn, CREATE_QP),
	USE(RTR2RTS_QP, rtr2rts_qp, qpn, CREATE_QP),
	USE(RTS2RTS_QP, rts2rts_qp, qpn, CREATE_QP),
	USE(SQERR2RTS_QP, sqerr2rts_qp, qpn, CREATE_QP),
	USE(2ERR_QP, qp_2err, qpn, CREATE_QP),
	USE(2RST_QP, qp_2rst, qpn, CREATE_QP),
	USE(ARM_XRC_SRQ, arm_xrc_srq, xrc_srqn, CREATE_XRC_SRQ),
	USE(ARM_RQ, arm_rq, srq_number, CREATE_RQ),
	USE(ARM_DCT_FOR_KEY_VIOLATION, arm_dct, dct_number, CREATE_DCT),
	USE(ARM_XRQ, arm_xrq, xrqn, CREATE_XRQ),
	USE(SET_XRQ_DC_PARAMS_ENTRY, arm_xrq, xrqn, CREATE_XRQ),
	USE(RELEASE_XRQ_ERROR, arm_xrq, xrqn, CREATE_XRQ),
	USE(MODIFY_XRQ, arm_xrq, xrqn, CREATE_XRQ),
	USE(MODIFY_RMP, modify_rmp, rmpn, CREATE_RMP),
	USE(MODIFY_SQ, modify_sq, sqn, CREATE_SQ),
	USE(MODIFY_RQ, modify_rq, rqn, CREATE_RQ),
	USE(MODIFY_RQT, modify_rqt, rqtn, CREATE_RQT),
	USE(MODIFY_TIR, modify_tir, tirn, CREATE_TIR),
	USE(MODIFY_TIS, modify_tis, tisn, CREATE_TIS),
	USE(MODIFY_FLOW_TABLE, modify_flow_table, table_id, CREATE_FLOW_TABLE),
	USE(SET_FLOW_TABLE_ENTRY, set_fte, flow_index, SET_FLOW_TABLE_ENTRY),
	USE(MODIFY_SCHEDULING_ELEMENT, modify_scheduling_element, scheduling_element_id,
	    CREATE_SCHEDULING_ELEMENT),
	{ MLX5_CMD_OP_MODIFY_GENERAL_OBJECT, MLX5_CMD_OP_CREATE_GENERAL_OBJECT,
	  PLACE(general_obj_in_cmd_hdr, obj_id) },
};

/* Checks the object that NAME_IN finds in each possible command against the list USES. */
static void names_check(uint64_t (*name_in)(const uint8_t *), const struct use *uses, size_t count)
{
	for (uint32_t opcode = 0; opcode < OPCODES; opcode++) {
		uint64_t expect = 0;

		cmd_clear(opcode);
		if (opcode == MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY)
			fld_set(in, CMD_IN_OP_MOD, 1);
		for (size_t i = 0; i < count; i++) {
			if (uses[i].opcode != opcode)
				continue;
			fld_set(in, uses[i].number, NUMBER);
			expect = devx_name(
				uses[i].create,
				uses[i].create == MLX5_CMD_OP_CREATE_GENERAL_OBJECT ? TYPE : 0,
				NUMBER);
		}
		if (name_in(in) != expect)
			fail_msg("%#x is about %#llx, not %#llx", opcode,
				 (unsigned long long)expect, (unsigned long long)name_in(in));
	}
}

static void queries_are_these(void **state)
{
	(void)state;
	names_check(devx_name_in_query, queries, ARRAY_SIZE(queries));
}

/* SQD2RTS is not in the list, as Linux leaves it to verbs. */
static void changes_are_these(void **state)
{
	(void)state;
	names_check(devx_name_in_change, changes, ARRAY_SIZE(changes));
	cmd_clear(MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY);
	fld_set(in, PLACE(set_fte_in, flow_index), NUMBER);
	assert_int_equal(devx_name_in_change(in), 0); /* creates an entry */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_made_by_these),
		cmocka_unit_test(objects_use_up_their_own_kind),
		cmocka_unit_test(objects_are_destroyed_by_those),
		cmocka_unit_test(a_command_makes_one_object_or_a_bulk),
		cmocka_unit_test(queries_are_these),
		cmocka_unit_test(changes_are_these),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

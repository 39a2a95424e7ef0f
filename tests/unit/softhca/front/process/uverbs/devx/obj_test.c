/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * obj_test.c - objects that programs make by commands: which commands are allowed, the command that
 * destroys each, and which objects of verbs a command may name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/devx/obj.c"

enum { REFUSED = EREMOTEIO, ROOM = 1024, OUT = 16, NUMBER = 0x123456, UID = 7 };

static struct {
	uint8_t in[ROOM], out[ROOM];
	size_t in_len;
	int read_error, pass_error;
	unsigned int passed, forgotten, reads, frees;
	enum object_kind kind;
} it;

int devx_command_read(struct uverbs_call *uc, uint16_t in_id, size_t out_len,
		      struct devx_command *command)
{
	assert_ptr_equal(uc, &rig.call);
	(void)in_id;
	(void)out_len;
	it.reads++;
	*command = (struct devx_command){ it.in, it.out, it.in_len, OUT };
	return it.read_error;
}

void devx_command_free(struct devx_command *command)
{
	(void)command;
	it.frees++;
}

int devx_command_pass(struct uverbs_call *uc, struct devx_command *command, uint16_t out_id)
{
	assert_ptr_equal(uc, &rig.call);
	assert_ptr_equal(command->in, it.in);
	assert_true(out_id == MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT ||
		    out_id == MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
	it.passed++;
	return it.pass_error;
}

int adapter_pass(struct adapter *adapter, const void *in, size_t in_len, void *out, size_t out_len)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_ptr_equal(in, it.in);
	assert_int_equal(in_len, it.in_len);
	memset(out, 0, out_len);
	fld_set((uint8_t *)out, FLD(0x8, 23, 0), NUMBER);
	it.passed++;
	return it.pass_error;
}

void devx_event_forget(struct devx_obj *obj)
{
	assert_true(obj->is_watched);
	it.forgotten++;
}

int object_new_kind(size_t size, struct uverbs_file *file, uint16_t type, enum object_kind kind,
		    int (*destroy)(struct object *object, pid_t tid), void *object)
{
	it.kind = kind;
	assert_int_equal(type, MLX5_IB_OBJECT_DEVX_OBJ);
	return object_new(size, file, type, destroy, object);
}

static int obj_begin(void **state)
{
	memset(&it, 0, sizeof(it));
	rig_begin(state);
	rig.file.uid = UID;
	it.in_len = ROOM;
	for (uint32_t i = 0; i < NUM_COMP_VECTORS; i++)
		rig.adapter.comp_eqn[i] = 0x20 + i;
	return 0;
}

static void command_begin(enum prm_opcode opcode)
{
	memset(it.in, 0, sizeof(it.in));
	fld_set(it.in, CMD_IN_OPCODE, opcode);
	fld_set(it.in, CMD_IN_UID, UID);
}

static struct devx_obj *obj_made(enum prm_opcode opcode)
{
	struct devx_obj *obj;

	command_begin(opcode);
	assert_int_equal(obj_create(&rig.call), 0);
	assert_int_equal(it.reads, it.frees);
	obj = (struct devx_obj *)rig.objects[1];
	assert_non_null(obj);
	return obj;
}

static int create_of(enum prm_opcode opcode)
{
	command_begin(opcode);
	return obj_create(&rig.call);
}

static void a_made_object_keeps_its_destruction(void **state)
{
	struct devx_obj *obj = obj_made(PRM_OP_ALLOC_PD);

	(void)state;
	assert_int_equal(it.passed, 1);
	assert_true(obj->made.name == devx_name(PRM_OP_ALLOC_PD, 0, NUMBER));
	assert_int_equal(fld_get(obj->made.destroy, CMD_IN_OPCODE), PRM_OP_DEALLOC_PD);
	assert_memory_equal(rig_out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, OUT), it.out, OUT);
	rig_in_object(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, &obj->base);
	rig.command_error = EBUSY;
	assert_int_equal(obj_destroy_method(&rig.call), EBUSY);
	assert_int_equal(rig.freed, 0);
	rig.command_error = 0;
	assert_int_equal(obj_destroy_method(&rig.call), 0);
	assert_int_equal(rig.commands, 2);
	assert_int_equal(rig.command_len, 16);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_DEALLOC_PD);
	assert_int_equal(fld_get(rig.command, CMD_IN_UID), UID);
	assert_int_equal(fld_get(rig.command, FLD(0x8, 23, 0)), NUMBER);
	assert_int_equal(it.forgotten, 0);
}

static void a_watched_object_is_forgotten_when_it_goes(void **state)
{
	struct devx_obj *obj = obj_made(PRM_OP_ALLOC_PD);

	(void)state;
	obj->is_watched = true;
	rig.command_error = EBUSY;
	assert_int_equal(object_destroy(&obj->base, 0), EBUSY);
	assert_int_equal(it.forgotten, 0);
	/* A dead adapter has no objects any more. */
	rig.adapter.dead = true;
	assert_int_equal(object_destroy(&obj->base, 0), 0);
	assert_int_equal(rig.commands, 1);
	assert_int_equal(it.forgotten, 1);
}

static void a_dc_target_is_drained_first(void **state)
{
	struct devx_obj *obj = obj_made(PRM_OP_CREATE_DCT);

	(void)state;
	drain_target(&rig.adapter, &obj->made);
	assert_int_equal(rig.commands, 1);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_DRAIN_DCT);
	assert_int_equal(fld_get(rig.command, FLD(0x8, 23, 0)), NUMBER);
	assert_int_equal(rig.command_len, 16);
	assert_int_equal(object_destroy(&obj->base, 0), 0);
	assert_int_equal(rig.commands, 3);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_DESTROY_DCT);
}

static void odd_commands_make_nothing(void **state)
{
	(void)state;
	assert_int_equal(create_of(PRM_OP_DEALLOC_PD), EINVAL);
	rig.file.uid = 0;
	assert_int_equal(create_of(PRM_OP_ALLOC_PD), EINVAL);
	rig.file.uid = UID;
	command_begin(PRM_OP_ALLOC_PD);
	fld_set(it.in, GENERAL_OBJ_IN_VHCA_TUNNEL_ID, 1);
	assert_int_equal(obj_create(&rig.call), EINVAL);
	it.in_len = FLD_BYTE(CREATE_MKEY_IN_MKC) + PRM_MKC_SIZE - 1;
	assert_int_equal(create_of(PRM_OP_CREATE_MKEY), EINVAL);
	it.read_error = ENOMEM;
	assert_int_equal(create_of(PRM_OP_ALLOC_PD), ENOMEM);
	assert_int_equal(it.passed, 0);
	assert_int_equal(it.reads, it.frees);
	assert_int_equal(rig.made, rig.freed);
	it.read_error = 0;
	it.in_len++;
	assert_int_equal(create_of(PRM_OP_CREATE_MKEY), 0);
}

static void a_cq_has_an_eq_for_completions(void **state)
{
	uint8_t *cqc = fld_at(it.in, CREATE_CQ_IN_CQC);

	(void)state;
	for (uint32_t eqn = 0x1f; eqn <= 0x20 + NUM_COMP_VECTORS; eqn++) {
		command_begin(PRM_OP_CREATE_CQ);
		fld_set(cqc, CQC_C_EQN, eqn);
		assert_int_equal(obj_create(&rig.call),
				 eqn >= 0x20 && eqn < 0x20 + NUM_COMP_VECTORS ? 0 : ENOENT);
	}
	/* Other objects have no such field. */
	command_begin(PRM_OP_ALLOC_PD);
	fld_set(cqc, CQC_C_EQN, 1);
	assert_int_equal(obj_create(&rig.call), 0);
}

static void a_refusal_of_the_device_is_shown(void **state)
{
	(void)state;
	it.pass_error = REFUSED;
	assert_int_equal(create_of(PRM_OP_ALLOC_PD), REFUSED);
	assert_true(rig_has_out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT));
	rig.out_refused = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT;
	assert_int_equal(create_of(PRM_OP_ALLOC_PD), EFAULT);
	assert_int_equal(rig.made, rig.freed);
	it.pass_error = 0;
	assert_int_equal(create_of(PRM_OP_ALLOC_PD), EFAULT);
	assert_int_equal(rig.made, rig.freed);
	assert_int_equal(rig.commands, 1);
}

static bool object_is(void *object, uint16_t type, enum prm_opcode create, uint32_t number)
{
	((struct object *)object)->type = type;
	assert_false(devx_object_is(object, devx_name((uint16_t)create, 0, number + 1)));
	assert_false(devx_object_is(object, devx_name(PRM_OP_ALLOC_PD, 0, number)));
	return devx_object_is(object, devx_name((uint16_t)create, 0, number));
}

static void objects_of_verbs_have_names(void **state)
{
	struct uverbs_cq cq = { .cqn = 1 };
	struct uverbs_srq srq = { .srqn = 2 };
	struct uverbs_wq wq = { .rqn = 3 };
	struct uverbs_rwq_table table = { .rqtn = 4 };

	(void)state;
	assert_true(object_is(&cq, UVERBS_OBJECT_CQ, PRM_OP_CREATE_CQ, 1));
	srq.type = IB_UVERBS_SRQT_BASIC;
	assert_true(object_is(&srq, UVERBS_OBJECT_SRQ, PRM_OP_CREATE_RMP, 2));
	srq.type = IB_UVERBS_SRQT_XRC;
	assert_true(object_is(&srq, UVERBS_OBJECT_SRQ, PRM_OP_CREATE_XRC_SRQ, 2));
	srq.type = IB_UVERBS_SRQT_TM;
	assert_true(object_is(&srq, UVERBS_OBJECT_SRQ, PRM_OP_CREATE_XRQ, 2));
	assert_true(object_is(&wq, UVERBS_OBJECT_WQ, PRM_OP_CREATE_RQ, 3));
	assert_true(object_is(&table, UVERBS_OBJECT_RWQ_IND_TBL, PRM_OP_CREATE_RQT, 4));
	assert_false(object_is(&cq, UVERBS_OBJECT_PD, PRM_OP_CREATE_CQ, 1));
}

static void a_raw_qp_has_the_names_of_its_parts(void **state)
{
	struct raw_qp raw = { .rqn = 1, .sqn = 2, .tisn = 3, .tirn = 4 };
	struct real_qp real = { .qpn = 9 };
	struct uverbs_qp qp = { .real = &real };

	(void)state;
	assert_true(object_is(&qp, UVERBS_OBJECT_QP, PRM_OP_CREATE_QP, 9));
	real.raw = &raw;
	assert_false(object_is(&qp, UVERBS_OBJECT_QP, PRM_OP_CREATE_QP, 9));
	for (unsigned int i = 0; i < 8; i++) {
		raw.has_rq = i & 1;
		raw.has_sq = i & 2;
		raw.has_tir = i & 4;
		assert_int_equal(object_is(&qp, UVERBS_OBJECT_QP, PRM_OP_CREATE_RQ, 1), raw.has_rq);
		assert_int_equal(object_is(&qp, UVERBS_OBJECT_QP, PRM_OP_CREATE_SQ, 2), raw.has_sq);
		assert_int_equal(object_is(&qp, UVERBS_OBJECT_QP, PRM_OP_CREATE_TIS, 3),
				 raw.has_sq);
		assert_int_equal(object_is(&qp, UVERBS_OBJECT_QP, PRM_OP_CREATE_TIR, 4),
				 raw.has_tir);
	}
}

static void a_bulk_has_consecutive_names(void **state)
{
	struct devx_obj obj = { .made = { .name = 100, .count = 4 } };

	(void)state;
	obj.base.type = MLX5_IB_OBJECT_DEVX_OBJ;
	assert_false(devx_object_is(&obj.base, 99));
	assert_true(devx_object_is(&obj.base, 100));
	assert_true(devx_object_is(&obj.base, 103));
	assert_false(devx_object_is(&obj.base, 104));
}

static void use_begin(enum prm_opcode opcode, struct uverbs_cq *cq, uint32_t number)
{
	cq->base.type = UVERBS_OBJECT_CQ;
	rig_in_object(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, &cq->base);
	rig_in_object(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, &cq->base);
	command_begin(opcode);
	fld_set(it.in, FLD(0x8, 23, 0), number);
	it.passed = 0;
}

static void check_uses(enum prm_opcode opcode, int (*method)(struct uverbs_call *uc))
{
	struct uverbs_cq cq = { .cqn = 5 };

	use_begin(opcode, &cq, 5);
	assert_int_equal(method(&rig.call), 0);
	assert_int_equal(it.passed, 1);
	it.pass_error = REFUSED;
	assert_int_equal(method(&rig.call), REFUSED);
	it.pass_error = 0;
	use_begin(opcode, &cq, 6);
	assert_int_equal(method(&rig.call), EINVAL);
	use_begin(PRM_OP_CREATE_CQ, &cq, 5);
	assert_int_equal(method(&rig.call), EINVAL);
	use_begin(opcode, &cq, 5);
	fld_set(it.in, GENERAL_OBJ_IN_VHCA_TUNNEL_ID, 1);
	assert_int_equal(method(&rig.call), EINVAL);
	use_begin(opcode, &cq, 5);
	rig.file.uid = 0;
	assert_int_equal(method(&rig.call), EINVAL);
	rig.file.uid = UID;
	it.read_error = ENOMEM;
	assert_int_equal(method(&rig.call), ENOMEM);
	it.read_error = 0;
	assert_int_equal(it.passed, 0);
	assert_int_equal(it.reads, it.frees);
}

static void queries_name_their_object(void **state)
{
	(void)state;
	check_uses(PRM_OP_QUERY_CQ, obj_query);
}

static void changes_name_their_object(void **state)
{
	(void)state;
	check_uses(PRM_OP_MODIFY_CQ, obj_modify);
	assert_int_equal(fld_get(it.in, MODIFY_CQ_IN_CQ_UMEM_VALID), 0); /* the last was refused */
}

static void rings_are_in_user_memory(void **state)
{
	struct uverbs_cq cq = { .cqn = 5 };
	uint8_t *cqc = fld_at(it.in, CREATE_CQ_IN_CQC);

	(void)state;
	use_begin(PRM_OP_MODIFY_CQ, &cq, 5);
	assert_int_equal(obj_modify(&rig.call), 0);
	assert_int_equal(fld_get(it.in, MODIFY_CQ_IN_CQ_UMEM_VALID), 1);
	command_begin(PRM_OP_CREATE_CQ);
	fld_set(cqc, CQC_C_EQN, 0x20);
	assert_int_equal(obj_create(&rig.call), 0);
	assert_int_equal(fld_get(it.in, CREATE_CQ_IN_CQ_UMEM_VALID), 1);
	assert_int_equal(fld_get(cqc, CQC_DBR_UMEM_VALID), 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, obj_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(a_made_object_keeps_its_destruction),
		CASE(a_watched_object_is_forgotten_when_it_goes),
		CASE(a_dc_target_is_drained_first),
		CASE(odd_commands_make_nothing),
		CASE(a_cq_has_an_eq_for_completions),
		CASE(a_refusal_of_the_device_is_shown),
		CASE(objects_of_verbs_have_names),
		CASE(a_raw_qp_has_the_names_of_its_parts),
		CASE(a_bulk_has_consecutive_names),
		CASE(queries_name_their_object),
		CASE(changes_name_their_object),
		CASE(rings_are_in_user_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

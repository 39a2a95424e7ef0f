/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_test.c - matchers, flows and their actions in the device's format: the commands that the
 * kernel gets of them, attribute by attribute, and what is refused without it.
 *
 * The attributes and their order are those that the distribution's libmlx5 was seen to send.
 *
 * Covers: providers/mlx5/dv/flow.c, providers/mlx5/dv/flow_action.c
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/dv/devx.h"
#include "tests/unit/libibverbs/fake_kernel.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

/* Older programs call this symbol, whose actions have 16 bytes, so the old layout stays. */
#undef mlx5dv_create_flow
struct ibv_flow *mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
				    struct mlx5dv_flow_match_parameters *value, size_t num_actions,
				    struct mlx5dv_flow_action_attr actions[]);

enum { VALUE = 12, FIRST_HANDLE = 0x51 };

static struct verbs_device device;
static struct mlx5_context *context;
static struct mlx5dv_flow_match_parameters *match;
static struct mlx5dv_flow_matcher *matcher;

static struct mlx5dv_flow_match_parameters *match_of(size_t size)
{
	struct mlx5dv_flow_match_parameters *of = calloc(1, sizeof(*of) + 16);

	assert_non_null(of);
	of->match_sz = size;
	count_bytes(of->match_buf, size < 16 ? size : 16);
	return of;
}

static struct ibv_context *ctx(void)
{
	return &context->vctx.context;
}

static struct mlx5dv_flow_matcher_attr plain_attr(void)
{
	return (struct mlx5dv_flow_matcher_attr){ .type = IBV_FLOW_ATTR_NORMAL,
						  .priority = 0x102,
						  .match_criteria_enable = 3,
						  .match_mask = match };
}

static void expect_new(uint16_t handle)
{
	static uint16_t news[2] = { 0, 0xffff };

	news[0] = handle;
	expect(NULL, news);
}

static void matcher_open(void)
{
	struct mlx5dv_flow_matcher_attr attr = plain_attr();

	expect_new(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	matcher = mlx5dv_create_flow_matcher(ctx(), &attr);
	assert_non_null(matcher);
}

static int open_context(void **state)
{
	(void)state;
	device.info.driver_id = FAKE_DRIVER_ID;
	device.driver = &verbs_provider_mlx5;
	context = calloc(1, sizeof(*context));
	assert_non_null(context);
	assert_int_equal(verbs_context_init(&context->vctx, &device, FAKE_CMD_FD), 0);
	match = match_of(VALUE);
	return 0;
}

static int open_matcher(void **state)
{
	open_context(state);
	matcher_open();
	return 0;
}

static int close_context(void **state)
{
	(void)state;
	provider_cells_destroy(&context->common.cells);
	verbs_context_cleanup(&context->vctx);
	free(context);
	free(match);
	return 0;
}

static int close_matcher(void **state)
{
	expect(NULL, NULL);
	assert_int_equal(mlx5dv_destroy_flow_matcher(matcher), 0);
	assert_string_equal(kernel.text, "1003/1001 1000=51");
	return close_context(state);
}

static void try_matcher(const struct mlx5dv_flow_matcher_attr *attr, const char *want)
{
	struct mlx5dv_flow_matcher_attr copy = *attr;
	struct mlx5dv_flow_matcher *made;

	expect_new(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	made = mlx5dv_create_flow_matcher(ctx(), &copy);
	assert_non_null(made);
	assert_string_equal(kernel.text, want);
	expect(NULL, NULL);
	assert_int_equal(mlx5dv_destroy_flow_matcher(made), 0);
}

#define MASK "1003/1000 1000=new 1001<0102030405060708090a0b0c 1003=1:3 1002=2:102"

static void a_matcher_is_mask_sets_and_priority(void **state)
{
	struct mlx5dv_flow_matcher_attr attr = plain_attr();

	(void)state;
	try_matcher(&attr, MASK);
	attr.ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_TX; /* ignored, as comp_mask lacks the flag */
	attr.ib_port = 2;
	try_matcher(&attr, MASK);
}

static void a_matcher_may_name_table_port_and_flags(void **state)
{
	struct mlx5dv_flow_matcher_attr attr = plain_attr();

	(void)state;
	attr.flags = IBV_FLOW_ATTR_FLAGS_EGRESS;
	try_matcher(&attr, MASK " 1004=8:4");
	attr.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE;
	attr.ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
	try_matcher(&attr, MASK " 1005=8:1 1004=8:4");
	attr.comp_mask |= MLX5DV_FLOW_MATCHER_MASK_IB_PORT;
	attr.ib_port = 2;
	attr.flags = 0;
	try_matcher(&attr, MASK " 1005=8:1 1006=4:2");
}

static void a_short_mask_lies_inside(void **state)
{
	struct mlx5dv_flow_matcher_attr attr = plain_attr();

	(void)state;
	NEEDS_LITTLE_ENDIAN();
	match->match_sz = 4;
	try_matcher(&attr, "1003/1000 1000=new 1001=4:4030201 1003=1:3 1002=2:102");
	match->match_sz = 0;
	try_matcher(&attr, "1003/1000 1000=new 1001=0 1003=1:3 1002=2:102");
}

static void refuse_matcher(const struct mlx5dv_flow_matcher_attr *attr, int err, int calls)
{
	struct mlx5dv_flow_matcher_attr copy = *attr;

	errno = 0;
	assert_null(mlx5dv_create_flow_matcher(ctx(), &copy));
	assert_int_equal(errno, err);
	assert_int_equal(kernel.calls, calls);
}

static void a_matcher_is_refused(void **state)
{
	struct mlx5dv_flow_matcher_attr attr = plain_attr();

	(void)state;
	expect(NULL, NULL);
	attr.comp_mask = 1 << 2;
	refuse_matcher(&attr, EOPNOTSUPP, 0);
	attr = plain_attr();
	attr.type = IBV_FLOW_ATTR_SNIFFER;
	refuse_matcher(&attr, EOPNOTSUPP, 0);
	attr = plain_attr();
	match->match_sz = UINT16_MAX + 1;
	refuse_matcher(&attr, EINVAL, 0);
	match->match_sz = VALUE;
	device.driver = NULL;
	refuse_matcher(&attr, EOPNOTSUPP, 0);
	device.driver = &verbs_provider_mlx5;
	kernel.err = ENOSPC;
	refuse_matcher(&attr, ENOSPC, 1);
}

static void a_matcher_in_use_stays(void **state)
{
	(void)state;
	expect(NULL, NULL);
	kernel.err = EBUSY;
	assert_int_equal(mlx5dv_destroy_flow_matcher(matcher), EBUSY);
}

#define OF_MATCHER "9/1000 1000=new 1001<0102030405060708090a0b0c 1004=51"

static struct ibv_qp qp = { .handle = 0x31 };
static struct mlx5dv_devx_obj object = { .handle = 0x32 };
static struct verbs_flow_action action = { .handle = 0x33 }, other_action = { .handle = 0x34 };

static void flow_end(struct ibv_flow *flow)
{
	assert_ptr_equal(flow->context, ctx());
	assert_int_equal(flow->handle, FIRST_HANDLE);
	dv_give(ctx(), flow);
}

static void try_flow(size_t count, const struct mlx5dv_flow_action_attr *actions, const char *want)
{
	struct mlx5dv_flow_action_attr copy[8];

	for (size_t i = 0; i < count; i++)
		copy[i] = actions[i];
	expect_new(MLX5_IB_ATTR_CREATE_FLOW_HANDLE);
	flow_end(__mlx5dv_create_flow(matcher, match, count, copy, sizeof(copy[0])));
	assert_string_equal(kernel.text, want);
}

#define TRY(want, ...)                                                             \
	do {                                                                       \
		const struct mlx5dv_flow_action_attr actions_[] = { __VA_ARGS__ }; \
		try_flow(ARRAY_SIZE(actions_), actions_, want);                    \
	} while (0)

#define TO_QP                                                     \
	{                                                         \
		.type = MLX5DV_FLOW_ACTION_DEST_IBV_QP, .qp = &qp \
	}
#define TO_OBJECT                                                    \
	{                                                            \
		.type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = &object \
	}
#define DROP                                    \
	{                                       \
		.type = MLX5DV_FLOW_ACTION_DROP \
	}
#define MISS                                            \
	{                                               \
		.type = MLX5DV_FLOW_ACTION_DEFAULT_MISS \
	}
#define TAG                                                           \
	{                                                             \
		.type = MLX5DV_FLOW_ACTION_TAG, .tag_value = 0x123456 \
	}
#define COUNT                                                            \
	{                                                                \
		.type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX, .obj = &object \
	}
#define COUNT_AT                                                                                 \
	{                                                                                        \
		.type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET, .bulk_obj = { &object, 7 } \
	}
#define CHANGE                                                                       \
	{                                                                            \
		.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, .action = &action.action \
	}
#define ANOTHER                                                                            \
	{                                                                                  \
		.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, .action = &other_action.action \
	}

static void a_flow_goes_to_one_place(void **state)
{
	(void)state;
	try_flow(0, NULL, OF_MATCHER);
	TRY(OF_MATCHER " 1002=31", TO_QP);
	TRY(OF_MATCHER " 1003=32", TO_OBJECT);
	TRY(OF_MATCHER " 1009=4:2", DROP);
	TRY(OF_MATCHER " 1009=4:1", MISS);
}

static void actions_keep_their_order(void **state)
{
	(void)state;
	TRY(OF_MATCHER " 1002=31 1006=4:123456", TO_QP, TAG);
	TRY(OF_MATCHER " 1006=4:123456 1002=31", TAG, TO_QP);
	TRY(OF_MATCHER " 1007=4:32 1009=4:2", COUNT, DROP);
	TRY(OF_MATCHER " 1007=4:32 1008=4:7 1002=31", COUNT_AT, TO_QP);
}

static void actions_that_are_objects_are_one_list(void **state)
{
	(void)state;
	NEEDS_LITTLE_ENDIAN();
	TRY(OF_MATCHER " 1002=31 1005=4:33", CHANGE, TO_QP);
	TRY(OF_MATCHER " 1002=31 1005=8:3400000033", CHANGE, TO_QP, ANOTHER);
	TRY(OF_MATCHER " 1005<330000003400000033000000", CHANGE, ANOTHER, CHANGE);
}

struct old_action {
	enum mlx5dv_flow_action_type type;
	struct ibv_qp *qp;
};

static void actions_of_older_programs_are_shorter(void **state)
{
	union {
		uint8_t bytes[2][16];
		uint64_t aligned;
	} old = { .aligned = 0 };
	struct old_action actions[] = { { MLX5DV_FLOW_ACTION_DEST_IBV_QP, &qp },
					{ MLX5DV_FLOW_ACTION_DROP, NULL } };
	uint32_t tag = 5;

	(void)state;
	if (sizeof(struct old_action) != sizeof(old.bytes[0]))
		/* with 32-bit pointers those actions had 8 bytes, so there is nothing to compare */
		skip();
	memcpy(old.bytes[0], &actions[0], sizeof(old.bytes[0]));
	actions[1].type = MLX5DV_FLOW_ACTION_TAG;
	memcpy(old.bytes[1], &actions[1], sizeof(old.bytes[1]));
	memcpy(old.bytes[1] + 8, &tag, sizeof(tag));
	expect_new(MLX5_IB_ATTR_CREATE_FLOW_HANDLE);
	flow_end(mlx5dv_create_flow(matcher, match, 2, (void *)&old));
	assert_string_equal(kernel.text, OF_MATCHER " 1002=31 1006=4:5");
	actions[1].type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET;
	memcpy(old.bytes[1], &actions[1], sizeof(old.bytes[1]));
	expect(NULL, NULL);
	assert_null(mlx5dv_create_flow(matcher, match, 2, (void *)&old));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(kernel.calls, 0);
}

static void refuse_flow(int err, int calls, size_t count,
			const struct mlx5dv_flow_action_attr *actions)
{
	struct mlx5dv_flow_action_attr copy[9];

	memcpy(copy, actions, count * sizeof(copy[0]));
	errno = 0;
	assert_null(__mlx5dv_create_flow(matcher, match, count, copy, sizeof(copy[0])));
	assert_int_equal(errno, err);
	assert_int_equal(kernel.calls, calls);
}

#define REFUSE(err, calls, ...)                                                    \
	do {                                                                       \
		const struct mlx5dv_flow_action_attr actions_[] = { __VA_ARGS__ }; \
		refuse_flow(err, calls, ARRAY_SIZE(actions_), actions_);           \
	} while (0)

static void a_flow_is_refused(void **state)
{
	(void)state;
	expect(NULL, NULL);
	REFUSE(EOPNOTSUPP, 0, TO_QP, TO_QP);
	REFUSE(EOPNOTSUPP, 0, DROP, MISS);
	REFUSE(EOPNOTSUPP, 0, TO_QP, TO_OBJECT);
	REFUSE(EINVAL, 0, TAG, TAG);
	REFUSE(EOPNOTSUPP, 0, COUNT, COUNT_AT);
	REFUSE(EOPNOTSUPP, 0, { .type = MLX5DV_FLOW_ACTION_IBV_COUNTER }, TO_QP);
	REFUSE(EOPNOTSUPP, 0, TO_QP, { .type = (enum mlx5dv_flow_action_type)9 });
	REFUSE(EOPNOTSUPP, 0, CHANGE, CHANGE, CHANGE, CHANGE, CHANGE, CHANGE, CHANGE, CHANGE,
	       CHANGE);
	for (size_t count = 18; count <= 19; count++) { /* 18 are the most */
		errno = 0;
		assert_null(__mlx5dv_create_flow(matcher, match, count, NULL,
						 sizeof(struct mlx5dv_flow_action_attr)));
		assert_int_equal(errno, count == 18 ? EINVAL : EOPNOTSUPP);
	}
	match->match_sz = UINT16_MAX + 1;
	REFUSE(EINVAL, 0, TO_QP);
	match->match_sz = VALUE;
	kernel.err = EPERM;
	REFUSE(EPERM, 1, TO_QP);
}

/* ---- actions as objects ---- */

static void action_end(struct ibv_flow_action *made)
{
	struct verbs_flow_action *vaction = to_vaction(made);

	assert_non_null(made);
	assert_ptr_equal(made->context, ctx());
	assert_int_equal(vaction->handle, FIRST_HANDLE);
	free(vaction);
}

static void changes_are_bytes_for_a_table(void **state)
{
	uint64_t changes[2];

	(void)state;
	count_bytes(changes, sizeof(changes));
	expect_new(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE);
	action_end(mlx5dv_create_flow_action_modify_header(ctx(), sizeof(changes), changes,
							   MLX5DV_FLOW_TABLE_TYPE_NIC_TX));
	assert_string_equal(kernel.text,
			    "d/1000 1000=new 1001<0102030405060708090a0b0c0d0e0f10 1002=8:1");
	errno = 0;
	assert_null(mlx5dv_create_flow_action_modify_header(ctx(), UINT16_MAX + 1, changes,
							    MLX5DV_FLOW_TABLE_TYPE_NIC_RX));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(kernel.calls, 1);
	kernel.err = EOPNOTSUPP;
	assert_null(mlx5dv_create_flow_action_modify_header(ctx(), sizeof(changes), changes,
							    MLX5DV_FLOW_TABLE_TYPE_NIC_RX));
	assert_int_equal(errno, EOPNOTSUPP);
}

#define ENCAPSULATES MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL
#define DECAPSULATES MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2

static void refuse_reformat(size_t size, void *data)
{
	errno = 0;
	assert_null(mlx5dv_create_flow_action_packet_reformat(ctx(), size, data, ENCAPSULATES,
							      MLX5DV_FLOW_TABLE_TYPE_NIC_TX));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(kernel.calls, 1);
}

static void headers_come_or_go(void **state)
{
	uint8_t header[14];

	(void)state;
	count_bytes(header, sizeof(header));
	expect_new(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE);
	action_end(mlx5dv_create_flow_action_packet_reformat(
		ctx(), sizeof(header), header, ENCAPSULATES, MLX5DV_FLOW_TABLE_TYPE_NIC_TX));
	assert_string_equal(kernel.text, "d/1001 1000=new 1003<0102030405060708090a0b0c0d0e "
					 "1001=8:1 1002=8:1");
	expect_new(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE);
	action_end(mlx5dv_create_flow_action_packet_reformat(ctx(), 0, NULL, DECAPSULATES,
							     MLX5DV_FLOW_TABLE_TYPE_NIC_RX));
	assert_string_equal(kernel.text, "d/1001 1000=new 1001=8:0 1002=8:0");
	refuse_reformat(sizeof(header), NULL);
	refuse_reformat(0, header);
	refuse_reformat(UINT16_MAX + 1, header);
}

static void an_action_of_ipsec_has_flags(void **state)
{
	struct ibv_flow_action_esp_attr esp = { .comp_mask = 0 };
	struct mlx5dv_flow_action_esp attr = { .action_flags = 1 };

	(void)state;
	expect_new(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE);
	action_end(mlx5dv_create_flow_action_esp(ctx(), &esp, &attr));
	assert_string_equal(kernel.text, "d/0 000=new");
	attr.comp_mask = MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS;
	expect_new(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE);
	action_end(mlx5dv_create_flow_action_esp(ctx(), &esp, &attr));
	assert_string_equal(kernel.text, "d/0 000=new 1000=8:1");
	attr.comp_mask = 1 << 1;
	errno = 0;
	assert_null(mlx5dv_create_flow_action_esp(ctx(), &esp, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(kernel.calls, 1);
}

#define CONTEXT_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_context, close_context)
#define MATCHER_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_matcher, close_matcher)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONTEXT_TEST(a_matcher_is_mask_sets_and_priority),
		CONTEXT_TEST(a_matcher_may_name_table_port_and_flags),
		CONTEXT_TEST(a_short_mask_lies_inside),
		CONTEXT_TEST(a_matcher_is_refused),
		MATCHER_TEST(a_matcher_in_use_stays),
		MATCHER_TEST(a_flow_goes_to_one_place),
		MATCHER_TEST(actions_keep_their_order),
		MATCHER_TEST(actions_that_are_objects_are_one_list),
		MATCHER_TEST(actions_of_older_programs_are_shorter),
		MATCHER_TEST(a_flow_is_refused),
		CONTEXT_TEST(changes_are_bytes_for_a_table),
		CONTEXT_TEST(headers_come_or_go),
		CONTEXT_TEST(an_action_of_ipsec_has_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

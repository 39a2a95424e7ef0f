/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_test.c - each record of a dump, field by field, of objects filled in by hand; dumps without
 * an object or without a file: a negative errno, and nothing written. Functions of the test stand
 * for the device.
 *
 * Covers: providers/mlx5/dv/dr/dump.c, providers/mlx5/dv/dr/dump_entry.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/array.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/dump_entry.h"
#include "providers/mlx5/dv/dr/meter.h"
#include "providers/mlx5/dv/dr/sampler.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "providers/mlx5/qp/qp.h"

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5dv_dr_domain domain;
	struct mlx5dv_dr_table tables[2];
	struct mlx5dv_dr_matcher matcher;
	bool refuses;
} it;

int __wrap_mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
			 size_t out_len);
int __wrap_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr);

int __wrap_mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
			 size_t out_len)
{
	const uint32_t page = (uint32_t)fld_get((const uint8_t *)in, CMD_IN_OP_MOD);
	uint8_t *cap = fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY);

	assert_ptr_equal(ctx, it.ctx);
	assert_true(in_len >= PRM_CMD_IN_SIZE);
	assert_int_equal(fld_get((const uint8_t *)in, CMD_IN_OPCODE), PRM_OP_QUERY_HCA_CAP);
	memset(out, it.refuses ? 0xff : 0, out_len);
	if (it.refuses)
		return EPERM;
	if (page == (PRM_CAP_GENERAL << 1 | 1)) {
		fld_set(cap, HCA_CAP_VHCA_ID, 0x21);
		fld_set(cap, HCA_CAP_FLEX_PARSER_PROTOCOLS, 0x22);
		fld_set(cap, HCA_CAP_ESWITCH_MANAGER, 1);
		fld_set(cap, HCA_CAP_FLEX_PARSER_ID_ICMP_DW0, 1);
		fld_set(cap, HCA_CAP_FLEX_PARSER_ID_ICMP_DW1, 2);
		fld_set(cap, HCA_CAP_FLEX_PARSER_ID_ICMPV6_DW0, 3);
		fld_set(cap, HCA_CAP_FLEX_PARSER_ID_ICMPV6_DW1, 4);
		return 0;
	}
	assert_int_equal(page, PRM_CAP_FLOW_TABLE << 1 | 1);
	fld_set(cap, FLOW_NIC_CAP_SW_STEERING_RX_DROP_ICM_ADDRESS, 0x123456789a);
	fld_set(cap, FLOW_NIC_CAP_SW_STEERING_TX_DROP_ICM_ADDRESS, 0x23456789ab);
	return 0;
}

int __wrap_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	strcpy(attr->fw_ver, "16.31.1000");
	return 0;
}

static int objects_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	strcpy(it.device.device.dev_name, "uverbs7");
	it.ctx->vctx.context.device = &it.device.device;
	it.domain.context = &it.ctx->vctx.context;
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	it.domain.flags = DR_REFUSES_DUPLICATES;
	pthread_mutex_init(&it.domain.lock, NULL);
	TAILQ_INIT(&it.domain.tables);
	for (int i = 0; i < 2; i++) {
		it.tables[i].domain = &it.domain;
		TAILQ_INSERT_TAIL(&it.domain.tables, &it.tables[i], link);
	}
	it.matcher.table = &it.tables[1];
	it.matcher.priority = 5;
	return 0;
}

static int objects_end(void **state)
{
	(void)state;
	pthread_mutex_destroy(&it.domain.lock);
	free(it.ctx);
	return 0;
}

#define ID(object) ((uint64_t)(uintptr_t)(object))

static uint64_t domain_number(void)
{
	return (uint64_t)(uint32_t)getpid() << 8 | it.domain.type;
}

/* Returns what the dump of OBJECT has after the lines of the objects above it. */
#define DUMP(call, object, lines) dump_tail(dump_open(call(dump_file(), object)), lines)

static char text[4096];
static FILE *out;

static FILE *dump_file(void)
{
	memset(text, 0, sizeof(text));
	out = fmemopen(text, sizeof(text) - 1, "w");
	assert_non_null(out);
	return out;
}

static const char *dump_open(int ret)
{
	assert_int_equal(ret, 0);
	fclose(out);
	return text;
}

static const char *dump_tail(const char *at, unsigned int lines)
{
	while (lines--) {
		at = strchr(at, '\n');
		assert_non_null(at);
		at++;
	}
	return at;
}

static const char *expected(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *expected(const char *format, ...)
{
	static char want[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	return want;
}

enum { DOMAIN_LINES = 7 };

static void a_domain_has_the_devices_capabilities(void **state)
{
	const uint64_t id = domain_number();

	(void)state;
	assert_string_equal(
		DUMP(mlx5dv_dump_dr_domain, &it.domain, 0),
		expected("3000,0x%" PRIx64 ",1,021,0," RDMAKIT_RELEASE ",uverbs7,2,0,0,0,0\n"
			 "3002,0x%" PRIx64 ",0,16.31.1000,0\n"
			 "3004,0x%" PRIx64 ",0x21,0x123456789a,0x23456789ab,0x22,0,1\n"
			 "3001,0x%" PRIx64 ",icmp_dw0,0x1\n"
			 "3001,0x%" PRIx64 ",icmp_dw1,0x2\n"
			 "3001,0x%" PRIx64 ",icmpv6_dw0,0x3\n"
			 "3001,0x%" PRIx64 ",icmpv6_dw1,0x4\n"
			 "3100,0x%" PRIx64 ",0x%" PRIx64 ",0,0\n"
			 "3100,0x%" PRIx64 ",0x%" PRIx64 ",0,0\n",
			 id, id, id, id, id, id, id, ID(&it.tables[0]), id, ID(&it.tables[1]), id));
	it.refuses = true;
	assert_string_equal(DUMP(mlx5dv_dump_dr_domain, &it.domain, 6) + 0,
			    expected("3001,0x%" PRIx64 ",icmpv6_dw1,0x0\n"
				     "3100,0x%" PRIx64 ",0x%" PRIx64 ",0,0\n"
				     "3100,0x%" PRIx64 ",0x%" PRIx64 ",0,0\n",
				     id, ID(&it.tables[0]), id, ID(&it.tables[1]), id));
	assert_string_equal(
		DUMP(mlx5dv_dump_dr_table, &it.tables[0], DOMAIN_LINES),
		expected("3100,0x%" PRIx64 ",0x%" PRIx64 ",0,0\n", ID(&it.tables[0]), id));
	assert_string_equal(DUMP(mlx5dv_dump_dr_matcher, &it.matcher, DOMAIN_LINES + 1),
			    expected("3200,0x%" PRIx64 ",0x%" PRIx64 ",5\n", ID(&it.matcher),
				     ID(&it.tables[1])));
}

static void a_domain_has_pools_and_a_format(void **state)
{
	struct dr_lists lists = { .memory = { .lock = PTHREAD_MUTEX_INITIALIZER, .num_pools = 3 } };
	struct dr_soft soft = {
		.caps = { .format = 1 },
		.memory = { .lock = PTHREAD_MUTEX_INITIALIZER, .num_pools = 2 },
		.anchors.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	(void)state;
	it.domain.soft = &soft;
	for (int of_lists = 0; of_lists <= 3; of_lists += 3) {
		const char *line = expected("3000,0x%" PRIx64 ",1,021,1," RDMAKIT_RELEASE
					    ",uverbs7,2,2,%d,0,1\n",
					    domain_number(), of_lists);

		assert_memory_equal(DUMP(mlx5dv_dump_dr_domain, &it.domain, 0), line, strlen(line));
		soft.lists = &lists;
	}
	it.domain.soft = NULL;
}

static struct mlx5dv_dr_rule *rule;

/* Fails unless the rule with this action has this line, which begins with the numbers of the
 * record, the action and the rule. */
static void check_action(struct mlx5dv_dr_action *action, unsigned int record, const char *fields)
{
	char line[256];

	rule->actions[0] = action;
	action->domain = &it.domain;
	snprintf(line, sizeof(line), "%u,0x%" PRIx64 ",0x%" PRIx64 "%s\n", record, ID(action),
		 ID(rule), fields);
	assert_string_equal(DUMP(mlx5dv_dump_dr_rule, rule, DOMAIN_LINES + 3), line);
}

static int rule_begin(void **state)
{
	objects_begin(state);
	rule = calloc(1, sizeof(*rule) + sizeof(rule->actions[0]));
	assert_non_null(rule);
	rule->matcher = &it.matcher;
	rule->num_actions = 1;
	return 0;
}

static int rule_end(void **state)
{
	free(rule);
	return objects_end(state);
}

static void a_rule_names_its_matcher(void **state)
{
	(void)state;
	rule->num_actions = 0;
	assert_string_equal(
		DUMP(mlx5dv_dump_dr_rule, rule, DOMAIN_LINES + 2),
		expected("3300,0x%" PRIx64 ",0x%" PRIx64 "\n", ID(rule), ID(&it.matcher)));
}

/* An entry above the rule's last one belongs to other rules as well. An entry of actions has no
 * tag, whatever its shadow was before. */
static void a_rule_has_entries(void **state)
{
	enum { POOL = 0x200000, FIRST = 3, LAST = 4, ACTIONS = 9 };
	struct dr_memory memory = { .pools = { { .base = (uint64_t)POOL * PRM_STE_SIZE } } };
	struct dr_lane lane = { .lock = PTHREAD_MUTEX_INITIALIZER, .memory = &memory };
	struct dr_soft_matcher soft = { .end.lane = &lane };
	struct dr_htable top = { .above = NULL };
	struct dr_entry first = { .table = &top, .place = FIRST, .control = { 0x11, 0x22 } };
	struct dr_htable lower = { .above = &first };
	struct dr_entry last = {
		.table = &lower, .place = LAST, .control = { 0x33 }, .tag = { 0x44 }
	};
	struct dr_entry actions = { .place = ACTIONS, .control = { 0x55 }, .tag = { 0x66 } };
	const uint64_t id = ID(rule);

	(void)state;
	rule->num_actions = 0;
	rule->soft = (struct dr_soft_rule){ .last = &last, .actions = &actions };
	it.matcher.soft = &soft;
	for (int is_tx = 0; is_tx < 2; is_tx++) {
		const int record = 3303 + is_tx;

		it.domain.type =
			is_tx ? MLX5DV_DR_DOMAIN_TYPE_NIC_TX : MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
		assert_string_equal(DUMP(mlx5dv_dump_dr_rule, rule, DOMAIN_LINES + 3),
				    expected("%d,0x200003,0x%" PRIx64 ",1122%092d\n"
					     "%d,0x200004,0x%" PRIx64 ",33%062d44%030d\n"
					     "%d,0x200009,0x%" PRIx64 ",55%094d\n",
					     record, id, 0, record, id, 0, 0, record, id, 0));
	}
	it.matcher.soft = NULL;
	rule->soft = (struct dr_soft_rule){ .last = NULL };
}

/* Writes of a dump try the lane's lock: the entries are printed under it, because other threads
 * change the shadows. */
static struct {
	struct dr_lane lane;
	unsigned int locked, unlocked;
} watched;

static ssize_t write_watched(void *cookie, const char *bytes, size_t size)
{
	(void)cookie, (void)bytes;
	if (pthread_mutex_trylock(&watched.lane.lock)) {
		watched.locked++;
	} else {
		watched.unlocked++;
		pthread_mutex_unlock(&watched.lane.lock);
	}
	return (ssize_t)size;
}

static void entries_are_printed_under_the_lock(void **state)
{
	struct dr_memory memory = { .pools = { { .base = 0 } } };
	struct dr_soft_matcher soft = { .end.lane = &watched.lane };
	struct dr_entry actions = { .place = 1 };
	FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_watched });

	(void)state;
	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	pthread_mutex_init(&watched.lane.lock, NULL);
	watched.lane.memory = &memory;
	rule->soft = (struct dr_soft_rule){ .actions = &actions };
	it.matcher.soft = &soft;
	mlx5_dr_dump_entries(file, rule);
	assert_true(watched.locked && !watched.unlocked);
	assert_int_equal(pthread_mutex_trylock(&watched.lane.lock), 0);
	pthread_mutex_unlock(&watched.lane.lock);
	pthread_mutex_destroy(&watched.lane.lock);
	fclose(file);
}

static void actions_without_an_object(void **state)
{
	struct mlx5dv_devx_obj obj = { .id = 0x100 };
	struct mlx5dv_dr_action action = { .kind = DR_ACTION_DROP };

	(void)state;
	check_action(&action, 3403, "");
	action.kind = DR_ACTION_DEFAULT_MISS;
	check_action(&action, 3423, "");
	action.kind = DR_ACTION_POP_VLAN;
	check_action(&action, 3413, "");
	action.kind = DR_ACTION_TAG;
	action.tag = 0xabc;
	check_action(&action, 3407, ",0xabc");
	action.kind = DR_ACTION_PUSH_VLAN;
	action.vlan = 0x81000005;
	check_action(&action, 3412, ",0x81000005");
	action.kind = DR_ACTION_COUNTER;
	action.counter.obj = &obj;
	action.counter.offset = 3;
	check_action(&action, 3406, ",0x103");
	action.kind = DR_ACTION_FIRST_HIT;
	/* the object at creation: neither the offset nor a change of the action shows */
	action.aso = (struct dr_aso){ .first = 0x4040, .words = { 0x12004043 } };
	check_action(&action, 3417, ",0x4040");
	action.kind = DR_ACTION_ASO_METER;
	check_action(&action, 3418, ",0x4040");
	action.kind = DR_ACTION_CONNECTION;
	check_action(&action, 3419, ",0x4040");
}

static void actions_that_lead_somewhere(void **state)
{
	struct mlx5dv_devx_obj obj = { .id = 0x100, .icm = 0x5555 };
	struct dr_soft_table soft = { .number = 0x42 };
	struct ibv_qp qp = { .qp_num = 0x1234 };
	struct dr_array array = { .forward = { .number = 0x43, .address = 0x6666 } };
	struct dr_sampler sampler = {
		.forward = { .number = 0x44 }, .obj = &obj, .address = 0x7777, .next = &it.tables[0]
	};
	struct dr_meter meter = { .obj = &obj, .address = 0x8888, .next = &it.tables[1] };
	struct mlx5dv_dr_action action = { .kind = DR_ACTION_QP, .qp = &qp };

	(void)state;
	check_action(&action, 3404, ",0x1234");
	action.kind = DR_ACTION_TIR;
	action.tir = &obj;
	check_action(&action, 3411, ",0x5555");
	it.tables[0].soft = &soft;
	action.kind = DR_ACTION_TABLE;
	action.table = &it.tables[0];
	check_action(&action, 3405, expected(",0x42,0x%" PRIx64, ID(&it.tables[0])));
	action.kind = DR_ACTION_ARRAY;
	action.array = &array;
	check_action(&action, 3416, ",0x43,0x6666,0x0");
	action.kind = DR_ACTION_SAMPLER;
	action.sampler = &sampler;
	check_action(&action, 3415,
		     expected(",0x%" PRIx64 ",0x44,0x100,0x7777,0x0", ID(&it.tables[0])));
	action.kind = DR_ACTION_METER;
	action.meter = &meter;
	check_action(&action, 3414, expected(",0x%" PRIx64 ",0x100,0x0,0x8888", ID(&it.tables[1])));
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
	check_action(&action, 3414, expected(",0x%" PRIx64 ",0x100,0x8888,0x0", ID(&it.tables[1])));
}

static void changes_of_headers(void **state)
{
	struct ibv_flow_action of_kernel = { 0 };
	struct mlx5dv_dr_action action = { .kind = DR_ACTION_MODIFY_HEADER };

	(void)state;
	check_action(&action, 3402, ",0x0,1,0x0,0x0,0x0");
	action.change.list.number = 0x77;
	action.change.list.count = 2;
	check_action(&action, 3402, ",0x77,0,0x0,0x0,0x0");
	action.change.list.count = 0;
	action.change.action = &of_kernel;
	check_action(&action, 3402, ",0x77,0,0x0,0x0,0x0");
	action.kind = DR_ACTION_REFORMAT;
	action.change.type = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
	check_action(&action, 3409, "");
	action.change.type = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2;
	check_action(&action, 3410, ",0x77");
	action.change.words[1] = 0x99;
	action.change.type = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
	check_action(&action, 3400, ",0x0");
	action.change.action = NULL;
	check_action(&action, 3400, ",0x99");
	action.change.type = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL;
	check_action(&action, 3401, ",0x99");
}

static void a_dump_of_nothing_has_a_negative_errno(void **state)
{
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	assert_int_equal(mlx5dv_dump_dr_domain(file, NULL), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_table(file, NULL), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_matcher(file, NULL), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_rule(file, NULL), -EINVAL);
	assert_int_equal(ftell(file), 0);
	fclose(file);
}

static void a_dump_to_nowhere_has_a_negative_errno(void **state)
{
	static char object[4096]; /* nobody looks at it */

	(void)state;
	assert_int_equal(mlx5dv_dump_dr_domain(NULL, (void *)object), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_table(NULL, (void *)object), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_matcher(NULL, (void *)object), -EINVAL);
	assert_int_equal(mlx5dv_dump_dr_rule(NULL, (void *)object), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_domain_has_the_devices_capabilities,
						objects_begin, objects_end),
		cmocka_unit_test_setup_teardown(a_domain_has_pools_and_a_format, objects_begin,
						objects_end),
		cmocka_unit_test_setup_teardown(a_rule_names_its_matcher, rule_begin, rule_end),
		cmocka_unit_test_setup_teardown(a_rule_has_entries, rule_begin, rule_end),
		cmocka_unit_test_setup_teardown(entries_are_printed_under_the_lock, rule_begin,
						rule_end),
		cmocka_unit_test_setup_teardown(actions_without_an_object, rule_begin, rule_end),
		cmocka_unit_test_setup_teardown(actions_that_lead_somewhere, rule_begin, rule_end),
		cmocka_unit_test_setup_teardown(changes_of_headers, rule_begin, rule_end),
		cmocka_unit_test(a_dump_of_nothing_has_a_negative_errno),
		cmocka_unit_test(a_dump_to_nowhere_has_a_negative_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

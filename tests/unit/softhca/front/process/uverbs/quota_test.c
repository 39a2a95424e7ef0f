/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quota_test.c - how many objects a program may have on a shared adapter, and on its own.
 *
 * Covers: softhca/front/process/uverbs/quota.c, softhca/front/process/object_counts.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "softhca/front/process/uverbs/quota.h"
#include "softhca/front/process/uverbs/uverbs.h"
#include "softhca/log.h"
#include "util/bits.h"

enum { LOG_MAX = 6, PROGRAMS = 8 };

static struct adapter adapter;
static struct uverbs_file file;
static struct client programs[PROGRAMS];
static struct account server, users[2]; /* the server's user, and two others */
static const struct identity mlx5 = { .kind = HCA_MLX5 }, mlx4 = { .kind = HCA_MLX4 };
static unsigned int notes;

void log_print(enum log_level level, const char *format, ...)
{
	assert_int_equal(level, LOG_NOTE);
	assert_non_null(format);
	notes++;
}

/* Every limit is 64, except the one of DCTs. */
static int adapter_prepare(void **state)
{
	(void)state;
	adapter = (struct adapter){ .index = 3, .shared = true, .identity = &mlx5 };
	fld_set(adapter.caps, HCA_CAP_LOG_MAX_RQ, LOG_MAX);
	fld_set(adapter.caps, HCA_CAP_LOG_MAX_SQ, LOG_MAX);
	fld_set(adapter.caps, HCA_CAP_LOG_MAX_QP, LOG_MAX);
	fld_set(adapter.caps, HCA_CAP_LOG_MAX_CQ, LOG_MAX);
	fld_set(adapter.caps, HCA_CAP_LOG_MAX_SRQ, LOG_MAX);
	fld_set(adapter.caps, HCA_CAP_LOG_MAX_MKEY, LOG_MAX);
	fld_set(adapter.caps, HCA_CAP_LOG_MAX_PD, LOG_MAX);
	file = (struct uverbs_file){ .adapter = &adapter };
	for (unsigned int i = 0; i < PROGRAMS; i++)
		programs[i] = (struct client){ .account = &server };
	server = (struct account){ .is_ours = true };
	users[0] = users[1] = (struct account){ .uid = 1000 };
	notes = 0;
	return 0;
}

static struct object object_of(struct client *maker, uint16_t type)
{
	return (struct object){
		.file = &file, .type = type, .kind = quota_kind(&adapter, type), .maker = maker
	};
}

static unsigned int objects_take(struct client *maker, uint16_t type)
{
	struct object object = object_of(maker, type);
	unsigned int taken = 0;

	while (taken <= 1 << LOG_MAX && !quota_take(&object))
		taken++;
	return taken;
}

static void objects_give(struct client *maker, uint16_t type, unsigned int count)
{
	struct object object = object_of(maker, type);

	while (count--)
		quota_give(&object);
}

static void newcomers_get_half_of_the_rest(void **state)
{
	static const unsigned int shares[] = { 32, 16, 8, 4, 2, 1, 1, 0 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(shares); i++)
		assert_int_equal(objects_take(&programs[i], UVERBS_OBJECT_QP), shares[i]);
}

/* Together, the processes of a user get what one process would, and leave half of the rest. */
static void users_share_as_processes_do(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		programs[i].account = &users[0];
	programs[3].account = &users[1];
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_QP), 22); /* of 64: a third */
	assert_int_equal(notes, 1);
	assert_int_equal(objects_take(&programs[1], UVERBS_OBJECT_QP), 7);
	assert_int_equal(objects_take(&programs[2], UVERBS_OBJECT_QP), 2);
	assert_int_equal(notes, 3);
	assert_int_equal(objects_take(&programs[3], UVERBS_OBJECT_QP), 11);
	assert_int_equal(objects_take(&programs[4], UVERBS_OBJECT_QP), 11); /* the server's user */
	assert_int_equal(objects_take(&programs[5], UVERBS_OBJECT_QP), 6);
	objects_give(&programs[0], UVERBS_OBJECT_QP, 22);
	objects_give(&programs[1], UVERBS_OBJECT_QP, 7);
	objects_give(&programs[2], UVERBS_OBJECT_QP, 2);
	objects_give(&programs[3], UVERBS_OBJECT_QP, 11);
	assert_int_equal(users[0].objects[3].of[OBJECT_QP], 0);
	assert_int_equal(users[1].objects[3].of[OBJECT_QP], 0);
	assert_int_equal(server.objects[3].of[OBJECT_QP], 17);
}

static void given_objects_are_free(void **state)
{
	(void)state;
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_CQ), 32);
	assert_int_equal(objects_take(&programs[1], UVERBS_OBJECT_CQ), 16);
	objects_give(&programs[0], UVERBS_OBJECT_CQ, 32);
	assert_int_equal(objects_take(&programs[1], UVERBS_OBJECT_CQ), 16);
	objects_give(&programs[1], UVERBS_OBJECT_CQ, 32);
	assert_int_equal(adapter.objects.of[OBJECT_CQ], 0);
	assert_int_equal(objects_take(&programs[2], UVERBS_OBJECT_CQ), 32);
}

static void kinds_are_counted_apart(void **state)
{
	static const uint16_t apart[] = { UVERBS_OBJECT_QP, UVERBS_OBJECT_CQ, UVERBS_OBJECT_SRQ,
					  UVERBS_OBJECT_MR, UVERBS_OBJECT_PD, UVERBS_OBJECT_WQ };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(apart); i++)
		assert_int_equal(objects_take(&programs[0], apart[i]), 32);
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_MW), 0);
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_AH), (1 << LOG_MAX) + 1);
}

static void work_queues_of_mlx4_are_qps(void **state)
{
	(void)state;
	adapter.identity = &mlx4;
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_QP), 32);
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_WQ), 0);
}

/* An object of DevX has the kind that its maker has found, and shares it with objects of verbs. */
static void objects_of_devx_have_their_own_kind(void **state)
{
	static const struct {
		enum object_kind kind;
		unsigned int left, largest;
	} kinds[] = {
		{ OBJECT_QP, 0, 64 },   { OBJECT_CQ, 32, 64 },
		{ OBJECT_SRQ, 32, 64 }, { OBJECT_SQ, 32, 64 },
		{ OBJECT_RQ, 32, 64 },  { OBJECT_DCT, QUOTA_DCTS / 2, QUOTA_DCTS },
	};
	struct object object = object_of(&programs[0], MLX5_IB_OBJECT_DEVX_OBJ);

	(void)state;
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_QP), 32);
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned int taken = 0;

		object.kind = kinds[i].kind;
		while (taken <= kinds[i].largest && !quota_take(&object))
			taken++;
		assert_int_equal(taken, kinds[i].left);
	}
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_CQ), 0);
}

static void adapters_are_counted_apart(void **state)
{
	static struct adapter other;
	struct object object = object_of(&programs[0], UVERBS_OBJECT_QP);
	static struct uverbs_file others_file = { .adapter = &other };

	(void)state;
	other = adapter;
	other.index = 4;
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_QP), 32);
	object.file = &others_file;
	assert_int_equal(quota_take(&object), 0);
}

static void own_adapter_has_no_quota(void **state)
{
	(void)state;
	adapter.shared = false;
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_QP), (1 << LOG_MAX) + 1);
}

static void refused_objects_are_not_counted(void **state)
{
	struct object object = object_of(&programs[0], UVERBS_OBJECT_PD);

	(void)state;
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_PD), 32);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(quota_take(&object), ENOMEM);
	assert_int_equal(adapter.objects.of[OBJECT_PD], 32);
	assert_int_equal(programs[0].objects[3].of[OBJECT_PD], 32);
	assert_int_equal(notes, 1);
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_CQ), 32);
	assert_int_equal(objects_take(&programs[1], UVERBS_OBJECT_CQ), 16);
	assert_int_equal(notes, 3);
}

/* The front itself makes objects outside of calls. They belong to no program, so no quota limits
 * them. */
static void objects_of_nobody_count(void **state)
{
	(void)state;
	assert_int_equal(objects_take(NULL, UVERBS_OBJECT_QP), (1 << LOG_MAX) + 1);
	assert_int_equal(objects_take(&programs[0], UVERBS_OBJECT_QP), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(newcomers_get_half_of_the_rest, adapter_prepare),
		cmocka_unit_test_setup(users_share_as_processes_do, adapter_prepare),
		cmocka_unit_test_setup(given_objects_are_free, adapter_prepare),
		cmocka_unit_test_setup(kinds_are_counted_apart, adapter_prepare),
		cmocka_unit_test_setup(work_queues_of_mlx4_are_qps, adapter_prepare),
		cmocka_unit_test_setup(objects_of_devx_have_their_own_kind, adapter_prepare),
		cmocka_unit_test_setup(adapters_are_counted_apart, adapter_prepare),
		cmocka_unit_test_setup(own_adapter_has_no_quota, adapter_prepare),
		cmocka_unit_test_setup(refused_objects_are_not_counted, adapter_prepare),
		cmocka_unit_test_setup(objects_of_nobody_count, adapter_prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_test.c - ibv_post_srq_ops(): WQEs of each operation on the tag list, entries of tags,
 * refusals, and lists that are posted up to the first bad request. The rig's QP carries the
 * operations.
 *
 * Covers: providers/mlx5/tm.c mlx5_tm_post mlx5_tm_check_attr mlx5_tm_free
 */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "prm/mlx5/wqe.h"
#include "providers/mlx5/tm.h"

enum { TAGS = 4, WQES = 8, SEG = 16, DATA = 48, NULL_LKEY = 0x777 };

static struct {
	struct rig *rig;
	struct mlx5_srq srq;
	struct mlx5_tm tm;
	struct tm_tag tags[TAGS];
	uint16_t deleting[WQES];
	void *freed[8]; /* the first blocks that a list gave back */
	unsigned int frees;
	bool counts_frees;
} it;

void __real_free(void *block);
void __wrap_free(void *block) __attribute__((visibility("default")));

void __wrap_free(void *block)
{
	if (it.counts_frees && it.frees < ARRAY_SIZE(it.freed))
		it.freed[it.frees++] = block;
	__real_free(block);
}

static int tm_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.rig = rig_new(&(struct rig_options){ .sq_wqebbs = WQES, .max_send = WQES });
	qlock_init(&it.srq.lock, true);
	it.srq.tm = &it.tm;
	it.tm.qp = it.rig->qp;
	it.tm.tags = it.tags;
	it.tm.deleting = it.deleting;
	it.tm.size = TAGS;
	for (uint16_t i = 0; i < TAGS; i++)
		it.tags[i].next = (uint16_t)((i + 1) % TAGS);
	it.tm.tail = TAGS - 1;
	it.tm.null_lkey = NULL_LKEY;
	return 0;
}

static int tm_end(void **state)
{
	(void)state;
	rig_free(it.rig);
	return 0;
}

static int ops_post(struct ibv_ops_wr *wr, struct ibv_ops_wr **bad)
{
	*bad = NULL;
	return mlx5_tm_post(&it.srq.vsrq.srq, wr, bad);
}

static void ops_refused(struct ibv_ops_wr *wr, int error)
{
	uint32_t before = it.rig->qp->sq.pi;
	struct ibv_ops_wr *bad;

	assert_int_equal(ops_post(wr, &bad), error);
	assert_ptr_equal(bad, wr);
	assert_int_equal(it.rig->qp->sq.pi, before);
}

static uint8_t *seg_at(uint32_t pi)
{
	return rig_sq(it.rig, pi) + SEG;
}

static void check_head(uint32_t pi, uint32_t ds)
{
	const uint8_t *ctrl = rig_sq(it.rig, pi);

	assert_int_equal(ctrl[3], MLX5_OPCODE_TAG_MATCHING);
	assert_int_equal(ctrl[2], pi & 0xff);
	assert_int_equal(ctrl[7], ds);
}

static void a_tag_takes_the_first_free_entry(void **state)
{
	char buf[64];
	struct ibv_sge sge = { (uintptr_t)buf, sizeof(buf), 0x99 };
	struct ibv_ops_wr wr = { .wr_id = 5,
				 .opcode = IBV_WR_TAG_ADD,
				 .flags = IBV_OPS_SIGNALED,
				 .tm = { .add = { .recv_wr_id = 6,
						  .sg_list = &sge,
						  .num_sge = 1,
						  .tag = 0x1122334455667788,
						  .mask = 0xfff } } },
			  *bad;
	uint8_t *seg = seg_at(0);

	(void)state;
	assert_int_equal(ops_post(&wr, &bad), 0);
	check_head(0, 4); /* control, tag matching of two, data */
	assert_int_equal(fld_get(seg, TM_SEG_OPCODE), TM_SEG_OP_APPEND);
	assert_int_equal(fld_get(seg, TM_SEG_FLAGS), TM_SEG_FLAG_CQE);
	/* index of the next entry (PRM: append_next_index) */
	assert_int_equal(fld_get(seg, TM_SEG_INDEX), 1);
	assert_true(fld_get(seg, TM_SEG_TAG) == 0x1122334455667788);
	assert_true(fld_get(seg, TM_SEG_MASK) == 0xfff);
	seg += DATA - SEG;
	assert_memory_equal(seg, "\0\0\0\x40\0\0\0\x99", 8);
	assert_int_equal(wr.tm.handle, 0);
	assert_int_equal(it.tm.head, 1);
	assert_true(it.tags[0].used);
	assert_int_equal(it.tags[0].recv_wr_id, 6);
	assert_int_equal(it.tags[0].len, sizeof(buf));
	assert_ptr_equal(it.tags[0].buf, buf);
	assert_int_equal(rig_dbrec(it.rig, MLX5_SND_DBR), 1);
	assert_int_equal(it.rig->qp->sq.wq.head, 1);
}

static void tags_without_a_buffer_keep_none(void **state)
{
	char buf[8];
	struct ibv_sge null_key = { (uintptr_t)buf, sizeof(buf), NULL_LKEY };
	struct ibv_sge empty = { (uintptr_t)buf, 0, 0x99 };
	struct ibv_ops_wr wr[] = {
		{ .opcode = IBV_WR_TAG_ADD, .next = &wr[1] },
		{ .opcode = IBV_WR_TAG_ADD,
		  .next = &wr[2],
		  .tm = { .add = { .sg_list = &null_key, .num_sge = 1 } } },
		{ .opcode = IBV_WR_TAG_ADD,
		  .tm = { .add = { .sg_list = &empty, .num_sge = 1 } } },
	},
			  *bad;

	(void)state;
	assert_int_equal(ops_post(wr, &bad), 0);
	check_head(0, 3);
	check_head(1, 4);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(wr[i].tm.handle, i);
		assert_int_equal(fld_get(seg_at(i), TM_SEG_INDEX), i + 1);
		assert_int_equal(fld_get(seg_at(i), TM_SEG_FLAGS), 0);
		assert_null(it.tags[i].buf);
	}
	assert_int_equal(it.tags[0].len, 0);
	assert_int_equal(it.tags[1].len, sizeof(buf));
	assert_int_equal(it.tags[2].len, 0);
	assert_int_equal(rig_dbrec(it.rig, MLX5_SND_DBR), 3);
}

static void the_last_entry_stays_free(void **state)
{
	struct ibv_ops_wr wr = { .opcode = IBV_WR_TAG_ADD }, *bad;

	(void)state;
	for (int i = 0; i < TAGS - 1; i++)
		assert_int_equal(ops_post(&wr, &bad), 0);
	ops_refused(&wr, ENOMEM);
	tm_release(&it.tm, 1);
	assert_int_equal(ops_post(&wr, &bad), 0);
	assert_int_equal(wr.tm.handle, TAGS - 1);
	assert_int_equal(it.tm.head, 1);
	ops_refused(&wr, ENOMEM);
}

static void a_deletion_completes_in_any_case(void **state)
{
	struct ibv_ops_wr add = { .opcode = IBV_WR_TAG_ADD }, *bad;
	struct ibv_ops_wr del = { .wr_id = 9, .opcode = IBV_WR_TAG_DEL };
	const struct wq_slot *slots = it.rig->qp->sq.wq.slots;
	uint8_t *seg = seg_at(2);

	(void)state;
	assert_int_equal(ops_post(&add, &bad), 0);
	assert_int_equal(ops_post(&add, &bad), 0);
	del.tm.handle = 1;
	assert_int_equal(ops_post(&del, &bad), 0);
	check_head(2, 3);
	assert_int_equal(fld_get(seg, TM_SEG_OPCODE), TM_SEG_OP_REMOVE);
	assert_int_equal(fld_get(seg, TM_SEG_FLAGS), TM_SEG_FLAG_CQE);
	assert_int_equal(fld_get(seg, TM_SEG_INDEX), 1);
	assert_int_equal(it.deleting[2], 1);
	assert_int_equal(slots[0].done_as, IBV_WC_TM_ADD);
	assert_int_equal(slots[2].done_as, IBV_WC_TM_DEL | TM_DONE_QUIETLY);
	del.flags = IBV_OPS_SIGNALED;
	assert_int_equal(ops_post(&del, &bad), 0);
	assert_int_equal(slots[3].done_as, IBV_WC_TM_DEL);
}

static void a_count_is_told_by_any_operation(void **state)
{
	struct ibv_ops_wr wr = { .opcode = IBV_WR_TAG_SYNC,
				 .flags = IBV_OPS_TM_SYNC,
				 .tm = { .unexpected_cnt = 0x12345 } },
			  *bad;

	(void)state;
	assert_int_equal(ops_post(&wr, &bad), 0);
	check_head(0, 3);
	assert_int_equal(fld_get(seg_at(0), TM_SEG_OPCODE), TM_SEG_OP_NOP);
	assert_int_equal(fld_get(seg_at(0), TM_SEG_FLAGS), TM_SEG_FLAG_SW_COUNT);
	assert_int_equal(fld_get(seg_at(0), TM_SEG_SW_COUNT), 0x2345);
	assert_int_equal(it.tm.told, 0x2345);
	assert_int_equal(it.rig->qp->sq.wq.slots[0].done_as, IBV_WC_TM_SYNC);
	wr.flags = IBV_OPS_SIGNALED;
	wr.tm.unexpected_cnt = 7;
	assert_int_equal(ops_post(&wr, &bad), 0);
	assert_int_equal(fld_get(seg_at(1), TM_SEG_FLAGS), TM_SEG_FLAG_CQE);
	assert_int_equal(fld_get(seg_at(1), TM_SEG_SW_COUNT), 0);
	assert_int_equal(it.tm.told, 0x2345);
}

static void what_cannot_be_is_refused(void **state)
{
	struct ibv_sge sge[2] = { { 0 } };
	struct ibv_ops_wr add = { .opcode = IBV_WR_TAG_ADD }, *bad;
	struct ibv_ops_wr two = { .opcode = IBV_WR_TAG_ADD,
				  .tm = { .add = { .sg_list = sge, .num_sge = 2 } } };
	struct ibv_ops_wr del = { .opcode = IBV_WR_TAG_DEL };
	struct ibv_ops_wr unknown = { .opcode = (enum ibv_ops_wr_opcode)3 };

	(void)state;
	ops_refused(&two, EINVAL);
	ops_refused(&unknown, EINVAL);
	ops_refused(&del, EINVAL); /* refused, as the list is empty */
	assert_int_equal(ops_post(&add, &bad), 0);
	del.tm.handle = TAGS;
	ops_refused(&del, EINVAL);
	it.tm.qp = NULL;
	ops_refused(&add, EINVAL);
	it.tm.qp = it.rig->qp;
	it.srq.tm = NULL;
	ops_refused(&add, EINVAL);
}

static void a_list_is_posted_up_to_the_bad_request(void **state)
{
	struct ibv_ops_wr wr[] = {
		{ .opcode = IBV_WR_TAG_ADD, .next = &wr[1] },
		{ .opcode = IBV_WR_TAG_DEL, .next = &wr[2], .tm = { .handle = 3 } },
		{ .opcode = IBV_WR_TAG_ADD },
	},
			  *bad;

	(void)state;
	assert_int_equal(ops_post(wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[1]);
	assert_int_equal(it.rig->qp->sq.pi, 1);
	assert_int_equal(rig_dbrec(it.rig, MLX5_SND_DBR), 1);
	assert_int_equal(it.tm.head, 1);
}

static void an_empty_list_posts_nothing(void **state)
{
	struct ibv_ops_wr *bad;

	(void)state;
	assert_int_equal(ops_post(NULL, &bad), 0);
	assert_int_equal(it.rig->qp->sq.pi, 0);
}

static void a_full_queue_takes_no_more(void **state)
{
	struct ibv_ops_wr wr = { .opcode = IBV_WR_TAG_SYNC }, *bad;

	(void)state;
	for (int i = 0; i < WQES; i++)
		assert_int_equal(ops_post(&wr, &bad), 0);
	ops_refused(&wr, ENOMEM);
}

static void an_srq_needs_a_cq_and_tags(void **state)
{
	struct ibv_srq_init_attr_ex attr = {
		.comp_mask = IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
		.tm_cap = { .max_num_tags = 1 },
	};

	(void)state;
	assert_int_equal(mlx5_tm_check_attr(&attr), 0);
	attr.tm_cap.max_num_tags = UINT16_MAX;
	assert_int_equal(mlx5_tm_check_attr(&attr), 0);
	attr.tm_cap.max_num_tags = UINT16_MAX + 1;
	assert_int_equal(mlx5_tm_check_attr(&attr), EINVAL);
	attr.tm_cap.max_num_tags = 0;
	assert_int_equal(mlx5_tm_check_attr(&attr), EINVAL);
	attr.tm_cap.max_num_tags = 1;
	attr.comp_mask = IBV_SRQ_INIT_ATTR_CQ;
	assert_int_equal(mlx5_tm_check_attr(&attr), EINVAL);
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TM;
	assert_int_equal(mlx5_tm_check_attr(&attr), EINVAL);
}

static void a_list_is_freed_with_its_parts(void **state)
{
	struct mlx5_tm *tm = calloc(1, sizeof(*tm));
	void *parts[] = { calloc(TAGS, sizeof(*tm->tags)), calloc(WQES, sizeof(*tm->deleting)),
			  tm };

	(void)state;
	assert_non_null(tm);
	tm->tags = parts[0];
	tm->deleting = parts[1];
	it.srq.tm = tm;
	it.counts_frees = true;
	mlx5_tm_free(&it.srq);
	it.srq.tm = NULL; /* an SRQ without tag matching */
	mlx5_tm_free(&it.srq);
	it.counts_frees = false;
	assert_int_equal(it.frees, ARRAY_SIZE(parts));
	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++)
		assert_true(it.freed[0] == parts[i] || it.freed[1] == parts[i] ||
			    it.freed[2] == parts[i]);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, tm_begin, tm_end)
	const struct CMUnitTest tests[] = {
		CASE(a_tag_takes_the_first_free_entry),
		CASE(tags_without_a_buffer_keep_none),
		CASE(the_last_entry_stays_free),
		CASE(a_deletion_completes_in_any_case),
		CASE(a_count_is_told_by_any_operation),
		CASE(what_cannot_be_is_refused),
		CASE(a_list_is_posted_up_to_the_bad_request),
		CASE(an_empty_list_posts_nothing),
		CASE(a_full_queue_takes_no_more),
		CASE(an_srq_needs_a_cq_and_tags),
		CASE(a_list_is_freed_with_its_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

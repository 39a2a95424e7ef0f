/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_test.c - completion queues: requests that are refused, the context and the page list that the
 * device gets, what is given back after a failure, moderation, and a ring of another size.
 *
 * Covers: softhca/front/process/uverbs/cq.c, softhca/front/process/driver/queue_memory.c
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/cq.c"

enum { CQN = 0x1234, MOST_LOG = 10, EQN = 0x21, RING = 0x10000, RECORD = 0x20040, REFUSED = EDOM };

static struct {
	struct ib_uverbs_attr comp, uar, answer; /* that the program gives */
	bool has_comp, has_uar, has_no_answer;
	unsigned int channels; /* references taken */
	struct call call;
	struct epitaph_cq epitaph;
	unsigned int epitaphs, resizes, hidden, catch_ups, moves;
	int move_error;
} it;

static struct event_channel *const a_channel = (void *)&it;

struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	assert_ptr_equal(uc, &rig.call);
	switch (id) {
	case UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL:
		return it.has_comp ? &it.comp : NULL;
	case MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX:
		return it.has_uar ? &it.uar : NULL;
	default:
		assert_int_equal(id, UVERBS_ATTR_UHW_OUT);
		return it.has_no_answer ? NULL : &it.answer;
	}
}

struct event_channel *event_channel_find(pid_t tid, const struct uverbs_file *file, int fd,
					 enum channel_kind kind)
{
	(void)tid;
	assert_ptr_equal(file, &rig.file);
	assert_int_equal(kind, CHANNEL_VERBS);
	return fd == 7 ? a_channel : NULL;
}

void event_channel_get(struct event_channel *channel)
{
	assert_ptr_equal(channel, a_channel);
	it.channels++;
}

void uc_epitaph_entry(const struct uverbs_call *uc, const struct object *object,
		      struct epitaph_entry *entry)
{
	assert_ptr_equal(uc, &rig.call);
	assert_int_not_equal(object->handle, 0);
	(void)entry;
}

void epitaph_add_cq(struct epitaph *epitaph, const struct epitaph_cq *cq, struct epitaph_place *at)
{
	(void)epitaph;
	(void)at;
	it.epitaph = *cq;
	it.epitaphs++;
}

void epitaph_resize_cq(const struct epitaph_place *at, uint64_t ring, uint32_t entries,
		       uint32_t cqe_size)
{
	(void)at;
	it.epitaph.ring = ring;
	it.epitaph.entries = entries;
	it.epitaph.cqe_size = cqe_size;
	it.resizes++;
}

void epitaph_hide_cq(const struct epitaph_place *at)
{
	(void)at;
	it.hidden++;
}

void epitaph_remove_cq(struct epitaph_place *at)
{
	(void)at;
	it.epitaphs--;
}

int object_will_move(const struct object *object)
{
	assert_int_equal(object->type, UVERBS_OBJECT_CQ);
	it.moves++;
	return it.move_error;
}

void engine_catch_up(struct adapter *adapter, unsigned int turns)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(turns, ENGINE_ALL_TURNS);
	it.catch_ups++;
}

int mlx4_check_cq(uint32_t cqe, uint32_t flags)
{
	return cqe > 100 || flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN ? EINVAL : 0;
}

int mlx4_read_cq(struct uverbs_call *uc, struct mlx5_ib_create_cq *driver, uint32_t *uar)
{
	assert_ptr_equal(uc, &rig.call);
	*driver = (struct mlx5_ib_create_cq){ .buf_addr = RING, .db_addr = RECORD, .cqe_size = 64 };
	*uar = 9;
	return 0;
}

int mlx4_read_resize(struct uverbs_call *uc, struct mlx5_ib_resize_cq *driver)
{
	assert_ptr_equal(uc, &rig.call);
	*driver = (struct mlx5_ib_resize_cq){ .buf_addr = 2 * RING, .cqe_size = 64 };
	return 0;
}

static int cq_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.call.call = &it.call;
	rig.number = CQN;
	for (int i = 0; i < NUM_COMP_VECTORS; i++)
		rig.adapter.comp_eqn[i] = EQN + i;
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_CQ_SZ, MOST_LOG);
	fld_set(rig.adapter.caps, HCA_CAP_CQ_MODERATION, 1);
	fld_set(rig.adapter.caps, HCA_CAP_CQ_RESIZE, 1);
	it.comp.data_s64 = 7;
	return 0;
}

static int cq_after(void **state)
{
	int ret = rig_end(state);

	assert_int_equal(it.epitaphs, 0);
	return ret;
}

struct asked {
	uint32_t cqe, vector, flags, uar;
	struct mlx5_ib_create_cq driver;
};

static struct asked usual_cq(void)
{
	return (struct asked){ .cqe = 63,
			       .vector = 2,
			       .driver = { .buf_addr = RING,
					   .db_addr = RECORD,
					   .cqe_size = 64,
					   .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
					   .uar_page_index = 5 } };
}

static int asked_create(struct asked asked)
{
	const uint64_t user = 0xfeed;

	rig_in(UVERBS_ATTR_CREATE_CQ_CQE, &asked.cqe, sizeof(asked.cqe));
	rig_in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &user, sizeof(user));
	rig_in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, &asked.vector, sizeof(asked.vector));
	rig_in(UVERBS_ATTR_CREATE_CQ_FLAGS, &asked.flags, sizeof(asked.flags));
	rig_in(MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, &asked.uar, sizeof(asked.uar));
	rig_in(UVERBS_ATTR_UHW_IN, &asked.driver, sizeof(asked.driver));
	return cq_create(&rig.call);
}

static struct uverbs_cq *cq_made(struct asked asked)
{
	uint32_t handle;

	assert_int_equal(asked_create(asked), 0);
	memcpy(&handle, rig_out(UVERBS_ATTR_CREATE_CQ_HANDLE, sizeof(handle)), sizeof(handle));
	return (struct uverbs_cq *)rig.objects[handle];
}

static uint64_t cqc(uint32_t field)
{
	return fld_get(fld_at(rig.command, CREATE_CQ_IN_CQC), field);
}

static uint64_t page(unsigned int i)
{
	return fld_get64(fld_at(rig.command, CREATE_CQ_IN_PAS), 8 * i);
}

static void expect_refused(struct asked asked, int error)
{
	const unsigned int commands = rig.commands;

	assert_int_equal(asked_create(asked), error);
	assert_int_equal(rig.commands, commands);
	assert_int_equal(rig.made, rig.freed);
}

static void a_cq_is_as_it_is_asked_for(void **state)
{
	const struct mlx5_ib_create_cq_resp *resp;
	struct uverbs_cq *cq;

	(void)state;
	rig.client.slot = 3;
	cq = cq_made(usual_cq());
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_CQ);
	assert_int_equal(fld_get(rig.command, CREATE_CQ_IN_HAS_TIME), 0);
	assert_int_equal(cqc(CQC_CQE_SZ), 0);
	assert_int_equal(cqc(CQC_OI), 0);
	assert_int_equal(cqc(CQC_CQE_COMP_EN), 0);
	assert_int_equal(cqc(CQC_LOG_CQ_SIZE), 6);
	assert_int_equal(cqc(CQC_UAR_PAGE), 5);
	assert_int_equal(cqc(CQC_C_EQN), EQN + 2);
	assert_int_equal(cqc(CQC_LOG_PAGE_SIZE), 0);
	assert_int_equal(cqc(CQC_PAGE_OFFSET), 0);
	assert_true(cqc(CQC_DBR_ADDR) == client_bus_addr(&rig.client, RECORD));
	assert_true(page(0) == client_bus_addr(&rig.client, RING) && page(1) == 0);
	assert_int_equal(rig.pinned, 2);
	assert_true(rig.pins[0].addr == RING && rig.pins[0].len == 64 * 64);
	assert_true(rig.pins[1].addr == RECORD && rig.pins[1].len == 8);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4), 63);
	resp = rig_out(UVERBS_ATTR_UHW_OUT, sizeof(*resp));
	assert_int_equal(resp->cqn, CQN);
	assert_true(cq->cqn == CQN && cq->cqe == 63 && cq->cqe_size == 64);
	assert_true(!cq->padded && !cq->real_time);
	assert_true(cq->events.kind == SOURCE_CQ && cq->events.user_handle == 0xfeed);
	assert_int_equal(cq->events.number, CQN);
	assert_ptr_equal(cq->events.adapter, &rig.adapter);
	assert_null(cq->events.comp);
	assert_true(it.epitaph.ring == RING && it.epitaph.dbrec == RECORD);
	assert_true(it.epitaph.cqe_size == 64 && it.epitaph.entries == 64);
}

static void sizes_are_rounded_up(void **state)
{
	static const struct {
		uint32_t cqe, log;
	} rows[] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 1022, 10 }, { 1023, 10 } };
	struct asked asked = usual_cq();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		asked.cqe = rows[i].cqe;
		assert_int_equal(cq_made(asked)->cqe, (1u << rows[i].log) - 1);
		assert_int_equal(cqc(CQC_LOG_CQ_SIZE), rows[i].log);
	}
	asked.cqe = 1024;
	assert_int_equal(asked_create(asked), EINVAL);
	asked.cqe = UINT32_MAX;
	assert_int_equal(asked_create(asked), EINVAL);
}

static void a_ring_may_begin_within_a_page(void **state)
{
	struct asked asked = usual_cq();

	(void)state;
	asked.driver.buf_addr = RING + 3 * 64;
	cq_made(asked);
	assert_int_equal(cqc(CQC_PAGE_OFFSET), 3);
	assert_int_equal(cqc(CQC_LOG_PAGE_SIZE), 0);
	assert_true(page(0) == RING && page(1) == RING + 4096 && page(2) == 0);
	asked.driver.buf_addr = RING + 2 * 64; /* fits a larger page */
	cq_made(asked);
	assert_int_equal(cqc(CQC_PAGE_OFFSET), 1);
	assert_int_equal(cqc(CQC_LOG_PAGE_SIZE), 1);
	assert_true(page(0) == RING && page(1) == 0);
	asked.driver.buf_addr = RING + 32;
	assert_int_equal(asked_create(asked), EINVAL);
}

static void cqes_have_two_sizes_and_may_be_padded(void **state)
{
	struct asked asked = usual_cq();

	(void)state;
	asked.driver.cqe_size = 128;
	assert_int_equal(cq_made(asked)->cqe_size, 128);
	assert_int_equal(cqc(CQC_CQE_SZ), 1);
	assert_true(rig.pins[0].len == 64 * 128);
	asked.driver.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	assert_int_equal(asked_create(asked), EOPNOTSUPP);
	fld_set(rig.adapter.caps, HCA_CAP_CQE_128_ALWAYS, 1);
	assert_true(cq_made(asked)->padded);
	assert_int_equal(cqc(CQC_CQE_SZ), 2);
	asked.driver.cqe_size = 64;
	assert_int_equal(asked_create(asked), EOPNOTSUPP);
	asked = usual_cq();
	asked.driver.flags |= MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
	assert_true(cq_made(asked)->real_time);
}

static void what_the_device_lacks_is_refused(void **state)
{
	struct asked asked = usual_cq();

	(void)state;
	asked.flags = IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN << 1;
	expect_refused(asked, EINVAL);
	asked = usual_cq();
	asked.driver.flags |= MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS << 1;
	expect_refused(asked, EOPNOTSUPP);
	asked = usual_cq();
	asked.driver.reserved0 = 1;
	expect_refused(asked, EINVAL);
	asked = usual_cq();
	asked.driver.reserved1 = 1;
	expect_refused(asked, EINVAL);
	for (uint32_t size = 32; size <= 256; size += 32) {
		asked = usual_cq();
		asked.driver.cqe_size = size;
		if (size != 64 && size != 128)
			expect_refused(asked, EINVAL);
	}
	asked = usual_cq();
	asked.vector = NUM_COMP_VECTORS;
	expect_refused(asked, EINVAL);
	asked = usual_cq();
	asked.driver.flags = 0; /* no doorbell page */
	expect_refused(asked, EINVAL);
	it.has_uar = true;
	asked.uar = 1 << 24;
	expect_refused(asked, EINVAL);
	asked.uar--;
	cq_made(asked);
	assert_int_equal(cqc(CQC_UAR_PAGE), asked.uar);
}

static void overruns_may_be_ignored(void **state)
{
	struct asked asked = usual_cq();

	(void)state;
	asked.flags = IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN | IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq_made(asked);
	assert_int_equal(cqc(CQC_OI), 1);
	assert_int_equal(fld_get(rig.command, CREATE_CQ_IN_HAS_TIME), 0); /* only mlx4's driver */
}

static void compression_takes_a_capability(void **state)
{
	static const struct {
		uint32_t asked, format;
	} rows[] = {
		{ MLX5_IB_CQE_RES_FORMAT_HASH, PRM_MINI_CQE_HASH },
		{ MLX5_IB_CQE_RES_FORMAT_CSUM, PRM_MINI_CQE_CHECKSUM },
		{ MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX, PRM_MINI_CQE_CHECKSUM_STRIDE },
	};
	struct asked asked = usual_cq();

	(void)state;
	asked.driver.cqe_comp_en = 1;
	asked.driver.cqe_comp_res_format = MLX5_IB_CQE_RES_FORMAT_HASH;
	expect_refused(asked, EOPNOTSUPP);
	fld_set(rig.adapter.caps, HCA_CAP_CQE_COMPRESSION, 1);
	asked.driver.cqe_comp_res_format = MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
	expect_refused(asked, EOPNOTSUPP);
	fld_set(rig.adapter.caps, HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX, 1);
	asked.driver.cqe_comp_res_format = 0;
	expect_refused(asked, EINVAL);
	asked.driver.cqe_comp_res_format = MLX5_IB_CQE_RES_FORMAT_HASH;
	asked.driver.cqe_size = 128;
	expect_refused(asked, EOPNOTSUPP); /* a capability of its own */
	asked.driver.cqe_size = 64;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		asked.driver.cqe_comp_res_format = rows[i].asked;
		cq_made(asked);
		assert_int_equal(cqc(CQC_CQE_COMP_EN), 1);
		assert_int_equal(cqc(CQC_MINI_CQE_RES_FORMAT), rows[i].format);
	}
	asked.driver.cqe_comp_en = 2; /* ignored */
	cq_made(asked);
	assert_int_equal(cqc(CQC_CQE_COMP_EN), 0);
}

static void a_channel_is_referenced(void **state)
{
	struct asked asked = usual_cq();

	(void)state;
	it.has_comp = true;
	it.comp.data_s64 = 8;
	expect_refused(asked, EBADF);
	assert_int_equal(it.channels, 0);
	it.comp.data_s64 = 7;
	assert_ptr_equal(cq_made(asked)->events.comp, a_channel);
	assert_int_equal(it.channels, 1);
}

static void a_cq_that_fails_leaves_nothing(void **state)
{
	(void)state;
	rig.command_error = REFUSED;
	assert_int_equal(asked_create(usual_cq()), REFUSED);
	rig.command_error = 0;
	rig.pin_error = EFAULT;
	expect_refused(usual_cq(), EFAULT);
	rig.pin_error = 0;
	assert_int_equal(rig.released, 0);
	rig.out_refused = UVERBS_ATTR_CREATE_CQ_RESP_CQE;
	assert_int_equal(asked_create(usual_cq()), EFAULT);
	rig.out_refused = UVERBS_ATTR_UHW_OUT;
	assert_int_equal(asked_create(usual_cq()), EFAULT);
	rig.out_refused = UINT16_MAX;
	it.has_no_answer = true;
	assert_int_equal(asked_create(usual_cq()), EFAULT);
	assert_int_equal(rig.released, 3);
	assert_int_equal(rig.made, rig.freed);
	assert_int_equal(it.epitaphs, 0);
}

static void mlx4_has_a_part_of_its_own(void **state)
{
	struct asked asked = usual_cq();

	(void)state;
	rig.identity.kind = HCA_MLX4;
	asked.flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq_made(asked);
	assert_int_equal(fld_get(rig.command, CREATE_CQ_IN_HAS_TIME), 1);
	assert_int_equal(cqc(CQC_UAR_PAGE), 9);
	assert_int_equal(it.epitaphs, 0); /* the holder cannot write its CQEs */
	it.epitaphs = 1;                  /* which a removal counts all the same */
	asked.cqe = 101;
	assert_int_equal(asked_create(asked), EINVAL);
}

static void a_destroyed_cq_tells_its_events(void **state)
{
	struct ib_uverbs_destroy_cq cmd = { 0 };
	const struct ib_uverbs_destroy_cq_resp *resp;
	struct uverbs_cq *cq = cq_made(usual_cq());

	(void)state;
	cq->events.comp_read = 5;
	cq->events.async_read = 6;
	cq->base.users = 1;
	rig_in_object(UVERBS_ATTR_DESTROY_CQ_HANDLE, &cq->base);
	assert_int_equal(cq_remove(&rig.call), EBUSY);
	cq->base.users = 0;
	rig.command_error = REFUSED;
	assert_int_equal(cq_remove(&rig.call), REFUSED);
	rig.command_error = 0;
	assert_int_equal(it.epitaphs, 1);
	assert_int_equal(cq_remove(&rig.call), 0);
	resp = rig_out(UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(*resp));
	assert_true(resp->comp_events_reported == 5 && resp->async_events_reported == 6);
	assert_int_equal(it.epitaphs, 0);
	cq = cq_made(usual_cq());
	cq->events.comp_read = 8;
	cmd.cq_handle = cq->base.handle + 1;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(cq_remove_write(&rig.call), ENOENT);
	cmd.cq_handle = cq->base.handle;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(cq_remove_write(&rig.call), 0);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	assert_int_equal(resp->comp_events_reported, 8);
	assert_int_equal(rig.made, rig.freed);
}

static int cq_moderate(struct ib_uverbs_ex_modify_cq cmd)
{
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return cq_modify(&rig.call);
}

static void moderation_goes_to_the_device(void **state)
{
	struct ib_uverbs_ex_modify_cq cmd = { .cq_handle = cq_made(usual_cq())->base.handle,
					      .attr_mask = CQ_MODERATE,
					      .attr = { .cq_count = 65535, .cq_period = 4095 } },
				      bad;

	(void)state;
	assert_int_equal(cq_moderate(cmd), 0);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_MODIFY_CQ);
	assert_int_equal(fld_get(rig.command, CMD_IN_OP_MOD), 0);
	assert_int_equal(fld_get(rig.command, MODIFY_CQ_IN_CQN), CQN);
	assert_int_equal(fld_get(rig.command, MODIFY_CQ_IN_FIELD_SELECT),
			 PRM_MODIFY_CQ_PERIOD | PRM_MODIFY_CQ_COUNT);
	assert_int_equal(cqc(CQC_CQ_PERIOD), 4095);
	assert_int_equal(cqc(CQC_CQ_MAX_COUNT), 65535);
	rig.commands = 0;
	bad = cmd;
	bad.attr.cq_period++;
	assert_int_equal(cq_moderate(bad), EINVAL);
	bad = cmd;
	bad.attr_mask = 0;
	assert_int_equal(cq_moderate(bad), EINVAL);
	bad.attr_mask = CQ_MODERATE << 1;
	assert_int_equal(cq_moderate(bad), EOPNOTSUPP);
	bad = cmd;
	bad.reserved = 1;
	assert_int_equal(cq_moderate(bad), EINVAL);
	bad = cmd;
	bad.cq_handle++;
	assert_int_equal(cq_moderate(bad), ENOENT);
	fld_set(rig.adapter.caps, HCA_CAP_CQ_MODERATION, 0);
	assert_int_equal(cq_moderate(cmd), EOPNOTSUPP);
	assert_int_equal(rig.commands, 0);
}

static int resize(uint32_t handle, uint32_t cqe, uint32_t size)
{
	const struct mlx5_ib_resize_cq driver = { .buf_addr = 2 * RING + 64, .cqe_size = size };
	const struct ib_uverbs_resize_cq cmd = { .cq_handle = handle, .cqe = cqe };

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	rig_in(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	return cq_resize(&rig.call);
}

static void a_resized_cq_has_another_ring(void **state)
{
	struct uverbs_cq *cq = cq_made(usual_cq());

	(void)state;
	assert_int_equal(resize(cq->base.handle, 15, 64), 0);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_CORE_OUT, 4), 15);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_MODIFY_CQ);
	assert_int_equal(fld_get(rig.command, CMD_IN_OP_MOD), PRM_MODIFY_CQ_OP_RESIZE);
	assert_int_equal(fld_get(rig.command, MODIFY_CQ_IN_CQN), CQN);
	assert_int_equal(fld_get(rig.command, MODIFY_CQ_IN_FIELD_SELECT), 7);
	assert_int_equal(cqc(CQC_LOG_CQ_SIZE), 4);
	assert_int_equal(cqc(CQC_CQE_SZ), 0);
	assert_int_equal(cqc(CQC_PAGE_OFFSET), 1);
	assert_int_equal(cqc(CQC_LOG_PAGE_SIZE), 0);
	assert_true(page(0) == 2 * RING);
	assert_true(rig.pins[2].addr == 2 * RING + 64 && rig.pins[2].len == 16 * 64);
	assert_int_equal(cq->cqe, 15);
	assert_true(it.epitaph.ring == 2 * RING + 64 && it.epitaph.entries == 16);
	assert_true(it.moves == 1 && it.catch_ups == 1 && rig.takes == 2 && it.resizes == 1);
	/* the same size needs no ring */
	rig.commands = 0;
	assert_int_equal(resize(cq->base.handle, 8, 64), 0);
	assert_int_equal(rig.commands, 0);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_CORE_OUT, 4), 15);
}

/* The new ring is in memory of another program, which has got the device file. The holder would
 * access the same address in the CQ's maker. */
static void a_cq_that_another_program_resizes_is_hidden(void **state)
{
	struct uverbs_cq *cq = cq_made(usual_cq());
	struct client maker = { .pid = 1 };

	(void)state;
	assert_int_equal(resize(cq->base.handle, 15, 64), 0);
	assert_true(it.resizes == 1 && it.hidden == 0);
	cq->base.maker = &maker;
	assert_int_equal(resize(cq->base.handle, 31, 64), 0);
	assert_true(it.resizes == 1 && it.hidden == 1);
}

static void a_padded_cq_stays_padded(void **state)
{
	struct asked asked = usual_cq();
	struct uverbs_cq *cq;

	(void)state;
	fld_set(rig.adapter.caps, HCA_CAP_CQE_128_ALWAYS, 1);
	asked.driver.cqe_size = 128;
	asked.driver.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	cq = cq_made(asked);
	assert_int_equal(resize(cq->base.handle, 100, 128), 0);
	assert_int_equal(cqc(CQC_CQE_SZ), 2);
	assert_int_equal(it.epitaph.cqe_size, 128);
}

static void a_resize_that_is_refused_changes_nothing(void **state)
{
	struct uverbs_cq *cq = cq_made(usual_cq());
	const uint32_t handle = cq->base.handle;

	(void)state;
	rig.commands = 0;
	assert_int_equal(resize(handle, 0, 64), EINVAL);
	assert_int_equal(resize(handle, 1024, 64), EINVAL);
	assert_int_equal(resize(handle, 1025, 64), EINVAL);
	assert_int_equal(resize(handle, 15, 128), EINVAL);
	assert_int_equal(resize(handle, 15, 32), EINVAL);
	assert_int_equal(resize(handle + 1, 15, 64), ENOENT);
	rig.pin_error = EFAULT;
	assert_int_equal(resize(handle, 15, 64), EFAULT);
	rig.pin_error = 0;
	it.move_error = ENOMEM;
	assert_int_equal(resize(handle, 15, 64), ENOMEM);
	it.move_error = 0;
	assert_int_equal(it.catch_ups, 0);
	assert_int_equal(rig.commands, 0);
	rig.command_error = REFUSED;
	assert_int_equal(resize(handle, 15, 64), REFUSED);
	rig.command_error = 0;
	fld_set(rig.adapter.caps, HCA_CAP_CQ_RESIZE, 0);
	assert_int_equal(resize(handle, 15, 64), ENOSYS);
	assert_true(rig.takes == 1 && it.resizes == 0);
	assert_int_equal(cq->cqe, 63);
	fld_set(rig.adapter.caps, HCA_CAP_CQ_RESIZE, 1);
	assert_int_equal(resize(handle, 1023, 64), 0);
	rig.identity.kind = HCA_MLX4;
	assert_int_equal(resize(handle, 1, 0), 0);
	assert_true(it.epitaph.ring == 2 * RING);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, cq_begin, cq_after)
	const struct CMUnitTest tests[] = {
		CASE(a_cq_is_as_it_is_asked_for),
		CASE(sizes_are_rounded_up),
		CASE(a_ring_may_begin_within_a_page),
		CASE(cqes_have_two_sizes_and_may_be_padded),
		CASE(what_the_device_lacks_is_refused),
		CASE(overruns_may_be_ignored),
		CASE(compression_takes_a_capability),
		CASE(a_channel_is_referenced),
		CASE(a_cq_that_fails_leaves_nothing),
		CASE(mlx4_has_a_part_of_its_own),
		CASE(a_destroyed_cq_tells_its_events),
		CASE(moderation_goes_to_the_device),
		CASE(a_resized_cq_has_another_ring),
		CASE(a_cq_that_another_program_resizes_is_hidden),
		CASE(a_padded_cq_stays_padded),
		CASE(a_resize_that_is_refused_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

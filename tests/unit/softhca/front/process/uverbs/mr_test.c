/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr_test.c - regions of memory: ranges and rights that are refused, the key that the device makes,
 * on-demand and implicit regions, and which changes keep the key.
 *
 * Covers: softhca/front/process/uverbs/mr.c, softhca/front/process/driver/region.c
 */
#include <errno.h>
#include <string.h>

#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/wqe.h"
#include "rig.h"
#include "softhca/front/process/uverbs/mr.c"
#include "util/bits.h"

enum { PDN = 5, OTHER_PDN = 6, START = 0x10000, IOVA = 0x11000, LEN = 0x3000, REFUSED = EDOM };

#define LW IB_UVERBS_ACCESS_LOCAL_WRITE
#define RW IB_UVERBS_ACCESS_REMOTE_WRITE
#define RR IB_UVERBS_ACCESS_REMOTE_READ
#define RA IB_UVERBS_ACCESS_REMOTE_ATOMIC
#define MW IB_UVERBS_ACCESS_MW_BIND
#define OD IB_UVERBS_ACCESS_ON_DEMAND

static struct {
	struct uverbs_pd pd, other_pd;
	uint8_t wqe[256]; /* the last UMR */
	size_t wqe_len;
	unsigned int umrs, unmapped, checked;
	int move_error, umr_error, range_error;
	struct {
		uint64_t addr, len;
		bool writable;
	} range; /* that was looked at */
} it;

void dmabuf_unmap(struct dmabuf *dmabuf)
{
	assert_non_null(dmabuf);
	it.unmapped++;
}

int client_check_range(const struct client *client, uint64_t addr, uint64_t len, bool writable)
{
	assert_ptr_equal(client, &rig.client);
	it.checked++;
	it.range.addr = addr;
	it.range.len = len;
	it.range.writable = writable;
	return it.range_error;
}

int object_will_move(const struct object *object)
{
	assert_int_equal(object->type, UVERBS_OBJECT_MR);
	return it.move_error;
}

int hca_umr(struct hca *hca, const void *wqe, size_t len)
{
	assert_ptr_equal(hca, (void *)&it);
	assert_true(len <= sizeof(it.wqe));
	memset(it.wqe, 0, sizeof(it.wqe));
	memcpy(it.wqe, wqe, len);
	it.wqe_len = len;
	it.umrs++;
	return it.umr_error;
}

static int mr_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.adapter.hca = (void *)&it;
	rig.client.slot = 3;
	it.pd.pdn = PDN;
	it.other_pd.pdn = OTHER_PDN;
	rig_publish(&it.pd.base, UVERBS_OBJECT_PD);
	rig_publish(&it.other_pd.base, UVERBS_OBJECT_PD);
	fld_set(rig.adapter.caps, HCA_CAP_PG, 1);
	return 0;
}

static int mr_end(void **state)
{
	int ret = rig_end(state);

	assert_int_equal(it.pd.base.users + it.other_pd.base.users, 0);
	return ret;
}

static int mr_ask(uint64_t start, uint64_t length, uint64_t iova, uint32_t access)
{
	const struct ib_uverbs_reg_mr cmd = { .pd_handle = it.pd.base.handle,
					      .start = start,
					      .length = length,
					      .hca_va = iova,
					      .access_flags = access };

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return mr_reg(&rig.call);
}

static struct uverbs_mr *mr_made(uint64_t start, uint64_t length, uint64_t iova, uint32_t access)
{
	const struct ib_uverbs_reg_mr_resp *resp;
	struct uverbs_mr *mr;

	assert_int_equal(mr_ask(start, length, iova, access), 0);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	mr = (struct uverbs_mr *)rig.objects[resp->mr_handle];
	assert_int_equal(resp->lkey, mr->key);
	assert_int_equal(resp->rkey, mr->key);
	return mr;
}

static uint64_t mkc(uint32_t field)
{
	return fld_get(fld_at(rig.command, CREATE_MKEY_IN_MKC), field);
}

static uint64_t page(unsigned int i)
{
	return fld_get64(fld_at(rig.command, CREATE_MKEY_IN_PAS), 8 * i);
}

static void check_rights(uint32_t access)
{
	assert_int_equal(mkc(MKC_LR), 1);
	assert_int_equal(mkc(MKC_LW), !!(access & LW));
	assert_int_equal(mkc(MKC_RW), !!(access & RW));
	assert_int_equal(mkc(MKC_RR), !!(access & RR));
	assert_int_equal(mkc(MKC_A), !!(access & RA));
	assert_int_equal(fld_get(rig.command, CREATE_MKEY_IN_MAY_BIND), !!(access & MW));
}

static void a_key_has_the_pages_of_its_range(void **state)
{
	const uint64_t bus = 3ull << CLIENT_VA_BITS;
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW | RR);

	(void)state;
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_MKEY);
	assert_int_equal(fld_get(rig.command, CREATE_MKEY_IN_PG_ACCESS), 0);
	assert_int_equal(fld_get(rig.command, CREATE_MKEY_IN_IS_REGION), 1);
	assert_int_equal(fld_get(rig.command, CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE), 2);
	check_rights(LW | RR);
	assert_int_equal(mkc(MKC_UMR_EN), 1);
	assert_int_equal(mkc(MKC_ACCESS_MODE_1_0), PRM_MKEY_MODE_MTT);
	assert_int_equal(mkc(MKC_QPN), PRM_MKC_ANY_QP);
	assert_int_equal(mkc(MKC_PD), PDN);
	assert_true(fld_get(fld_at(rig.command, CREATE_MKEY_IN_MKC), MKC_START_ADDR) == IOVA);
	assert_true(fld_get(fld_at(rig.command, CREATE_MKEY_IN_MKC), MKC_LEN) == LEN);
	assert_int_equal(mkc(MKC_TRANSLATIONS_OCTWORD_SIZE), 2);
	assert_int_equal(mkc(MKC_LOG_PAGE_SIZE), 12);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(page(i) == (bus | (START + i * 0x1000)));
	assert_true(page(3) == 0);
	assert_int_equal(mr->key, 0x50 << 8);
	assert_int_equal(mr->room, 4);
	assert_int_equal(mr->kind, MR_PINNED);
	assert_int_equal(rig.pinned, 1);
	assert_true(rig.pins[0].addr == START && rig.pins[0].len == LEN && rig.pins[0].writable);
	assert_int_equal(it.pd.base.users, 1);
	rig_in_object(UVERBS_ATTR_DESTROY_MR_HANDLE, &mr->base);
	assert_int_equal(mr_dereg(&rig.call), 0);
	assert_true(rig.released == 1 && rig.last_released == 0x50);
	assert_true(it.pd.base.users == 0 && it.unmapped == 1);
}

/* The page size follows from where start and IOVA agree, and from the length. */
static void pages_are_as_large_as_the_alignment(void **state)
{
	static const struct {
		uint64_t start, iova, length;
		unsigned int shift, pages;
	} rows[] = {
		{ START, START, 0x1000, 12, 1 },
		{ START, START, 0x1001, 13, 1 },
		{ START, START, 0x8000, 15, 1 },
		{ START + 0x7000, START + 0x7000, 0x2000, 13, 2 },
		{ START, START + 0x2000, 0x8000, 13, 4 },
		{ START + 8, START + 8, 8, 12, 1 },
		{ 0, 0, 1ull << 32, 31, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		mr_made(rows[i].start, rows[i].length, rows[i].iova, 0);
		assert_int_equal(mkc(MKC_LOG_PAGE_SIZE), rows[i].shift);
		assert_true(page(rows[i].pages - 1) & 0xffffffffffff || !rows[i].start);
		assert_true(page(rows[i].pages) == 0);
	}
}

static void room_grows_by_powers_of_two(void **state)
{
	static const uint32_t pages[] = { 1, 4, 5, 8, 9 }, rooms[] = { 4, 4, 8, 8, 16 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		assert_int_equal(mr_made(START, pages[i] * 0x1000, IOVA, 0)->room, rooms[i]);
		assert_int_equal(rig.command_len, PRM_CREATE_MKEY_IN_SIZE + rooms[i] * 8);
		assert_false(rig.pins[i].writable);
	}
	assert_int_equal(mr_made(START, 0x100001000, IOVA, 0)->room, 0); /* no key of a cache */
	assert_int_equal(rig.command_len, PRM_CREATE_MKEY_IN_SIZE + 0x80001 * 16);
}

static void rights_are_checked(void **state)
{
	(void)state;
	for (uint32_t access = 0; access < 1 << 9; access++) {
		bool is_known = !(access & ~(uint32_t)KNOWN_ACCESS);
		bool is_whole = !(access & (RW | RA)) || access & LW;

		assert_int_equal(mr_check_access(&rig.call, access),
				 is_known && is_whole ? 0 : EINVAL);
	}
	assert_int_equal(mr_check_access(&rig.call, IB_UVERBS_ACCESS_RELAXED_ORDERING), 0);
	assert_int_equal(mr_check_access(&rig.call, 1ull << 40), EINVAL);
	assert_int_equal(mr_ask(START, LEN, IOVA, RW), EINVAL);
	fld_set(rig.adapter.caps, HCA_CAP_PG, 0);
	assert_int_equal(mr_check_access(&rig.call, OD), EINVAL);
	assert_int_equal(rig.commands + rig.made, 0);
	mr_made(START, LEN, IOVA, LW | RW | RA | MW);
	check_rights(LW | RW | RA | MW);
}

static void ranges_are_checked(void **state)
{
	static const struct {
		uint64_t start, length, iova;
		uint32_t access;
		int error;
	} rows[] = {
		{ START, LEN, IOVA + 1, 0, EINVAL },
		{ START, 0, IOVA, 0, EINVAL }, /* touches no page */
		{ START + 1, 0, IOVA + 1, 0, 0 },
		{ -0x1000ull, 0x1000, 0, 0, EINVAL },
		{ -0x1000ull, 0xfff, 0, 0, 0 },
		{ 0, 1ull << 45, 0, 0, EINVAL },
		{ START, 0, IOVA, OD, EINVAL },
		{ -0x2000ull, 0x2000, 0, OD, EOVERFLOW },
		{ -0x2000ull, 0x1001, 0, OD, EOVERFLOW },
		{ -0x3000ull, 0x2000, 0, OD, EFAULT },
		{ 1ull << 47, 0x1000, 0, OD, EFAULT },
		{ (1ull << 47) - 0x1000, 0x3000, 0, OD, 0 },
		{ 0, UINT64_MAX, 0x1000, OD, EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(
			mr_ask(rows[i].start, rows[i].length, rows[i].iova, rows[i].access),
			rows[i].error);
}

static void on_demand_memory_may_be_absent(void **state)
{
	struct uverbs_mr *mr = mr_made((1ull << 47) - 0x1000, LEN, 0x1000, LW | OD);

	(void)state;
	assert_int_equal(rig.pinned, 0);
	assert_int_equal(mr->kind, MR_ON_DEMAND);
	assert_true(mr->length == LEN && mr->region.length == 0x1000);
	assert_int_equal(fld_get(rig.command, CREATE_MKEY_IN_PG_ACCESS), 1);
	assert_true(page(0) & CLIENT_ON_DEMAND);
	mr = mr_made(0, UINT64_MAX, 0, OD);
	assert_int_equal(mr->kind, MR_IMPLICIT);
	assert_true(mr->length == UINT64_MAX && mr->region.length == 1ull << 47);
	assert_int_equal(mkc(MKC_UMR_EN), 0);
	assert_int_equal(mr->room, 0);
	assert_int_equal(rig.command_len, PRM_CREATE_MKEY_IN_SIZE + (8u << 16)); /* 2 GiB each */
}

static void a_region_that_fails_leaves_nothing(void **state)
{
	const struct ib_uverbs_reg_mr cmd = { .pd_handle = 30, .start = START, .length = LEN };

	(void)state;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(mr_reg(&rig.call), ENOENT);
	rig.pin_error = ENOMEM;
	assert_int_equal(mr_ask(START, LEN, IOVA, LW), ENOMEM);
	rig.pin_error = 0;
	assert_int_equal(rig.commands + rig.made, 0);
	rig.command_error = REFUSED;
	assert_int_equal(mr_ask(START, LEN, IOVA, LW), REFUSED);
	rig.command_error = 0;
	assert_int_equal(rig.made, rig.freed);
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(mr_ask(START, LEN, IOVA, LW), EFAULT);
	assert_int_equal(rig.made, rig.freed);
	assert_int_equal(rig.released, 1);
}

static void an_answer_that_fails_destroys_the_region(void **state)
{
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW);

	(void)state;
	assert_int_equal(mr_return(&rig.call, mr, 0x100, 0x101, 0x102), 0);
	assert_int_equal(*(const uint32_t *)rig_out(0x100, 4), mr->base.handle);
	assert_int_equal(*(const uint32_t *)rig_out(0x101, 4), mr->key);
	assert_int_equal(*(const uint32_t *)rig_out(0x102, 4), mr->key);
	rig.out_refused = 0x102;
	assert_int_equal(mr_return(&rig.call, mr, 0x100, 0x101, 0x102), EFAULT);
	assert_int_equal(rig.made, rig.freed);
}

static void a_region_with_windows_stays(void **state)
{
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW);
	const struct ib_uverbs_dereg_mr cmd = { .mr_handle = mr->base.handle };

	(void)state;
	rig.command_error = EBUSY;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(mr_dereg_write(&rig.call), EBUSY);
	assert_int_equal(it.pd.base.users, 1);
	rig.command_error = 0;
	assert_int_equal(mr_dereg_write(&rig.call), 0);
	assert_int_equal(mr_dereg_write(&rig.call), ENOENT);
}

static void a_query_tells_range_and_keys(void **state)
{
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW);

	(void)state;
	rig_in_object(UVERBS_ATTR_QUERY_MR_HANDLE, &mr->base);
	assert_int_equal(mr_query(&rig.call), 0);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4), mr->key);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4), mr->key);
	assert_true(*(const uint64_t *)rig_out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8) == LEN);
	assert_true(*(const uint64_t *)rig_out(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8) == IOVA);
	rig.out_refused = UVERBS_ATTR_QUERY_MR_RESP_IOVA;
	assert_int_equal(mr_query(&rig.call), EFAULT);
}

static int changed(const struct uverbs_mr *mr, struct ib_uverbs_rereg_mr *cmd)
{
	cmd->mr_handle = mr->base.handle;
	rig.number++;
	rig.commands = it.umrs = 0;
	rig_in(UVERBS_ATTR_CORE_IN, cmd, sizeof(*cmd));
	return mr_rereg(&rig.call);
}

static int range_changed(const struct uverbs_mr *mr, uint64_t start, uint64_t length)
{
	return changed(mr, &(struct ib_uverbs_rereg_mr){ .flags = REREG_TRANSLATION,
							 .start = start,
							 .length = length,
							 .hca_va = start + 0x1000 });
}

static int access_changed(const struct uverbs_mr *mr, uint32_t access)
{
	return changed(
		mr, &(struct ib_uverbs_rereg_mr){ .flags = REREG_ACCESS, .access_flags = access });
}

static const uint8_t *umr_mkc(void)
{
	return it.wqe + WQE_SEG + UMR_CTRL_SIZE;
}

static void a_range_that_fits_keeps_the_key(void **state)
{
	const uint64_t bus = 3ull << CLIENT_VA_BITS, rights = 1ull << UMR_PD | 1ull << UMR_A |
							      1ull << UMR_RW | 1ull << UMR_RR |
							      1ull << UMR_LW;
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW);
	const uint8_t *ctrl = it.wqe + WQE_SEG;

	(void)state;
	assert_int_equal(range_changed(mr, 0x40000, 0x4000), 0);
	assert_true(it.umrs == 1 && rig.commands == 0 && rig.released == 0);
	assert_int_equal(fld_get(it.wqe, CTRL_MKEY), 0x50 << 8);
	assert_int_equal(fld_get(ctrl, UMR_FLAGS), UMR_INLINE);
	assert_int_equal(fld_get(ctrl, UMR_XLT_OCTOWORDS), 2);
	assert_true(fld_get(ctrl, UMR_MKEY_MASK) ==
		    (rights | 1ull << UMR_LEN | 1ull << UMR_START_ADDR | 1ull << UMR_PAGE_SIZE));
	assert_true(fld_get(umr_mkc(), MKC_START_ADDR) == 0x41000);
	assert_true(fld_get(umr_mkc(), MKC_LEN) == 0x4000);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(fld_get64(umr_mkc() + UMR_MKEY_SIZE, 8 * i) ==
			    (bus | (0x40000 + i * 0x1000)));
	assert_int_equal(it.wqe_len, WQE_SEG + UMR_CTRL_SIZE + UMR_MKEY_SIZE + 32);
	assert_true(mr->region.start == 0x40000 && mr->length == 0x4000 && mr->iova == 0x41000);
	assert_true(rig.pins[1].addr == 0x40000 && rig.pins[1].len == 0x4000);
	assert_true(rig.takes == 2 && it.unmapped == 1);
	/* five pages do not fit */
	assert_int_equal(range_changed(mr, 0x40000, 0x5000), 0);
	assert_true(it.umrs == 0 && rig.commands == 1);
	assert_true(rig.released == 1 && rig.last_released == 0x50);
	assert_int_equal(mr->key, rig.number << 8);
	assert_int_equal(mr->room, 8);
	assert_int_equal(
		((const struct ib_uverbs_rereg_mr_resp *)rig_out(UVERBS_ATTR_CORE_OUT, 8))->rkey,
		mr->key);
}

static void some_rights_change_without_a_new_key(void **state)
{
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW);

	(void)state;
	assert_int_equal(access_changed(mr, LW | RW | RR | RA), 0);
	assert_true(it.umrs == 1 && rig.commands == 0);
	assert_int_equal(fld_get(it.wqe + WQE_SEG, UMR_XLT_OCTOWORDS), 0);
	assert_int_equal(fld_get(umr_mkc(), MKC_RW), 1);
	assert_true(it.range.addr == START && it.range.len == LEN && it.range.writable);
	assert_int_equal(rig.pinned, 1); /* as before */
	assert_int_equal(access_changed(mr, 0), 0);
	assert_false(it.range.writable);
	assert_int_equal(mr->key, 0x50 << 8);
	assert_int_equal(access_changed(mr, MW), 0);
	assert_true(it.umrs == 0 && rig.commands == 1);
	assert_int_equal(mr->key, rig.number << 8);
	assert_int_equal(mr->region.access, MW);
	it.range_error = EFAULT;
	assert_int_equal(access_changed(mr, LW), EFAULT);
	it.range_error = 0;
	assert_int_equal(access_changed(mr, RW), EINVAL);
	assert_int_equal(mr->region.access, MW);
}

static void a_new_key_takes_pinned_memory(void **state)
{
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW | OD);

	(void)state;
	assert_int_equal(access_changed(mr, LW | RR | OD), 0);
	assert_true(it.umrs == 1 && it.checked == 0);
	assert_int_equal(access_changed(mr, LW | MW | OD), EOPNOTSUPP);
	assert_true(it.umrs == 0 && rig.commands == 0);
	assert_int_equal(range_changed(mr, 0x40000, 0x1000), 0); /* fits, but is not pinned */
	assert_true(it.umrs == 0 && rig.commands == 1);
	mr->kind = MR_DMABUF;
	assert_int_equal(access_changed(mr, LW | MW | OD), EOPNOTSUPP);
	assert_int_equal(access_changed(mr, RW), EINVAL);
	mr->kind = MR_PINNED;
	assert_int_equal(access_changed(mr, LW | MW | OD), 0);
	assert_int_equal(rig.commands, 1);
}

/* Its pages are those of a file, so the program's memory is not looked at. */
static void rights_of_a_files_memory_change(void **state)
{
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW);

	(void)state;
	mr->kind = MR_DMABUF;
	it.range_error = EFAULT;
	assert_int_equal(access_changed(mr, LW | RR), 0);
	assert_true(it.umrs == 1 && it.checked == 0);
}

static void an_implicit_region_keeps_its_range(void **state)
{
	struct uverbs_mr *mr = mr_made(0, UINT64_MAX, 0, OD);

	(void)state;
	assert_int_equal(access_changed(mr, LW), EOPNOTSUPP);
	assert_int_equal(access_changed(mr, LW | OD), 0);
	assert_true(it.umrs == 0 && rig.commands == 1);
	assert_int_equal(mr->kind, MR_IMPLICIT);
	assert_int_equal(mr->region.access, LW | OD);
}

static void a_region_moves_to_another_domain(void **state)
{
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW);
	struct ib_uverbs_rereg_mr cmd = { .flags = REREG_PD, .pd_handle = it.other_pd.base.handle };

	(void)state;
	assert_int_equal(changed(mr, &cmd), 0);
	assert_int_equal(fld_get(umr_mkc(), MKC_PD), OTHER_PDN);
	assert_int_equal(fld_get(umr_mkc(), MKC_LW), 1);
	assert_true(it.pd.base.users == 0 && it.other_pd.base.users == 1);
	cmd.pd_handle = 30;
	assert_int_equal(changed(mr, &cmd), ENOENT);
	assert_int_equal(it.other_pd.base.users, 1);
}

static void a_change_that_is_refused_changes_nothing(void **state)
{
	struct uverbs_mr *mr = mr_made(START, LEN, IOVA, LW), none = { .base.handle = 30 };
	const struct uverbs_mr before = *mr;
	struct uverbs_dm dm = { .size = 1 };

	(void)state;
	assert_int_equal(changed(mr, &(struct ib_uverbs_rereg_mr){ .flags = 0 }), EINVAL);
	assert_int_equal(changed(mr, &(struct ib_uverbs_rereg_mr){ .flags = 8 }), EOPNOTSUPP);
	assert_int_equal(access_changed(&none, LW), ENOENT);
	mr->dm = &dm;
	assert_int_equal(access_changed(mr, LW), EINVAL);
	mr->dm = NULL;
	assert_int_equal(range_changed(mr, START, 0), EINVAL);
	it.move_error = ENOMEM;
	assert_int_equal(range_changed(mr, START, LEN), ENOMEM);
	it.move_error = 0;
	it.umr_error = REFUSED;
	assert_int_equal(range_changed(mr, 0x40000, LEN), REFUSED);
	it.umr_error = 0;
	rig.command_error = REFUSED;
	assert_int_equal(range_changed(mr, 0x40000, 0x5000), REFUSED);
	rig.command_error = 0;
	rig.pin_error = ENOMEM;
	assert_int_equal(range_changed(mr, 0x40000, LEN), ENOMEM);
	assert_memory_equal(mr, &before, sizeof(before));
	assert_true(rig.takes == 1 && rig.released == 0 && it.pd.base.users == 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, mr_begin, mr_end)
	const struct CMUnitTest tests[] = {
		CASE(a_key_has_the_pages_of_its_range),
		CASE(pages_are_as_large_as_the_alignment),
		CASE(room_grows_by_powers_of_two),
		CASE(rights_are_checked),
		CASE(ranges_are_checked),
		CASE(on_demand_memory_may_be_absent),
		CASE(a_region_that_fails_leaves_nothing),
		CASE(an_answer_that_fails_destroys_the_region),
		CASE(a_region_with_windows_stays),
		CASE(a_query_tells_range_and_keys),
		CASE(a_range_that_fits_keeps_the_key),
		CASE(some_rights_change_without_a_new_key),
		CASE(a_new_key_takes_pinned_memory),
		CASE(rights_of_a_files_memory_change),
		CASE(an_implicit_region_keeps_its_range),
		CASE(a_region_moves_to_another_domain),
		CASE(a_change_that_is_refused_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

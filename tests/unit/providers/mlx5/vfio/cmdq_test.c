/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmdq_test.c - the command queue as an adapter sees it: registers, entries, mailboxes, and what
 * answers of any kind do. The test plays the adapter while a command is waited for. Repeats the
 * layouts as offsets, as an independent check.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "providers/mlx5/vfio/cmdq.h"
#include "tests/unit/log_text.h"
#include "util/bits.h"

#include "guarded.h"

enum {
	BLOCK = 576,
	DATA = 512,
	STRIDE = 1024,
	ADDRESS_HIGH = 0x10 / 4,
	ADDRESS_LOW = 0x14 / 4,
	DOORBELL = 0x18 / 4,
	INITIALIZING = 0x1fc / 4,
	NIC_STATE = 0x16,
	RESET = 0x238,
	SYNDROME = 0x23d,
	COUNTER = 0x1010 / 4,
	BAR = 0x1014 / 4,
	OWNER = 63,
	TOKEN = 60,
	LONGEST = 5000,
};

static struct {
	uint32_t bar[BAR];
	struct vfio_space space;
	struct vfio_cmdq cmdq;
	unsigned int turns;   /* of the adapter */
	uint8_t status;       /* of delivery */
	uint8_t answer;       /* first byte of the answer: its status */
	bool is_silent;       /* answers nothing */
	bool is_lost;         /* registers read as ones */
	uint8_t tokens[1000]; /* of each command */
	unsigned int commands;
	unsigned int resets;
} rig;

/* What the adapter could see at each barrier. The sources are compiled with order_watch.h, so that
 * their barriers call order_watch(). */
static struct {
	struct {
		enum order_barrier barrier;
		bool is_owned, is_rung, has_address;
	} moments[16];
	unsigned int count;
	uint8_t *late, body[32]; /* an answer that appears at the load barrier */
	bool is_off;             /* several threads run commands */
} watch;

void order_watch(enum order_barrier barrier)
{
	const uint8_t *entry = rig.cmdq.entries.memory;
	unsigned int n;

	if (watch.is_off)
		return;
	n = watch.count++ % ARRAY_SIZE(watch.moments);
	watch.moments[n].barrier = barrier;
	watch.moments[n].is_owned = entry && entry[OWNER] & 1;
	watch.moments[n].is_rung = rig.bar[DOORBELL] != 0;
	watch.moments[n].has_address = rig.bar[ADDRESS_HIGH] != 0;
	if (watch.late && barrier == DMA_LOAD) {
		memcpy(watch.late, watch.body, 16);
		watch.late = NULL;
	}
}

/* The sources are compiled with register_watch.h. */
static struct {
	unsigned int loads;  /* of the sizes of the queue */
	unsigned int others; /* a bit for each of these loads: it reads OTHER */
	__be32 other;
} sizes;

__be32 register_watch(const void *reg)
{
	__be32 value;

	memcpy(&value, reg, sizeof(value));
	if (sizes.other && reg == (const void *)&rig.bar[ADDRESS_LOW] &&
	    sizes.others >> sizes.loads++ % 6 & 1)
		value = sizes.other;
	return value;
}

static uint64_t number_at(const uint8_t *at, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

/* Looks at each block of a chain, and returns how many there are. */
static unsigned int check_chain(uint64_t iova, uint8_t token)
{
	unsigned int count = 0;

	for (; iova; count++) {
		const uint8_t *block = guarded_at(iova);

		assert_true(iova % DATA == 0); /* PRM: bits 8 to 0 are reserved */
		assert_int_equal(number_at(block + 568, 4), count);
		assert_int_equal(block[573], token);
		iova = number_at(block + 560, 8);
	}
	return count;
}

static unsigned int blocks_of(uint64_t length)
{
	return length <= 16 ? 0 : (unsigned int)((length - 16 + DATA - 1) / DATA);
}

/* The adapter's answer: each byte of the command, plus one, after the status. */
static void answer_command(uint8_t *entry)
{
	const uint64_t inlen = number_at(entry + 4, 4), outlen = number_at(entry + 56, 4);
	uint64_t in = number_at(entry + 8, 8), out = number_at(entry + 48, 8);

	for (uint64_t i = 0; i < outlen; i++) {
		const uint64_t at = (i - 16) / DATA * STRIDE + (i - 16) % DATA;
		uint8_t byte = 0;

		if (i < inlen)
			byte = i < 16 ? entry[16 + i] : *guarded_at(in + at);
		byte = i ? byte + 1 : rig.answer;
		*(i < 16 ? &entry[32 + i] : guarded_at(out + at)) = byte;
	}
}

static void adapter_turn(void *arg)
{
	uint8_t *entry = rig.cmdq.entries.memory, sum = 0;

	(void)arg;
	rig.turns++;
	if (rig.is_lost)
		memset(rig.bar, 0xff, sizeof(rig.bar));
	if (rig.is_silent || rig.is_lost || !rig.bar[DOORBELL])
		return;
	assert_int_equal(be32toh(rig.bar[DOORBELL]), 1);
	rig.bar[DOORBELL] = 0;
	assert_int_equal(entry[OWNER], 1);
	for (unsigned int i = 0; i < 64; i++)
		sum ^= entry[i];
	assert_int_equal(sum, 0xff);
	assert_int_equal(check_chain(number_at(entry + 8, 8), entry[TOKEN]),
			 blocks_of(number_at(entry + 4, 4)));
	assert_int_equal(check_chain(number_at(entry + 48, 8), entry[TOKEN]),
			 blocks_of(number_at(entry + 56, 4)));
	rig.tokens[rig.commands++ % ARRAY_SIZE(rig.tokens)] = entry[TOKEN];
	answer_command(entry);
	entry[OWNER] = (uint8_t)(rig.status << 1);
}

static void adapter_reset(void *arg)
{
	*(unsigned int *)arg += 1;
}

static int rig_up(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	memset(&watch, 0, sizeof(watch));
	memset(&sizes, 0, sizeof(sizes));
	rig.bar[1] = htobe32(5u << 16);
	rig.bar[ADDRESS_LOW] = htobe32(5u << 4 | 6);
	assert_int_equal(mlx5_vfio_cmdq_init(&rig.cmdq, &rig.space, (uint8_t *)rig.bar), 0);
	rig.cmdq.while_waiting = adapter_turn;
	rig.cmdq.when_dead = adapter_reset;
	rig.cmdq.dead_arg = &rig.resets;
	return 0;
}

static int rig_down(void **state)
{
	(void)state;
	mlx5_vfio_cmdq_destroy(&rig.cmdq);
	assert_int_equal(guarded.in_use, 0);
	return 0;
}

/* Answers as the adapter does, but shows only the owner bit at first. */
static void adapter_turn_late(void *arg)
{
	const unsigned int commands = rig.commands;
	uint8_t *entry = rig.cmdq.entries.memory;

	adapter_turn(arg);
	if (rig.commands == commands)
		return;
	memcpy(watch.body, entry + 32, 16);
	memset(entry + 32, 0, 16);
	watch.late = entry + 32;
}

/* An entry is whole before its owner bit, and is the adapter's before the doorbell; its answer is
 * read after its owner bit. */
static void barriers_stand_between_entry_doorbell_and_answer(void **state)
{
	uint8_t in[16] = { 1, 2, 3, 4, 5, 6, 7, 8 }, out[16];

	(void)state;
	assert_int_equal(watch.moments[watch.count - 1].barrier, WC_START); /* of rig_up() */
	assert_false(watch.moments[watch.count - 1].has_address);
	rig.cmdq.while_waiting = adapter_turn_late;
	watch.count = 0;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, sizeof(in), out,
					    sizeof(out), NULL),
			 0);
	assert_memory_equal(out + 1, "\3\4\5\6\7\10\11", 7);
	assert_int_equal(watch.count, 3);
	assert_int_equal(watch.moments[0].barrier, DMA_STORE);
	assert_false(watch.moments[0].is_owned);
	assert_int_equal(watch.moments[1].barrier, WC_START);
	assert_true(watch.moments[1].is_owned && !watch.moments[1].is_rung);
	assert_int_equal(watch.moments[2].barrier, DMA_LOAD);
}

static void the_queue_is_told_by_two_registers(void **state)
{
	const uint64_t iova = rig.cmdq.entries.iova;

	(void)state;
	assert_int_equal(be32toh(rig.bar[ADDRESS_HIGH]), iova >> 32);
	assert_int_equal(be32toh(rig.bar[ADDRESS_LOW]), (uint32_t)iova);
}

static void odd_adapters_are_refused(void **state)
{
	static const struct {
		uint32_t revision, sizes;
		int ret;
	} cases[] = {
		{ 4u << 16, 5u << 4 | 6, EOPNOTSUPP },
		{ 6u << 16, 5u << 4 | 6, EOPNOTSUPP },
		{ 5u << 16, 6, EIO },
		{ 5u << 16, 7u << 4 | 6, EIO },
		{ 5u << 16, 15u << 4 | 15, EIO },
		{ 5u << 16, 5u << 4 | 5, EIO },
		{ 5u << 16, 1u << 4 | 6, 0 },
		{ 5u << 16, 6u << 4 | 6, 0 },
		{ 5u << 16, 1u << 4 | 11, 0 },
	};
	const unsigned int in_use = guarded.in_use;
	uint32_t bar[BAR] = { 0 };
	struct vfio_cmdq cmdq;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		bar[1] = htobe32(cases[i].revision);
		bar[ADDRESS_LOW] = htobe32(cases[i].sizes);
		assert_int_equal(mlx5_vfio_cmdq_init(&cmdq, &rig.space, (uint8_t *)bar),
				 cases[i].ret);
		if (!cases[i].ret)
			mlx5_vfio_cmdq_destroy(&cmdq);
		assert_int_equal(guarded.in_use, in_use);
	}
	memset(bar, 0xff, sizeof(bar));
	assert_int_equal(mlx5_vfio_cmdq_init(&cmdq, &rig.space, (uint8_t *)bar), EIO);
}

/* An adapter that says one size, and then another, gets no entry beyond the queue's memory. */
static void sizes_that_change_are_those_of_one_read(void **state)
{
	struct vfio_cmdq cmdq;

	(void)state;
	for (unsigned int others = 0; others < 64; others++) {
		memset(&rig.bar, 0, sizeof(rig.bar));
		rig.bar[1] = htobe32(5u << 16);
		rig.bar[ADDRESS_LOW] = htobe32(1u << 4 | 6);
		sizes.loads = 0;
		sizes.others = others;
		sizes.other = htobe32(12);
		if (mlx5_vfio_cmdq_init(&cmdq, &rig.space, (uint8_t *)rig.bar))
			continue;
		assert_true(VFIO_LANES << cmdq.log_stride <= 4096);
		mlx5_vfio_cmdq_destroy(&cmdq);
	}
}

static void run_one(uint32_t inlen, uint32_t outlen)
{
	uint8_t *in = guarded_new(inlen), *out = guarded_new(outlen);
	bool is_answered = false;

	for (uint32_t i = 0; i < inlen; i++)
		in[i] = (uint8_t)(i * 3 + i / 256);
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, inlen, out, outlen,
					    &is_answered),
			 0);
	assert_true(is_answered);
	for (uint32_t i = 1; i < outlen; i++)
		assert_int_equal(out[i], (uint8_t)((i < inlen ? in[i] : 0) + 1));
	guarded_free(in, inlen);
	guarded_free(out, outlen);
}

static void commands_and_answers_have_any_length(void **state)
{
	static const uint32_t lengths[] = { 16, 17, 64, 527, 528, 529, 1040, LONGEST, 65535, 16 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(lengths); j++)
			run_one(lengths[i], lengths[j]);
	/* the entries and a chain for each way, as an entry keeps its chains for later commands */
	assert_true(guarded.in_use == 3);
}

static void tokens_change_and_are_never_0(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 600; i++)
		run_one(16, 16);
	for (unsigned int i = 0; i < 600; i++) {
		assert_int_not_equal(rig.tokens[i], 0);
		if (i)
			assert_int_not_equal(rig.tokens[i], rig.tokens[i - 1]);
	}
}

static int run_status(uint8_t answer_status, uint8_t delivery, bool *is_answered)
{
	uint8_t in[16] = { 0 }, out[64];

	rig.answer = answer_status;
	rig.status = delivery;
	return mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, sizeof(in), out, sizeof(out),
				  is_answered);
}

static void refusals_have_an_errno(void **state)
{
	static const struct {
		uint8_t status;
		int ret;
	} cases[] = { { 0, 0 },      { 1, EIO },      { 2, EINVAL },   { 3, EINVAL },
		      { 4, EIO },    { 5, EINVAL },   { 6, EBUSY },    { 8, ENOMEM },
		      { 9, EINVAL }, { 0xa, EINVAL }, { 0xf, EAGAIN }, { 0x10, EINVAL },
		      { 0x30, EIO }, { 0x40, EIO },   { 0x50, EIO },   { 0x51, EIO },
		      { 0xff, EIO } };
	bool is_answered;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(run_status(cases[i].status, 0, &is_answered), cases[i].ret);
		assert_true(is_answered);
	}
	for (uint8_t delivery = 1; delivery < 128; delivery++) {
		assert_int_equal(run_status(0, delivery, &is_answered), EIO);
		assert_false(is_answered);
	}
	assert_int_equal(run_status(0, 0, &is_answered), 0); /* the queue goes on */
}

static void scribble_answer(void *arg)
{
	uint8_t *entry = rig.cmdq.entries.memory;

	adapter_turn(arg);
	memset(entry, 0xff, 63); /* lengths and addresses, too */
	for (unsigned int i = 0; i < rig.cmdq.slot[0].out.blocks; i++)
		memset(guarded_at(rig.cmdq.slot[0].out.dma.iova + i * STRIDE), 0xff, BLOCK);
}

static void answers_of_any_bytes_stay_in_their_buffer(void **state)
{
	uint8_t in[16] = { 0 }, *out = guarded_new(LONGEST);
	bool is_answered;

	(void)state;
	rig.cmdq.while_waiting = scribble_answer;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, sizeof(in), out,
					    LONGEST, &is_answered),
			 EIO);
	assert_true(is_answered);
	for (unsigned int i = 0; i < LONGEST; i++)
		assert_int_equal(out[i], 0xff);
	guarded_free(out, LONGEST);
	rig.cmdq.while_waiting = adapter_turn;
	run_one(16, 64); /* what was written there is no harm */
}

static void turn_late(void *arg)
{
	static unsigned int turns;

	if (turns++ == 20)
		adapter_turn(arg);
}

/* A process that was stopped finds its time over, although the adapter waits for its pages. */
static void a_stopped_process_looks_again(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	rig.cmdq.command_ms = 0;
	rig.cmdq.while_waiting = turn_late;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, sizeof(in), out,
					    sizeof(out), NULL),
			 0);
	assert_int_equal(rig.resets, 0);
}

static void a_late_answer_is_no_harm(void **state)
{
	uint8_t in[64] = { 0 }, out[64], zeros[64] = { 0 };
	unsigned int in_use;
	bool is_answered = true;

	(void)state;
	rig.is_silent = true;
	rig.cmdq.command_ms = 3;
	memset(out, 0, sizeof(out));
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, sizeof(in), out,
					    sizeof(out), &is_answered),
			 ETIMEDOUT);
	assert_false(is_answered);
	assert_memory_equal(out, zeros, sizeof(out));
	assert_true(rig.space.is_lost);
	assert_int_equal(rig.resets, 1);
	in_use = guarded.in_use;
	rig.is_silent = false;
	adapter_turn(NULL); /* still mapped, as the late answer goes there */
	assert_int_equal(rig.commands, 1);
	assert_memory_equal(out, zeros, sizeof(out));
	for (unsigned int lane = 0; lane < VFIO_LANES; lane++)
		assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, lane, in, sizeof(in), out,
						    sizeof(out), &is_answered),
				 EIO);
	assert_int_equal(rig.resets, 1);
	assert_int_equal(rig.bar[DOORBELL], 0);
	assert_int_equal(guarded.in_use, in_use);
}

static void pages_are_not_answered(void *arg)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)arg;
	if (!rig.turns++)
		assert_int_equal(
			mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_PAGES, in, 16, out, 16, NULL),
			ETIMEDOUT);
}

static struct {
	pthread_t thread;
	unsigned int resets; /* when the other lane returned */
	int ret;
} other;

static void *run_other_lane(void *arg)
{
	uint8_t in[16] = { 0 }, out[16];

	other.ret = mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_PAGES, in, 16, out, 16, NULL);
	other.resets = __atomic_load_n(&rig.resets, __ATOMIC_ACQUIRE);
	return arg;
}

/* Resets slowly, while a thread of the other lane begins. */
static void adapter_reset_slowly(void *arg)
{
	assert_true(rig.space.is_lost);
	assert_int_equal(pthread_create(&other.thread, NULL, run_other_lane, NULL), 0);
	usleep(50000);
	__atomic_fetch_add((unsigned int *)arg, 1, __ATOMIC_RELEASE);
}

/* The program may free memory once a call has returned, so none returns before the reset. */
static void other_lanes_return_after_the_reset(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	rig.is_silent = true;
	rig.cmdq.command_ms = 3;
	rig.cmdq.when_dead = adapter_reset_slowly;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, 16, out, 16, NULL),
			 ETIMEDOUT);
	assert_int_equal(pthread_join(other.thread, NULL), 0);
	assert_int_equal(other.ret, EIO);
	assert_int_equal(other.resets, 1);
}

static void reset_slowly(void *arg)
{
	usleep(50000);
	__atomic_fetch_add((unsigned int *)arg, 1, __ATOMIC_RELEASE);
}

static void *lose_device(void *arg)
{
	mlx5_vfio_cmdq_lose(&rig.cmdq);
	return arg;
}

/* Refuses memory as mlx5_vfio_dma_map() does, since another thread has lost the device. */
static int lose_meanwhile(void)
{
	if (pthread_create(&other.thread, NULL, lose_device, NULL))
		return ENOMEM;
	while (!__atomic_load_n(&rig.space.is_lost, __ATOMIC_ACQUIRE))
		usleep(100);
	return EIO;
}

/* Another thread loses the device while a command that has no mailboxes yet takes them. */
static void a_command_that_was_not_sent_returns_after_the_reset(void **state)
{
	uint8_t in[16] = { 0 }, out[64];
	unsigned int resets;

	(void)state;
	rig.cmdq.when_dead = reset_slowly;
	guarded.when_asked = lose_meanwhile;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, 16, out, 64, NULL),
			 EIO);
	resets = __atomic_load_n(&rig.resets, __ATOMIC_ACQUIRE);
	guarded.when_asked = NULL;
	assert_int_equal(pthread_join(other.thread, NULL), 0);
	assert_int_equal(resets, 1);
	assert_int_equal(rig.bar[DOORBELL], 0);
}

/* A child of fork() has the state and the locks, but not the threads that would change them. */
static void a_child_waits_for_no_thread_of_its_parent(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	rig.cmdq.process--;
	pthread_mutex_lock(&rig.cmdq.lock);
	rig.cmdq.free = 0;
	for (uint8_t of = VFIO_CMDQ_ALIVE; of <= VFIO_CMDQ_DEAD; of++) {
		rig.cmdq.state = of;
		assert_int_equal(
			mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, 16, out, 16, NULL),
			EIO);
		assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), EIO);
		assert_int_equal(mlx5_vfio_cmdq_lose(&rig.cmdq), EIO);
		assert_int_equal(rig.cmdq.state, of);
	}
	pthread_mutex_unlock(&rig.cmdq.lock);
	assert_int_equal(rig.commands, 0);
	assert_int_equal(rig.resets, 0);
}

/* Nobody waits for an adapter that was reset: a command of the other lane ends as well, since its
 * answer cannot come. */
static void silence_of_one_lane_ends_the_other(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	rig.cmdq.command_ms = 3;
	rig.cmdq.while_waiting = pages_are_not_answered;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, 16, out, 16, NULL),
			 EIO);
	assert_int_equal(rig.resets, 1);
}

static void a_lost_device_is_noticed(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	rig.is_lost = true;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, 16, out, 16, NULL),
			 EIO);
	assert_int_equal(rig.cmdq.state, VFIO_CMDQ_DEAD);
	assert_true(rig.space.is_lost);
}

/* A bad verdict resets the device, and stays. */
static void check_verdict(unsigned int resets)
{
	assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), EIO);
	assert_int_equal(rig.resets, resets);
	assert_true(rig.cmdq.state == VFIO_CMDQ_DEAD && rig.space.is_lost);
	assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), EIO);
	assert_int_equal(rig.resets, resets);
	rig.cmdq.state = VFIO_CMDQ_ALIVE;
}

static void health_is_that_of_the_device(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), 0);
	((uint8_t *)rig.bar)[RESET] = 0x80; /* of no fault yet */
	assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), 0);
	((uint8_t *)rig.bar)[SYNDROME] = 0x1;
	check_verdict(1);
	memset(rig.bar, 0xff, sizeof(rig.bar));
	check_verdict(2);
}

static void a_device_can_be_given_up(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_cmdq_lose(&rig.cmdq), EIO);
	assert_int_equal(mlx5_vfio_cmdq_lose(&rig.cmdq), EIO);
	assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), EIO);
	assert_int_equal(rig.resets, 1);
	assert_true(rig.space.is_lost);
}

static void a_disabled_device_is_lost(void **state)
{
	uint8_t *byte = (uint8_t *)rig.bar + NIC_STATE;
	unsigned int resets = 0;

	(void)state;
	for (uint8_t nic_state = 0; nic_state < 8; nic_state++) {
		*byte = (uint8_t)((*byte & ~7) | nic_state);
		if (nic_state == 1 || nic_state == 7)
			check_verdict(++resets);
		else
			assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), 0);
	}
}

/* As of a high temperature: firmware does not request a reset, and goes on. */
static void a_warning_is_said_once(void **state)
{
	static const uint8_t syndromes[] = { 0x10, 0x10, 0x1, 0x0, 0x1 };
	static const bool is_new[] = { true, false, true, false, true };

	(void)state;
	while (*log_text())
		; /* of other tests */
	for (unsigned int i = 0; i < ARRAY_SIZE(syndromes); i++) {
		((uint8_t *)rig.bar)[SYNDROME] = syndromes[i];
		assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), 0);
		assert_int_equal(rig.resets, 0);
		assert_true(is_new[i] == !!strstr(log_text(), "the device warns"));
	}
	assert_true(rig.cmdq.state == VFIO_CMDQ_ALIVE && !rig.space.is_lost);
}

static void firmware_states_the_timeout_of_commands(void **state)
{
	static const struct {
		uint32_t exec, init, ms;
	} cases[] = {
		{ 0, 0, 60000 },         { 1234, 0, 60000 },    { 0, 2000, 60000 },
		{ 1234, 2000, 1234 },    { 300000, 1, 300000 }, { 300001, 1, 300000 },
		{ 1u << 31, 1, 300000 },
	};
	uint32_t bar[BAR] = { 0 };
	struct vfio_cmdq cmdq;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		bar[1] = htobe32(5u << 16);
		bar[ADDRESS_LOW] = htobe32(5u << 4 | 6);
		bar[0xff8 / 4] = htobe32(cases[i].exec);
		bar[0xffc / 4] = htobe32(cases[i].init);
		assert_int_equal(mlx5_vfio_cmdq_init(&cmdq, &rig.space, (uint8_t *)bar), 0);
		assert_int_equal(cmdq.command_ms, cases[i].ms);
		mlx5_vfio_cmdq_destroy(&cmdq);
	}
}

/* Also one that is answered at once, or never, since firmware may ask for pages before it
 * answers. */
static void each_command_looks_for_events(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	memset(rig.bar, 0xff, sizeof(rig.bar));
	rig.is_silent = true;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, 16, out, 16, NULL),
			 EIO);
	assert_int_equal(rig.turns, 1);
}

static void firmware_that_stands_is_ill(void **state)
{
	(void)state;
	rig.cmdq.health_ms = 30;
	for (uint32_t i = 0; i < 3; i++) {
		rig.bar[COUNTER] = htobe32(7 - i);
		assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), 0);
	}
	usleep(60000);
	check_verdict(1);
	rig.bar[COUNTER] = htobe32(8);
	assert_int_equal(mlx5_vfio_cmdq_health(&rig.cmdq), 0); /* as of another device */
}

static void pages_are_not_served_while_pages_are_given(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	rig.cmdq.command_ms = 3;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_PAGES, in, 16, out, 16, NULL),
			 ETIMEDOUT);
	assert_int_equal(be32toh(rig.bar[DOORBELL]), 2);
	assert_int_equal(rig.turns, 0);
}

static void cancel_first(void *arg)
{
	if (rig.turns++)
		adapter_turn(arg);
	else
		pthread_cancel(pthread_self());
}

static void *run_in_thread(void *arg)
{
	static uint8_t in[16], out[16];

	mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, 16, out, 16, NULL);
	return arg;
}

static void a_cancelled_thread_leaves_a_free_entry(void **state)
{
	pthread_t thread;

	(void)state;
	rig.cmdq.while_waiting = cancel_first;
	assert_int_equal(pthread_create(&thread, NULL, run_in_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(rig.commands, 1);
	assert_int_equal(rig.cmdq.free, UINT32_MAX);
	run_one(16, 64);
}

static void a_command_without_memory_is_not_sent(void **state)
{
	uint8_t in[16] = { 0 }, out[64];

	(void)state;
	guarded.fails = true;
	assert_int_equal(mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, 16, out, 64, NULL),
			 ENOMEM);
	guarded.fails = false;
	assert_int_equal(rig.bar[DOORBELL], 0);
	run_one(16, 64);
}

/* ---- several commands in flight ---- */

enum { THREADS = 40, SLOTS = 31 /* entries that commands may use, if pages have one */ };

static struct {
	pthread_mutex_t lock;
	uint32_t most;       /* commands in flight at once */
	unsigned int wanted; /* answers nothing until so many are in flight */
	unsigned int num_answered;
	int ret[THREADS];
} crowd;

static uint8_t *entry_number(uint32_t index)
{
	return (uint8_t *)rig.cmdq.entries.memory + ((size_t)index << 6);
}

static void crowd_answer(uint32_t index)
{
	uint8_t *entry = entry_number(index);

	crowd.num_answered++;
	answer_command(entry);
	__atomic_store_n(&entry[OWNER], 0, __ATOMIC_RELEASE);
}

/* Takes commands from all entries that are its own. Once enough are in flight, answers the last one
 * first. */
static void crowd_turn(void *arg)
{
	uint32_t owned = 0;

	(void)arg;
	pthread_mutex_lock(&crowd.lock);
	for (uint32_t i = 0; i < 32; i++)
		if (__atomic_load_n(&entry_number(i)[OWNER], __ATOMIC_ACQUIRE) & 1)
			owned |= 1u << i;
	crowd.most = max_of(crowd.most, (uint32_t)__builtin_popcount(owned));
	if ((unsigned int)__builtin_popcount(owned) >= crowd.wanted) {
		crowd.wanted = 1;
		while (owned) {
			const uint32_t last = 31 - (uint32_t)__builtin_clz(owned);

			crowd_answer(last);
			owned &= ~(1u << last);
		}
	}
	pthread_mutex_unlock(&crowd.lock);
}

static void *crowd_member(void *arg)
{
	const unsigned int number = *(unsigned int *)arg;
	const uint32_t length = 16 + number * 100;
	uint8_t *in = calloc(1, length), *out = calloc(1, length);
	bool is_answered = false;

	for (uint32_t i = 0; i < length; i++)
		in[i] = (uint8_t)(i + number);
	in[7] = (uint8_t)number;
	crowd.ret[number] = mlx5_vfio_cmdq_run(&rig.cmdq, VFIO_LANE_COMMANDS, in, length, out,
					       length, &is_answered);
	for (uint32_t i = 1; !crowd.ret[number] && i < length; i++)
		if (out[i] != (uint8_t)(in[i] + 1))
			crowd.ret[number] = EBADMSG;
	free(in);
	free(out);
	return NULL;
}

static void crowd_run(unsigned int threads, unsigned int wanted)
{
	static unsigned int numbers[THREADS];
	pthread_t thread[THREADS];

	memset(&crowd, 0, sizeof(crowd));
	pthread_mutex_init(&crowd.lock, NULL);
	crowd.wanted = wanted;
	watch.is_off = true;
	rig.cmdq.while_waiting = crowd_turn;
	for (unsigned int i = 0; i < threads; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&thread[i], NULL, crowd_member, &numbers[i]), 0);
	}
	for (unsigned int i = 0; i < threads; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	pthread_mutex_destroy(&crowd.lock);
	rig.cmdq.while_waiting = adapter_turn;
}

/* Each thread gets its own answer. */
static void two_commands_may_be_answered_in_reverse(void **state)
{
	(void)state;
	crowd_run(2, 2);
	assert_int_equal(crowd.most, 2);
	assert_int_equal(crowd.num_answered, 2);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(crowd.ret[i], 0);
}

/* The rest wait for an entry. That of pages stays free. */
static void as_many_commands_are_in_flight_as_there_are_entries(void **state)
{
	(void)state;
	crowd_run(THREADS, SLOTS);
	assert_int_equal(crowd.most, SLOTS);
	assert_int_equal(crowd.num_answered, THREADS);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(crowd.ret[i], 0);
}

/* The threads that wait for an entry, too, when one command is not answered. */
static void silence_ends_all_commands_in_flight(void **state)
{
	unsigned int timeouts = 0;

	(void)state;
	rig.cmdq.command_ms = 3;
	crowd_run(THREADS, THREADS + 1);
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_true(crowd.ret[i] == EIO || crowd.ret[i] == ETIMEDOUT);
		timeouts += crowd.ret[i] == ETIMEDOUT;
	}
	assert_true(timeouts >= 1);
	assert_int_equal(rig.resets, 1);
}

#define T(test) cmocka_unit_test_setup_teardown(test, rig_up, rig_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_queue_is_told_by_two_registers),
		T(barriers_stand_between_entry_doorbell_and_answer),
		T(odd_adapters_are_refused),
		T(sizes_that_change_are_those_of_one_read),
		T(commands_and_answers_have_any_length),
		T(tokens_change_and_are_never_0),
		T(refusals_have_an_errno),
		T(answers_of_any_bytes_stay_in_their_buffer),
		T(a_stopped_process_looks_again),
		T(a_late_answer_is_no_harm),
		T(silence_of_one_lane_ends_the_other),
		T(other_lanes_return_after_the_reset),
		T(a_command_that_was_not_sent_returns_after_the_reset),
		T(a_child_waits_for_no_thread_of_its_parent),
		T(a_lost_device_is_noticed),
		T(health_is_that_of_the_device),
		T(a_device_can_be_given_up),
		T(a_disabled_device_is_lost),
		T(a_warning_is_said_once),
		T(firmware_states_the_timeout_of_commands),
		T(firmware_that_stands_is_ill),
		T(each_command_looks_for_events),
		T(pages_are_not_served_while_pages_are_given),
		T(a_cancelled_thread_leaves_a_free_entry),
		T(a_command_without_memory_is_not_sent),
		T(two_commands_may_be_answered_in_reverse),
		T(as_many_commands_are_in_flight_as_there_are_entries),
		T(silence_ends_all_commands_in_flight),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

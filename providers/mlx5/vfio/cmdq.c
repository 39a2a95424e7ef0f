/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmdq.c - see cmdq.h. PRM: Command Interface
 *
 *	            entry written          doorbell          owner bit cleared
 *	free ------------------> ready ------------> running ------------------> free
 *	                                                |
 *	                                                | timeout, or registers read as ones
 *	                                                v
 *	                                             dying: the device is reset
 *	                                                |
 *	                                                v
 *	                                              dead: no further command
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/init_seg.h"
#include "providers/mlx5/vfio/cmdq.h"
#include "util/barrier.h"
#include "util/bits.h"
#include "util/log.h"
#include "util/mmio.h"

enum {
	ENTRIES_SIZE = 4096,
	READY_MS = 120000,  /* PRM: an adapter may burn firmware first */
	COMMAND_MS = 60000, /* unless firmware states another time, up to MOST_COMMAND_MS */
	MOST_COMMAND_MS = 300000,
	HEALTH_MS = 10000, /* the counter of a live adapter changes ten times a second */
	LOOK_MS = 10,
	/* looks after a timeout, LOOK_MS apart, because the program itself may have been stopped */
	LAST_LOOKS = 100,
	LEAST_LOOKS = 30,
	FIRST_BLOCKS = 16, /* size of a new chain in mailboxes; a query of capabilities needs 9 */
	SPINS = 1000,
	/* value of each register of a device that has left the bus: the PCIe root complex
	 * answers */
	ALL_ONES = -1,
};

static uint32_t register_read(const uint8_t *bar, uint32_t field)
{
	const uint32_t word = be32toh(mmio_load_be32(bar + FLD_DWORD(field) * 4));

	return (word >> FLD_SHIFT(field)) & FLD_MASK(field);
}

static void register_write(uint8_t *bar, uint32_t field, uint32_t value)
{
	mmio_store_be32(bar + FLD_DWORD(field) * 4, htobe32(value));
}

static bool is_gone(const uint8_t *bar)
{
	return register_read(bar, INIT_SEG_FW_REV) == (uint32_t)ALL_ONES;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void rest(long us)
{
	const struct timespec time = { .tv_nsec = us * 1000 };

	nanosleep(&time, NULL);
}

static int wait_ready(const uint8_t *bar)
{
	const uint64_t end = now_ms() + READY_MS;

	while (!is_gone(bar) && register_read(bar, INIT_SEG_INITIALIZING)) {
		if (now_ms() > end) {
			verbs_warn("ibv_open_device: firmware is not ready after %d s",
				   READY_MS / 1000);
			return ETIMEDOUT;
		}
		rest(1000);
	}
	if (is_gone(bar)) {
		verbs_warn("ibv_open_device: the device does not answer");
		return EIO;
	}
	if (register_read(bar, INIT_SEG_CMDIF_REV) == PRM_CMDIF_REV)
		return 0;
	verbs_warn("ibv_open_device: the command interface has revision %u, known is %u",
		   register_read(bar, INIT_SEG_CMDIF_REV), PRM_CMDIF_REV);
	return EOPNOTSUPP;
}

/* Returns the time that firmware states for a command, or the usual one. */
static unsigned int command_ms_of(const uint8_t *bar)
{
	const uint32_t ms = register_read(bar, INIT_SEG_CMD_EXEC_TO);

	if (!ms || !register_read(bar, INIT_SEG_CMDQ_INIT_TO))
		return COMMAND_MS;
	return min_of(ms, (uint32_t)MOST_COMMAND_MS);
}

static int chain_reserve(struct vfio_cmdq *cmdq, struct vfio_chain *chain, uint32_t length)
{
	const uint32_t blocks = mlx5_vfio_blocks_for(length);
	struct vfio_dma dma;
	int ret;

	if (blocks <= chain->blocks)
		return 0;
	ret = mlx5_vfio_dma_alloc(
		cmdq->space,
		max_of(pow2_ceil(blocks), (uint64_t)FIRST_BLOCKS) * PRM_CMDQ_BLOCK_STRIDE, &dma);
	if (ret)
		return ret;
	mlx5_vfio_dma_free(cmdq->space, &chain->dma);
	chain->dma = dma;
	chain->blocks = (uint32_t)(dma.shape.length / PRM_CMDQ_BLOCK_STRIDE);
	return 0;
}

/* Converts the status of an answer to an errno, as Linux does, because programs know these errnos
 * from DevX. */
static int status_errno(unsigned int status)
{
	switch (status) {
	case PRM_STAT_OK:
		return 0;
	case PRM_STAT_BAD_OP_ERR:
	case PRM_STAT_BAD_PARAM_ERR:
	case PRM_STAT_BAD_RES_ERR:
	case PRM_STAT_BAD_RES_STATE_ERR:
	case PRM_STAT_IX_ERR:
	case PRM_STAT_BAD_QP_STATE_ERR:
		return EINVAL;
	case PRM_STAT_RES_BUSY:
		return EBUSY;
	case PRM_STAT_LIM_ERR:
		return ENOMEM;
	case PRM_STAT_NO_RES_ERR:
		return EAGAIN;
	default:
		return EIO;
	}
}

static bool is_owned_by_adapter(const uint8_t *entry)
{
	const uint8_t *last = entry + PRM_CMDQ_ENTRY_SIZE - 1;

	return __atomic_load_n(last, __ATOMIC_RELAXED) & 1;
}

static void explain_silence(const struct vfio_cmdq *cmdq, unsigned int opcode, bool gone)
{
	if (gone)
		verbs_warn("VFIO: command %#x: the device has left the bus", opcode);
	else
		verbs_warn("VFIO: command %#x: no answer in %u ms, health syndrome %#x, counter "
			   "%u; the device takes no further ones",
			   opcode, cmdq->command_ms,
			   register_read(cmdq->bar, INIT_SEG_HEALTH_SYNDROME),
			   register_read(cmdq->bar, INIT_SEG_HEALTH_COUNTER));
}

/* Handles waiting events, except for a command of VFIO_LANE_PAGES. Each command does so at least
 * once: in a program that never processes events, they would fill the queue, and a request for
 * pages would be lost. */
static void serve_waiting(const struct vfio_cmdq *cmdq, enum vfio_lane number)
{
	if (number != VFIO_LANE_PAGES && cmdq->while_waiting)
		cmdq->while_waiting(cmdq->waiting_arg);
}

static uint8_t queue_state(const struct vfio_cmdq *cmdq)
{
	return __atomic_load_n(&cmdq->state, __ATOMIC_ACQUIRE);
}

/* Returns whether the queue is dead. Waits while another thread resets the device: the caller will
 * return EIO, and its program may then free memory that the device still writes to. */
static bool queue_is_dead(const struct vfio_cmdq *cmdq)
{
	while (queue_state(cmdq) == VFIO_CMDQ_DYING)
		rest(100);
	return queue_state(cmdq) == VFIO_CMDQ_DEAD;
}

/* Marks the queue as dying, and then the space as lost, because the adapter may still execute a
 * command later. In this order, a thread that gets no memory in a lost space finds a queue to wait
 * for. Returns false if another thread has done so; the device is reset then. */
static bool queue_stop(struct vfio_cmdq *cmdq)
{
	uint8_t state = VFIO_CMDQ_ALIVE;

	if (__atomic_compare_exchange_n(&cmdq->state, &state, VFIO_CMDQ_DYING, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		vfio_space_lose(cmdq->space);
		return true;
	}
	queue_is_dead(cmdq);
	return false;
}

static void queue_reset(struct vfio_cmdq *cmdq)
{
	if (cmdq->when_dead)
		cmdq->when_dead(cmdq->dead_arg);
	__atomic_store_n(&cmdq->state, VFIO_CMDQ_DEAD, __ATOMIC_RELEASE);
}

static void give_up(struct vfio_cmdq *cmdq, unsigned int opcode, bool gone)
{
	if (!queue_stop(cmdq))
		return;
	explain_silence(cmdq, opcode, gone); /* before the reset, which clears the registers */
	queue_reset(cmdq);
}

/* Returns how many looks follow a timeout: about as long as the timeout itself, but 0.3 to 1 s. */
static unsigned int last_looks(const struct vfio_cmdq *cmdq)
{
	return min_of(max_of(cmdq->command_ms / LOOK_MS, (unsigned int)LEAST_LOOKS),
		      (unsigned int)LAST_LOOKS);
}

static int entry_wait(struct vfio_cmdq *cmdq, const uint8_t *entry, unsigned int opcode,
		      enum vfio_lane number)
{
	const uint64_t end = now_ms() + cmdq->command_ms;
	unsigned int late = 0;

	serve_waiting(cmdq, number);
	for (unsigned int turn = 0; is_owned_by_adapter(entry); turn++) {
		bool gone;

		if (turn <= SPINS)
			continue;
		if (queue_is_dead(cmdq))
			return EIO; /* another command was not answered */
		gone = is_gone(cmdq->bar);
		if (gone || (now_ms() > end && late++ == last_looks(cmdq))) {
			give_up(cmdq, opcode, gone);
			return gone ? EIO : ETIMEDOUT;
		}
		serve_waiting(cmdq, number); /* the command may wait for pages */
		rest(late ? LOOK_MS * 1000 : 20);
	}
	/* reads the answer after the owner bit, which the adapter writes last */
	dma_load_barrier();
	return 0;
}

/* Returns a bit for each entry that commands of LANE may use: pages have one. */
static uint32_t entries_of(enum vfio_lane lane)
{
	const uint32_t pages = 1u << VFIO_LANE_PAGES;

	return lane == VFIO_LANE_PAGES ? pages : ~pages;
}

/* Waits for a free entry of LANE and takes it: the first one, whose mailboxes probably exist. */
static unsigned int slot_take(struct vfio_cmdq *cmdq, enum vfio_lane lane)
{
	const uint32_t all = entries_of(lane);
	unsigned int number;

	pthread_mutex_lock(&cmdq->lock);
	while (!(cmdq->free & all))
		pthread_cond_wait(&cmdq->freed[lane], &cmdq->lock);
	number = (unsigned int)__builtin_ctz(cmdq->free & all);
	cmdq->free &= ~(1u << number);
	pthread_mutex_unlock(&cmdq->lock);
	return number;
}

static void slot_give(struct vfio_cmdq *cmdq, enum vfio_lane lane, unsigned int number)
{
	pthread_mutex_lock(&cmdq->lock);
	cmdq->free |= 1u << number;
	pthread_cond_signal(&cmdq->freed[lane]);
	pthread_mutex_unlock(&cmdq->lock);
}

static int slot_run(struct vfio_cmdq *cmdq, enum vfio_lane lane, unsigned int number,
		    const void *in, uint32_t inlen, void *out, uint32_t outlen)
{
	struct cmdq_slot *slot = &cmdq->slot[number];
	uint8_t *entry = (uint8_t *)cmdq->entries.memory + ((size_t)number << cmdq->log_stride);
	int ret = chain_reserve(cmdq, &slot->in, inlen);

	if (!ret)
		ret = chain_reserve(cmdq, &slot->out, outlen);
	if (ret) {
		queue_is_dead(cmdq); /* a lost space has no memory: waits for the reset */
		return ret;
	}
	/* never 0 */
	slot->token += slot->token == UINT8_MAX ? 2 : 1;
	mlx5_vfio_chain_put(&slot->in, slot->token, in, inlen);
	mlx5_vfio_chain_put(&slot->out, slot->token, NULL, outlen);
	mlx5_vfio_entry_put(
		entry, slot->token, in, inlen,
		mlx5_vfio_blocks_for(inlen) ? mlx5_vfio_block_address(&slot->in, 0) : 0, outlen,
		mlx5_vfio_blocks_for(outlen) ? mlx5_vfio_block_address(&slot->out, 0) : 0);
	/* the adapter must see the entry before the doorbell that makes it fetch it */
	wc_start_barrier();
	register_write(cmdq->bar, INIT_SEG_COMMAND_DOORBELL, 1u << number);
	ret = entry_wait(cmdq, entry, (unsigned int)fld_get(in, CMD_IN_OPCODE), lane);
	if (ret)
		return ret;
	if (fld_get(entry, CMDQ_STATUS)) {
		verbs_warn("VFIO: command %#x: not delivered, status %#x",
			   (unsigned int)fld_get(in, CMD_IN_OPCODE),
			   (unsigned int)fld_get(entry, CMDQ_STATUS));
		return EIO;
	}
	memcpy(out, fld_at(entry, CMDQ_OUTPUT_INLINE), min_of(outlen, (uint32_t)PRM_CMDQ_INLINE));
	mlx5_vfio_chain_get(&slot->out, out, outlen);
	return 0;
}

int mlx5_vfio_cmdq_run(struct vfio_cmdq *cmdq, enum vfio_lane lane, const void *in, uint32_t inlen,
		       void *out, uint32_t outlen, bool *is_answered)
{
	unsigned int number;
	int ret = EIO, cancel;

	if (is_answered)
		*is_answered = false;
	if (mlx5_vfio_cmdq_is_inherited(cmdq)) {
		verbs_warn("VFIO: command %#x: a parent of this process opened the device, and "
			   "only that process can use it",
			   (unsigned int)fld_get(in, CMD_IN_OPCODE));
		return EIO;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the wait would keep the entry */
	number = slot_take(cmdq, lane);
	if (!queue_is_dead(cmdq))
		ret = slot_run(cmdq, lane, number, in, inlen, out, outlen);
	slot_give(cmdq, lane, number);
	pthread_setcancelstate(cancel, NULL);
	if (ret)
		return ret;
	if (is_answered)
		*is_answered = true;
	ret = status_errno((unsigned int)fld_get(out, CMD_OUT_STATUS));
	if (ret)
		verbs_info("VFIO: command %#x: status %#x, syndrome %#x",
			   (unsigned int)fld_get(in, CMD_IN_OPCODE),
			   (unsigned int)fld_get(out, CMD_OUT_STATUS),
			   (unsigned int)fld_get(out, CMD_OUT_SYNDROME));
	return ret;
}

/* ---- health ---- */

static const char *syndrome_name(uint32_t syndrome)
{
	static const char *const names[] = {
		[0x1] = "an error in firmware",
		[0x7] = "a dead processor",
		[0x8] = "a fatal error of hardware",
		[0x9] = "a checksum of firmware",
		[0xa] = "a read of its own memory by PCI",
		[0xb] = "a page of its own memory",
		[0xc] = "an overrun of an event queue",
		[0xd] = "an event queue in error",
		[0xe] = "an invalid event queue",
		[0xf] = "a serial link of firmware",
		[0x10] = "a high temperature",
	};

	return syndrome < ARRAY_SIZE(names) && names[syndrome] ? names[syndrome] : "unknown";
}

/* Returns whether the health counter has been the same for longer than health_ms. Several threads
 * may call this: a thread that reads the new counter also reads its time. */
static bool counter_stands(struct vfio_cmdq *cmdq)
{
	const uint32_t counter = register_read(cmdq->bar, INIT_SEG_HEALTH_COUNTER);
	const uint32_t now = (uint32_t)now_ms();

	/* Another thread may have stored a later time than this thread's. */
	if (counter == __atomic_load_n(&cmdq->health_counter, __ATOMIC_ACQUIRE))
		return (int32_t)(now - __atomic_load_n(&cmdq->health_since, __ATOMIC_RELAXED)) >
		       (int32_t)cmdq->health_ms;
	__atomic_store_n(&cmdq->health_since, now, __ATOMIC_RELAXED);
	__atomic_store_n(&cmdq->health_counter, counter, __ATOMIC_RELEASE);
	return false;
}

static bool firmware_stands(struct vfio_cmdq *cmdq)
{
	unsigned int looks = 0;

	while (counter_stands(cmdq)) {
		if (looks++ == LAST_LOOKS)
			return true;
		rest(LOOK_MS * 1000);
	}
	return false;
}

static bool is_disabled(const uint8_t *bar)
{
	const uint32_t state = register_read(bar, INIT_SEG_NIC_INTERFACE);

	return state == PRM_NIC_DISABLED || state == PRM_NIC_SW_RESET;
}

/* Logs a syndrome with which the device goes on, once until it changes. */
static void health_warn(struct vfio_cmdq *cmdq, uint32_t syndrome)
{
	if (__atomic_load_n(&cmdq->health_warned, __ATOMIC_RELAXED) == syndrome ||
	    __atomic_exchange_n(&cmdq->health_warned, syndrome, __ATOMIC_RELAXED) == syndrome)
		return;
	if (syndrome)
		verbs_warn("VFIO: the device warns, health syndrome %#x: %s", syndrome,
			   syndrome_name(syndrome));
}

bool mlx5_vfio_cmdq_is_inherited(const struct vfio_cmdq *cmdq)
{
	return cmdq->process != getpid();
}

int mlx5_vfio_cmdq_lose(struct vfio_cmdq *cmdq)
{
	if (!mlx5_vfio_cmdq_is_inherited(cmdq) && queue_stop(cmdq))
		queue_reset(cmdq);
	return EIO;
}

int mlx5_vfio_cmdq_health(struct vfio_cmdq *cmdq)
{
	uint32_t syndrome;
	bool is_fatal;

	if (mlx5_vfio_cmdq_is_inherited(cmdq))
		return EIO;
	if (queue_is_dead(cmdq))
		return EIO; /* the log has said why */
	syndrome = register_read(cmdq->bar, INIT_SEG_HEALTH_SYNDROME);
	is_fatal = syndrome && register_read(cmdq->bar, INIT_SEG_HEALTH_RESET);
	if (is_gone(cmdq->bar))
		verbs_warn("VFIO: the device has left the bus");
	else if (is_fatal)
		verbs_warn("VFIO: the device is ill, health syndrome %#x: %s", syndrome,
			   syndrome_name(syndrome));
	else if (is_disabled(cmdq->bar))
		verbs_warn("VFIO: the device is disabled, its interface has state %u",
			   register_read(cmdq->bar, INIT_SEG_NIC_INTERFACE));
	else if (firmware_stands(cmdq))
		verbs_warn("VFIO: firmware has stopped, its health counter stays %u",
			   register_read(cmdq->bar, INIT_SEG_HEALTH_COUNTER));
	else {
		health_warn(cmdq, syndrome);
		return 0;
	}
	return mlx5_vfio_cmdq_lose(cmdq);
}

/* Reads each size once: the next read may give another. */
static int sizes_learn(struct vfio_cmdq *cmdq)
{
	const unsigned int log_size = register_read(cmdq->bar, INIT_SEG_LOG_CMDQ_SIZE);

	cmdq->log_stride = register_read(cmdq->bar, INIT_SEG_LOG_CMDQ_STRIDE);
	if (log_size >= 1 && log_size + cmdq->log_stride <= VFIO_LOG_PAGE &&
	    1u << cmdq->log_stride >= PRM_CMDQ_ENTRY_SIZE) {
		cmdq->free = UINT32_MAX >> (VFIO_MAX_ENTRIES -
					    min_of(1u << log_size, (uint32_t)VFIO_MAX_ENTRIES));
		return 0;
	}
	verbs_warn("ibv_open_device: a command queue of 2^%u entries of 2^%u bytes", log_size,
		   cmdq->log_stride);
	return EIO;
}

int mlx5_vfio_cmdq_init(struct vfio_cmdq *cmdq, struct vfio_space *space, uint8_t *bar)
{
	int ret = wait_ready(bar);
	uint64_t address;

	*cmdq = (struct vfio_cmdq){ .space = space,
				    .bar = bar,
				    .process = getpid(),
				    .command_ms = COMMAND_MS,
				    .health_ms = HEALTH_MS,
				    .health_since = (uint32_t)now_ms() };
	if (ret)
		return ret;
	cmdq->command_ms = command_ms_of(bar);
	ret = sizes_learn(cmdq);
	if (ret)
		return ret;
	ret = mlx5_vfio_dma_alloc(space, ENTRIES_SIZE, &cmdq->entries);
	if (ret)
		return ret;
	pthread_mutex_init(&cmdq->lock, NULL);
	for (unsigned int i = 0; i < VFIO_LANES; i++)
		pthread_cond_init(&cmdq->freed[i], NULL);
	address = vfio_dma_start(&cmdq->entries);
	wc_start_barrier();
	register_write(bar, INIT_SEG_CMDQ_ADDR_63_32, (uint32_t)(address >> 32));
	register_write(bar, INIT_SEG_CMDQ_ADDR_31_12, (uint32_t)address);
	ret = wait_ready(bar);
	if (ret) {
		vfio_space_lose(space); /* it knows the queue's address */
		mlx5_vfio_cmdq_destroy(cmdq);
	}
	return ret;
}

void mlx5_vfio_cmdq_destroy(struct vfio_cmdq *cmdq)
{
	for (unsigned int i = 0; i < VFIO_MAX_ENTRIES; i++) {
		mlx5_vfio_dma_free(cmdq->space, &cmdq->slot[i].in.dma);
		mlx5_vfio_dma_free(cmdq->space, &cmdq->slot[i].out.dma);
	}
	for (unsigned int i = 0; i < VFIO_LANES; i++)
		pthread_cond_destroy(&cmdq->freed[i]);
	pthread_mutex_destroy(&cmdq->lock);
	mlx5_vfio_dma_free(cmdq->space, &cmdq->entries);
}

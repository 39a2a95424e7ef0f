/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmdq.c - fetches commands from guest memory, lets the core execute them, and stores the answers.
 *
 * A descriptor has the first 16 bytes of input and output, and chains of mailboxes the others. Each
 * block of a chain is checked: alignment, number, token, signature. A chain is only followed as far
 * as its length requires, so a cyclic chain ends. Software may omit signatures: those of
 * descriptors if it signs none, and 0 in a block is not checked. A wrong chain or length gives a
 * delivery status, and the command is not executed. PRM: Command Interface.
 */
#include <assert.h>
#include <endian.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prm/mlx5/cmd.h"
#include "softhca/front/pci/cmdq.h"
#include "softhca/log.h"

struct descriptor {
	uint8_t type;
	uint8_t reserved_01[3];
	uint32_t in_len; /* this and all later fields are big-endian */
	uint64_t in_ptr;
	uint8_t in[16];
	uint8_t out[16];
	uint64_t out_ptr;
	uint32_t out_len;
	uint8_t token;
	uint8_t signature;
	uint8_t reserved_3e;
	uint8_t status_own;
};

enum { BLOCK_DATA = 512, INLINE_DATA = 16, LEAST_LEN = 8, REFUSED_BY_FAULT = 0xfa017 };

struct block {
	uint8_t data[BLOCK_DATA];
	uint8_t reserved_200[48];
	uint64_t next;
	uint32_t number;
	uint8_t reserved_23c;
	uint8_t token;
	uint8_t control_signature;
	uint8_t signature;
};

static_assert(sizeof(struct descriptor) == 64, "PRM: Command Queue Entry");
static_assert(sizeof(struct block) == 576, "PRM: Command Interface Mailbox");

enum {
	TYPE_PCI = 7,
	OWNER_HW = 1,
	ALIGN_MASK = 0x1ff,
};

enum delivery { /* values of status_own, bits 7:1 */
		DELIVERED = 0x0,
		BAD_SIGNATURE = 0x1,
		BAD_TOKEN = 0x2,
		BAD_BLOCK_NUMBER = 0x3,
		BAD_OUT_PTR = 0x4,
		BAD_IN_PTR = 0x5,
		FIRMWARE_ERROR = 0x6,
		BAD_IN_LENGTH = 0x7,
		BAD_OUT_LENGTH = 0x8,
		RESERVED_NOT_CLEAR = 0x9,
		BAD_DESCRIPTOR = 0x10,
};

static uint8_t xor8(const void *data, size_t len)
{
	const uint8_t *at = data;
	uint8_t sum = 0;

	while (len--)
		sum ^= *at++;
	return sum;
}

/* The control signature covers all bytes behind the data, up to itself. */
enum {
	CONTROL_LEN =
		offsetof(struct block, control_signature) - offsetof(struct block, reserved_200)
};

static bool block_is_intact(const struct block *block)
{
	return !block->signature || (xor8(block->reserved_200, CONTROL_LEN + 1) == 0xff &&
				     xor8(block, sizeof(*block)) == 0xff);
}

static void block_sign(struct block *block)
{
	block->control_signature = (uint8_t)~xor8(block->reserved_200, CONTROL_LEN);
	block->signature = (uint8_t)~xor8(block, sizeof(*block) - 1);
}

static enum delivery fetch_block(const struct cmdq *cmdq, uint64_t addr, uint32_t number,
				 uint8_t token, enum delivery bad_ptr, struct block *block)
{
	if (addr & ALIGN_MASK || dma_table_read(cmdq->dma, addr, block, sizeof(*block)))
		return bad_ptr;
	if (block->token != token)
		return BAD_TOKEN;
	if (be32toh(block->number) != number)
		return BAD_BLOCK_NUMBER;
	return DELIVERED;
}

static enum delivery command_gather(const struct cmdq *cmdq, const struct descriptor *desc,
				    uint8_t *in, uint32_t len)
{
	uint64_t addr = be64toh(desc->in_ptr);
	uint32_t number = 0, done = len < INLINE_DATA ? len : INLINE_DATA;
	enum delivery status;
	struct block block;

	memcpy(in, desc->in, done);
	while (done < len) {
		uint32_t part = len - done < BLOCK_DATA ? len - done : BLOCK_DATA;

		status = fetch_block(cmdq, addr, number++, desc->token, BAD_IN_PTR, &block);
		if (status)
			return status;
		if (!block_is_intact(&block))
			return BAD_SIGNATURE;
		memcpy(in + done, block.data, part);
		done += part;
		addr = be64toh(block.next);
	}
	return DELIVERED;
}

/* Writes the answer OUT to the chain of output mailboxes. If OUT is NULL, only checks the chain, so
 * that no command runs without room for its answer. */
static enum delivery command_scatter(const struct cmdq *cmdq, struct descriptor *desc,
				     const uint8_t *out, uint32_t len)
{
	uint64_t addr = be64toh(desc->out_ptr);
	uint32_t number = 0, done = len < INLINE_DATA ? len : INLINE_DATA;
	enum delivery status;
	struct block block;

	if (out)
		memcpy(desc->out, out, done);
	while (done < len) {
		uint32_t part = len - done < BLOCK_DATA ? len - done : BLOCK_DATA;

		status = fetch_block(cmdq, addr, number++, desc->token, BAD_OUT_PTR, &block);
		if (status)
			return status;
		if (out) {
			memset(block.data, 0, sizeof(block.data));
			memcpy(block.data, out + done, part);
			if (cmdq->is_signed)
				block_sign(&block);
			if (dma_table_write(cmdq->dma, addr, &block, sizeof(block)))
				return BAD_OUT_PTR;
		}
		done += part;
		addr = be64toh(block.next);
	}
	return DELIVERED;
}

static enum delivery descriptor_check(const struct cmdq *cmdq, const struct descriptor *desc)
{
	static const uint8_t clear[sizeof(desc->reserved_01)];

	if (desc->type != TYPE_PCI)
		return BAD_DESCRIPTOR;
	if (cmdq->is_signed && xor8(desc, sizeof(*desc)) != 0xff)
		return BAD_SIGNATURE;
	if (desc->reserved_3e || memcmp(desc->reserved_01, clear, sizeof(clear)))
		return RESERVED_NOT_CLEAR;
	if (be32toh(desc->in_len) < LEAST_LEN || be32toh(desc->in_len) > CMDQ_MAX_LEN)
		return BAD_IN_LENGTH;
	if (be32toh(desc->out_len) < LEAST_LEN || be32toh(desc->out_len) > CMDQ_MAX_LEN)
		return BAD_OUT_LENGTH;
	return DELIVERED;
}

/* Answers a command with an internal error instead of executing it. */
static void refuse(uint8_t *out)
{
	fld_set(out, CMD_OUT_STATUS, PRM_STAT_INT_ERR);
	fld_set(out, CMD_OUT_SYNDROME, REFUSED_BY_FAULT);
}

static enum delivery command_execute(const struct cmdq *cmdq, struct descriptor *desc, bool refused)
{
	uint32_t in_len = be32toh(desc->in_len), out_len = be32toh(desc->out_len);
	enum delivery status = descriptor_check(cmdq, desc);
	uint8_t *in, *out;

	if (status)
		return status;
	in = calloc(1, in_len);
	out = calloc(1, out_len);
	status = in && out ? command_gather(cmdq, desc, in, in_len) : FIRMWARE_ERROR;
	if (!status)
		status = command_scatter(cmdq, desc, NULL, out_len);
	if (!status) {
		if (refused)
			refuse(out);
		else
			hca_exec(cmdq->hca, in, in_len, out, out_len);
		status = command_scatter(cmdq, desc, out, out_len);
	}
	free(in);
	free(out);
	return status;
}

/* Signs the answer. Called only if software signs its commands: software that does not would send
 * this signature back in its next command, where it is wrong. */
static void descriptor_sign(struct descriptor *desc)
{
	desc->signature = 0;
	desc->signature = (uint8_t)~xor8(desc, sizeof(*desc));
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Lets a fault happen to the command in descriptor INDEX. Returns whether the command is not to be
 * run now. */
static bool suffer(struct cmdq *cmdq, uint32_t index, enum queued_fault fault, uint64_t late_ms)
{
	static const char *const names[] = {
		[QUEUED_LOST] = "lost",
		[QUEUED_REFUSED] = "refused",
		[QUEUED_LATE] = "delayed",
		[QUEUED_KILL] = "the program is killed",
		[QUEUED_UNPLUG] = "the adapter is unplugged",
	};

	if (fault == QUEUED_FINE)
		return false;
	log_note("command %u: %s by a fault", index, names[fault]);
	if (fault == QUEUED_LATE) {
		cmdq->late |= 1u << index;
		cmdq->late_at[index] = now_ns() + late_ms * 1000000;
	} else if (fault != QUEUED_REFUSED) {
		cmdq->lost |= 1u << index;
	}
	if (cmdq->on_fault && (fault == QUEUED_KILL || fault == QUEUED_UNPLUG))
		cmdq->on_fault(cmdq->front, fault);
	return fault != QUEUED_REFUSED;
}

/* Runs the command in descriptor INDEX and writes the descriptor back. Its last byte returns
 * ownership to software, so dma_table_write() stores it after the rest. */
static void run_one(struct cmdq *cmdq, uint32_t index, bool is_late)
{
	enum queued_fault fault = QUEUED_FINE;
	uint64_t late_ms = 0;
	uint64_t addr = cmdq->addr + ((uint64_t)index << CMDQ_LOG_STRIDE);
	bool by_event = hca_has_command_event(cmdq->hca);
	struct descriptor desc;
	enum delivery status;

	if (dma_table_read(cmdq->dma, addr, &desc, sizeof(desc)) || !(desc.status_own & OWNER_HW))
		return;
	if (!is_late)
		fault = fault_queued(cmdq->fault, &late_ms);
	if (suffer(cmdq, index, fault, late_ms))
		return;
	cmdq->is_signed |= desc.signature;
	status = command_execute(cmdq, &desc, fault == QUEUED_REFUSED);
	if (status)
		log_note("command %u: not delivered, status %#x", index, status);
	desc.status_own = (uint8_t)(status << 1);
	if (cmdq->is_signed)
		descriptor_sign(&desc);
	if (!dma_table_write(cmdq->dma, addr, &desc, sizeof(desc)) && by_event)
		hca_command_event(cmdq->hca, 1u << index);
}

void cmdq_set_address(struct cmdq *cmdq, uint64_t addr)
{
	cmdq->addr = addr;
	cmdq->pending = 0;
	cmdq->lost = cmdq->late = 0;
	cmdq->is_signed = false;
}

void cmdq_ring(struct cmdq *cmdq, uint32_t ready)
{
	if (ready != UINT32_MAX)
		cmdq->lost &= ~ready;
	if (cmdq->addr)
		cmdq->pending |= ready & ~cmdq->late & ~cmdq->lost;
}

/* Returns the delayed descriptors whose time has come. */
static uint32_t late_now(const struct cmdq *cmdq)
{
	const uint64_t now = cmdq->late ? now_ns() : 0;
	uint32_t ready = 0;

	for (uint32_t left = cmdq->late; left; left &= left - 1) {
		const uint32_t index = (uint32_t)__builtin_ctz(left);

		if (now >= cmdq->late_at[index])
			ready |= 1u << index;
	}
	return ready;
}

bool cmdq_is_pending(const struct cmdq *cmdq)
{
	return cmdq->pending || late_now(cmdq);
}

bool cmdq_run(struct cmdq *cmdq)
{
	const bool is_late = !cmdq->pending;
	const uint32_t ready = is_late ? late_now(cmdq) : cmdq->pending;
	uint32_t *waiting = is_late ? &cmdq->late : &cmdq->pending, index;

	if (!ready)
		return false;
	index = (uint32_t)__builtin_ctz(ready);
	*waiting &= ~(1u << index);
	run_one(cmdq, index, is_late);
	return cmdq_is_pending(cmdq);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_rig.h - an adapter that has nothing but memory for entries, and a frame that walks through
 * them. Each program includes it once.
 */
#ifndef TEST_STE_RIG_H
#define TEST_STE_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/ste.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/steering/ste_walk.h"

enum { STE_RIG_STEPS = 16384, STE_RIG_LOG_SIZE = 14, STE_RIG_FRAME = 128 };

static uint16_t rig_user;
static struct eth rig_eth;
static struct hca rig_hca = { .eth = &rig_eth };
static struct ste_block *rig_entries, *rig_lists;

static char rig_why[256];

void trace_line(struct trace *trace, const char *format, ...)
{
	va_list args;

	(void)trace;
	va_start(args, format);
	vsnprintf(rig_why, sizeof(rig_why), format, args);
	va_end(args);
}

int dma_finish(struct dma_batch *batch)
{
	(void)batch;
	return 0;
}

static int rig_create(void **state)
{
	(void)state;
	res_init(&rig_hca.ste_blocks, &rig_user, 1, 8);
	res_init(&rig_eth.flow_counters, &rig_user, 1, 8);
	res_init(&rig_eth.asos, &rig_user, 1, 8);
	res_init(&rig_eth.packet_reformats, &rig_user, 1, 8);
	return ste_memory_add(&rig_hca, STE_MEMORY_START, STE_RIG_LOG_SIZE, &rig_entries) ||
	       ste_memory_add(&rig_hca, STE_MEMORY_CHANGE, STE_RIG_LOG_SIZE, &rig_lists);
}

static int rig_destroy(void **state)
{
	(void)state;
	ste_memory_remove(&rig_hca, rig_entries);
	ste_memory_remove(&rig_hca, rig_lists);
	res_free(&rig_hca.ste_blocks);
	res_free(&rig_eth.flow_counters);
	res_free(&rig_eth.asos);
	res_free(&rig_eth.packet_reformats);
	return 0;
}

static inline void rig_write(struct ste_block *block, uint64_t addr, const void *bytes, size_t len)
{
	struct dma_batch batch = { .write = true, .buf = (uint8_t *)(uintptr_t)bytes };

	assert_int_equal(ste_memory_dma(&batch, block, addr, len), 0);
}

static inline size_t rig_unhex(const char *text, uint8_t *bytes, size_t room)
{
	const size_t len = strlen(text) / 2;

	assert_true(len <= room);
	for (size_t i = 0; i < len; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return len;
}

static inline void rig_miss_to(uint8_t *entry, uint64_t addr)
{
	fld_set(entry, STE_MISS_ADDRESS_39_32, addr >> 32);
	fld_set(entry, STE_MISS_ADDRESS_31_6, (uint32_t)addr >> FLD_SHIFT(STE_MISS_ADDRESS_31_6));
}

static inline void rig_hit_to(uint8_t *entry, uint64_t addr, uint32_t entries)
{
	const uint64_t low = (uint32_t)addr | entries * (PRM_STE_SIZE / 2u);

	fld_set(entry, STE_NEXT_TABLE_39_32, addr >> 32);
	fld_set(entry, STE_NEXT_TABLE_31_5, low >> FLD_SHIFT(STE_NEXT_TABLE_31_5));
	fld_set(entry, STE_NEXT_DEFINER, PRM_STE_NOTHING);
}

static inline void rig_entry(uint8_t entry[PRM_STE_SIZE], uint64_t addr)
{
	memset(entry, 0, PRM_STE_SIZE);
	fld_set(entry, STE_ENTRY_FORMAT, PRM_STE_MATCH);
	fld_set(entry, STE_DEFINER, PRM_STE_NOTHING);
	rig_hit_to(entry, addr, 1);
}

static inline void rig_put(unsigned int index, const uint8_t entry[PRM_STE_SIZE])
{
	rig_write(rig_entries, STE_MEMORY_START + (uint64_t)index * PRM_STE_SIZE, entry,
		  PRM_STE_SIZE);
}

struct rig_frame {
	struct eth_arrival arrival;
	struct flow_state state;
	struct ste_walk walk;
	uint8_t bytes[STE_RIG_FRAME];
};

static inline void rig_frame(struct rig_frame *frame, const char *text)
{
	memset(frame, 0, sizeof(*frame));
	frame_parse(&frame->arrival.frame, frame->bytes,
		    rig_unhex(text, frame->bytes, sizeof(frame->bytes)));
}

static inline void rig_walk(struct rig_frame *frame, uint64_t root)
{
	rig_why[0] = '\0';
	frame->walk = (struct ste_walk){ .hca = &rig_hca,
					 .arrival = &frame->arrival,
					 .state = &frame->state,
					 .steps = STE_RIG_STEPS };
	ste_walk(&frame->walk, root);
}

static inline void rig_free(struct rig_frame *frame)
{
	frame_copies_free(&frame->arrival.copies);
}

#endif

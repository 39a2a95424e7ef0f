/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * world.h - the state of the fuzzers: two adapters on a fabric, one memory that both access, and a
 * list of the objects that exist.
 *
 * The memory is one allocation, and mailboxes are allocations of exactly their size, so that the
 * address sanitizer sees any byte beyond. A bus address outside of the memory is a bus error. A
 * call that takes longer than a second of processor time ends the process.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "prm/mlx5/cmd.h"
#include "softhca/device/hca.h"
#include "tests/fuzz/source.h"

enum {
	WORLD_HCAS = 2,
	WORLD_MEM = 1 << 20,
	WORLD_PAGE = 4096,
	WORLD_MEMIC = 8 * WORLD_PAGE,
	OBJECTS = 32,
};
#define WORLD_BASE 0x100000000ull /* bus address of the memory */

enum kind {
	KIND_NONE,
	KIND_PD,
	KIND_UAR,
	KIND_TD,
	KIND_EQ,
	KIND_CQ,
	KIND_MKEY,
	KIND_QP,
	KIND_SRQ,
	KIND_RMP,
	KIND_XRQ,
	KIND_XRCD,
	KIND_DCT,
	KIND_Q_COUNTER,
	KIND_TIS,
	KIND_SQ,
	KIND_RQ,
	KIND_RQT,
	KIND_TIR,
	KIND_TABLE,
	KIND_GROUP,
	KIND_FLOW_COUNTER,
	KIND_HEADERS,
	KIND_REFORMAT,
	KINDS,
};

struct object {
	uint32_t n;
	uint64_t ring, dbr; /* bus addresses; of a QP's two queues, the receive queue comes first */
	uint64_t start;     /* first address of a memory key */
	uint32_t len;
	uint32_t rq_log, rq_stride, sq_log, uar;
	uint8_t service;
	uint16_t sq_pi, rq_pi;
};

struct world {
	struct source source;
	uint8_t *mem;
	uint64_t now;
	bool roce;
	struct fabric *fabric;
	struct fault *fault;
	struct hca *hca[WORLD_HCAS];
	struct object object[WORLD_HCAS][KINDS][OBJECTS];
	unsigned int count[WORLD_HCAS][KINDS];
};

void world_begin(struct world *world, const uint8_t *data, size_t len);
void world_end(struct world *world);

/* Returns a random object of the adapter, or NULL if it has none. */
struct object *world_object(struct world *world, unsigned int hca, enum kind kind);
/* Returns the number of such an object; now and then, a number that no object has. */
uint32_t world_number(struct world *world, unsigned int hca, enum kind kind);
struct object *world_add(struct world *world, unsigned int hca, enum kind kind, uint32_t number);
void world_remove(struct world *world, unsigned int hca, enum kind kind, uint32_t number);

/* Returns a page within the memory; now and then just outside. */
uint64_t world_page(struct world *world);
/* Returns the LEN bytes of memory at bus address ADDR, or NULL. */
uint8_t *world_at(struct world *world, uint64_t addr, size_t len);

/* Runs a command; OUT has room for OUT_LEN. Returns the status. */
enum prm_status world_exec(struct world *world, unsigned int hca, const void *in, size_t in_len,
			   void *out, size_t out_len);
void world_doorbell(struct world *world, unsigned int hca, uint32_t uar, uint32_t offset,
		    uint64_t value_be);
void world_progress(struct world *world);

/* These functions, in commands.c, run a command of the grammar, or a sequence of them. */
void fuzz_command(struct world *world, unsigned int hca);
void fuzz_connect(struct world *world);
void fuzz_objects(struct world *world, unsigned int hca);
/* work.c: posts a work request, rings a doorbell, or damages memory. */
void fuzz_work(struct world *world, unsigned int hca);
void fuzz_message(struct world *world, unsigned int hca);
void fuzz_mads(struct world *world);
/* Puts mostly valid headers of a frame, of at most ROOM bytes, which is 128 or more. Returns their
 * length. */
size_t fuzz_frame(struct world *world, uint8_t *frame, size_t room);

/* watch.c: end the process if a call takes too long, and print WHAT. */
void watch_begin(const char *what);
void watch_end(void);

#endif

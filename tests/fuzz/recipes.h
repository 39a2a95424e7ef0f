/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recipes.h - the grammar of commands: for each opcode its size and what its fields may hold.
 *
 * A new command is one recipe in one of the tables, which end with opcode 0. What creates comes
 * first, in the order in which objects need each other.
 */
#ifndef FUZZ_RECIPES_H
#define FUZZ_RECIPES_H

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/srqc.h"
#include "tests/fuzz/world.h"

enum what {
	NUMBER_OF, /* an object; arg: its kind */
	BELOW,     /* a number below arg */
	AMONG,     /* the number of one of the bits in arg */
	RARELY,    /* arg, else 0 */
	MOSTLY,    /* arg, else a random value */
	EXACTLY,   /* arg */
	ANY,       /* a value at the edge of a range */
	PAGE,      /* a page of memory */
	RECORD,    /* a doorbell record */
	REGISTER,  /* a register that ACCESS_REG knows */
	BYTES,     /* arg random bytes, at that part */
	RELATED,   /* one of the peer's objects; arg: its kind */
};

struct field {
	uint32_t where;
	enum what what;
	uint32_t arg;
};

struct recipe {
	uint16_t opcode;
	uint16_t in_size, out_size;
	enum kind creates, destroys;
	uint32_t pas; /* position of the page list; 0: none */
	const struct field *fields;
	uint32_t number; /* number of the destroyed object, where that is not NUMBER */
};

#define FIELDS(...) ((const struct field[]){ __VA_ARGS__, { 0, EXACTLY, 0 } })
#define NUMBER      FLD(0x8, 23, 0) /* position in both mailboxes of most commands */
#define OF(kind)    FIELDS({ NUMBER, NUMBER_OF, kind })
#define OP_MOD      CMD_IN_OP_MOD
#define IN(part, f) FLD_IN(part, f)

#define CQC(f)      IN(CREATE_CQ_IN_CQC, f)
#define EQC(f)      IN(CREATE_EQ_IN_EQC, f)
#define MKC(f)      IN(CREATE_MKEY_IN_MKC, f)
#define QPC(f)      IN(CREATE_QP_IN_QPC, f)
#define QPM(f)      IN(MODIFY_QP_IN_QPC, f)
#define ADS(f)      IN(MODIFY_QP_IN_QPC, FLD_IN(QPC_PRIMARY_PATH, f))
#define DCT(f)      IN(CREATE_DCT_IN_CONTEXT, f)
#define XRCQ(f)     IN(CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY, f)
#define RMPQ(f)     IN(CREATE_RMP_IN_CTX, FLD_IN(RMPC_WQ, f))
#define XRQ(f)      IN(CREATE_XRQ_IN_XRQ_CONTEXT, f)
#define XRQQ(f)     XRQ(FLD_IN(XRQC_WQ, f))

extern const struct recipe rdma_recipes[], eth_recipes[];

#endif

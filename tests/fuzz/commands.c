/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * commands.c - a grammar of commands: for each opcode its size and what its fields may hold. What it
 * makes is mostly right, so that objects come to exist, and then damaged now and then.
 *
 * A new command is one recipe here.
 */
#include <stdlib.h>
#include <string.h>

#include "softhca/device/driver_ifc.h"
#include "softhca/device/srq_ifc.h"
#include "tests/fuzz/world.h"

enum what {
	NUMBER_OF, /* an object; arg: its kind */
	BELOW,     /* a number below arg */
	AMONG,     /* the number of one of the bits in arg */
	RARELY,    /* arg, else 0 */
	EXACTLY,   /* arg */
	ANY,       /* an edge of something */
	PAGE,      /* a page of memory */
	RECORD,    /* a doorbell record */
	REGISTER,  /* that ACCESS_REG knows */
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
	uint32_t pas; /* where a page list goes, 0: none */
	const struct field *fields;
};

#define FIELDS(...) ((const struct field[]){ __VA_ARGS__, { 0, EXACTLY, 0 } })
#define NUMBER      PRM(0x8, 23, 0) /* where most commands have it, in both mailboxes */
#define OF(kind)    FIELDS({ NUMBER, NUMBER_OF, kind })
#define OP_MOD      CMD_IN_OP_MOD
#define IN(part, f) PRM_IN(part, f)

#define CQC(f)      IN(CREATE_CQ_IN_CQC, f)
#define EQC(f)      IN(CREATE_EQ_IN_EQC, f)
#define MKC(f)      IN(CREATE_MKEY_IN_MKC, f)
#define QPC(f)      IN(CREATE_QP_IN_QPC, f)
#define QPM(f)      IN(MODIFY_QP_IN_QPC, f)
#define ADS(f)      IN(MODIFY_QP_IN_QPC, PRM_IN(QPC_PRIMARY_PATH, f))
#define XRCQ(f)     IN(CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY, f)
#define RMPQ(f)     IN(CREATE_RMP_IN_CTX, PRM_IN(RMPC_WQ, f))

enum {
	SERVICES = 1 << PRM_QP_ST_RC | 1 << PRM_QP_ST_UC | 1 << PRM_QP_ST_UD | 1 << PRM_QP_ST_XRC |
		   1 << PRM_QP_ST_QP1 | 1 << PRM_QP_ST_REG_UMR,
	RQ_TYPES = 1 << PRM_RQ_TYPE_RQ | 1 << PRM_RQ_TYPE_SRQ | 1 << PRM_RQ_TYPE_ZERO_SIZE,
};

/* What every transition of a QP brings; a command takes of it what it likes. */
#define MODIFY_FIELDS                                                                     \
	FIELDS({ NUMBER, NUMBER_OF, KIND_QP }, { MODIFY_QP_IN_OPT_PARAM_MASK, ANY, 0 },   \
	       { ADS(ADS_VHCA_PORT_NUM), EXACTLY, 1 }, { ADS(ADS_RLID), BELOW, 4 },       \
	       { ADS(ADS_GRH), BELOW, 2 }, { ADS(ADS_SRC_ADDR_INDEX), BELOW, 2 },         \
	       { ADS(ADS_RGID_RIP), BYTES, 16 }, { ADS(ADS_ACK_TIMEOUT), BELOW, 16 },     \
	       { QPM(QPC_MTU), BELOW, 6 }, { QPM(QPC_LOG_MSG_MAX), BELOW, 32 },           \
	       { QPM(QPC_REMOTE_QPN), RELATED, KIND_QP }, { QPM(QPC_RRE), BELOW, 2 },     \
	       { QPM(QPC_RWE), BELOW, 2 }, { QPM(QPC_RAE), BELOW, 2 },                    \
	       { QPM(QPC_LOG_SRA_MAX), BELOW, 5 }, { QPM(QPC_LOG_RRA_MAX), BELOW, 5 },    \
	       { QPM(QPC_RETRY_COUNT), BELOW, 8 }, { QPM(QPC_RNR_RETRY), BELOW, 8 },      \
	       { QPM(QPC_MIN_RNR_NAK), BELOW, 32 }, { QPM(QPC_NEXT_SEND_PSN), BELOW, 4 }, \
	       { QPM(QPC_NEXT_RCV_PSN), BELOW, 4 }, { QPM(QPC_Q_KEY), BELOW, 3 })

#define MODIFY(op)                                                    \
	{                                                             \
		op, PRM_MODIFY_QP_IN_SIZE, 16, 0, 0, 0, MODIFY_FIELDS \
	}

static const struct recipe recipes[] = {
	/* objects, in the order in which they need each other */
	{ PRM_OP_ALLOC_UAR, 16, 16, KIND_UAR, 0, 0, NULL },
	{ PRM_OP_ALLOC_PD, 16, 16, KIND_PD, 0, 0, NULL },
	{ PRM_OP_ALLOC_XRCD, 16, 16, KIND_XRCD, 0, 0, NULL },
	{ PRM_OP_ALLOC_TRANSPORT_DOMAIN, 16, 16, KIND_TD, 0, 0, NULL },
	{ PRM_OP_CREATE_EQ, PRM_CREATE_EQ_IN_SIZE, 16, KIND_EQ, 0, PRM_BYTE(CREATE_EQ_IN_PAS),
	  FIELDS({ EQC(EQC_LOG_EQ_SIZE), BELOW, 8 }, { EQC(EQC_UAR_PAGE), NUMBER_OF, KIND_UAR },
		 { EQC(EQC_INTR), BELOW, 4 }, { CREATE_EQ_IN_EVENT_BITMASK, BYTES, 8 }) },
	{ PRM_OP_CREATE_CQ, PRM_CREATE_CQ_IN_SIZE, 16, KIND_CQ, 0, PRM_BYTE(CREATE_CQ_IN_PAS),
	  FIELDS({ CQC(CQC_LOG_CQ_SIZE), BELOW, 7 }, { CQC(CQC_CQE_SZ), BELOW, 2 },
		 { CQC(CQC_UAR_PAGE), NUMBER_OF, KIND_UAR }, { CQC(CQC_C_EQN), NUMBER_OF, KIND_EQ },
		 { CQC(CQC_OI), BELOW, 2 }, { CQC(CQC_DBR_ADDR), RECORD, 0 }) },
	{ PRM_OP_CREATE_MKEY, PRM_CREATE_MKEY_IN_SIZE, 16, KIND_MKEY, 0,
	  PRM_BYTE(CREATE_MKEY_IN_PAS),
	  FIELDS({ MKC(MKC_ACCESS_MODE_1_0), AMONG, 0xf }, { MKC(MKC_LR), EXACTLY, 1 },
		 { MKC(MKC_LW), EXACTLY, 1 }, { MKC(MKC_RR), EXACTLY, 1 },
		 { MKC(MKC_RW), EXACTLY, 1 }, { MKC(MKC_A), EXACTLY, 1 },
		 { MKC(MKC_EN_RINVAL), BELOW, 2 }, { MKC(MKC_QPN), EXACTLY, 0xffffff },
		 { MKC(MKC_PD), NUMBER_OF, KIND_PD }, { MKC(MKC_START_ADDR), PAGE, 0 },
		 { MKC(MKC_LEN), BELOW, 4 * WORLD_PAGE }, { MKC(MKC_LOG_PAGE_SIZE), EXACTLY, 12 },
		 { MKC(MKC_FREE), RARELY, 1 }, { MKC(MKC_TRANSLATIONS_OCTWORD_SIZE), BELOW, 8 },
		 { CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, BELOW, 8 }) },
	{ PRM_OP_CREATE_XRC_SRQ, PRM_CREATE_XRC_SRQ_IN_SIZE, 16, KIND_SRQ, 0,
	  PRM_BYTE(CREATE_SRQ_IN_PAS),
	  FIELDS({ XRCQ(XRC_SRQC_LOG_XRC_SRQ_SIZE), BELOW, 5 },
		 { XRCQ(XRC_SRQC_LOG_RQ_STRIDE), BELOW, 3 },
		 { XRCQ(XRC_SRQC_XRCD), NUMBER_OF, KIND_XRCD },
		 { XRCQ(XRC_SRQC_CQN), NUMBER_OF, KIND_CQ },
		 { XRCQ(XRC_SRQC_PD), NUMBER_OF, KIND_PD },
		 { XRCQ(XRC_SRQC_DBR_ADDR), RECORD, 0 }) },
	{ PRM_OP_CREATE_RMP, PRM_CREATE_RMP_IN_SIZE, 16, KIND_RMP, 0, PRM_BYTE(CREATE_SRQ_IN_PAS),
	  FIELDS({ IN(CREATE_RMP_IN_CTX, RMPC_STATE), EXACTLY, PRM_RMPC_STATE_RDY },
		 { RMPQ(WQ_LOG_WQ_SZ), BELOW, 5 }, { RMPQ(WQ_LOG_WQ_STRIDE), BELOW, 8 },
		 { RMPQ(WQ_PD), NUMBER_OF, KIND_PD }, { RMPQ(WQ_DBR_ADDR), RECORD, 0 }) },
	{ PRM_OP_CREATE_QP, PRM_CREATE_QP_IN_SIZE, 16, KIND_QP, 0, PRM_BYTE(CREATE_QP_IN_PAS),
	  FIELDS({ QPC(QPC_ST), AMONG, SERVICES }, { QPC(QPC_PM_STATE), EXACTLY, 3 },
		 { QPC(QPC_PD), NUMBER_OF, KIND_PD }, { QPC(QPC_LOG_RQ_SIZE), BELOW, 5 },
		 { QPC(QPC_LOG_RQ_STRIDE), BELOW, 4 }, { QPC(QPC_LOG_SQ_SIZE), BELOW, 6 },
		 { QPC(QPC_UAR_PAGE), NUMBER_OF, KIND_UAR }, { QPC(QPC_USER_INDEX), ANY, 0 },
		 { QPC(QPC_CQN_SND), NUMBER_OF, KIND_CQ }, { QPC(QPC_CQN_RCV), NUMBER_OF, KIND_CQ },
		 { QPC(QPC_DBR_ADDR), RECORD, 0 }, { QPC(QPC_RQ_TYPE), AMONG, RQ_TYPES },
		 { QPC(QPC_SRQN_RMPN_XRQN), NUMBER_OF, KIND_RMP },
		 { QPC(QPC_XRCD), NUMBER_OF, KIND_XRCD }, { QPC(QPC_CS_RES), BELOW, 3 },
		 { QPC(QPC_Q_KEY), BELOW, 3 }) },

	/* transitions */
	MODIFY(PRM_OP_RST2INIT_QP),
	MODIFY(PRM_OP_INIT2INIT_QP),
	MODIFY(PRM_OP_INIT2RTR_QP),
	MODIFY(PRM_OP_RTR2RTS_QP),
	MODIFY(PRM_OP_RTS2RTS_QP),
	MODIFY(PRM_OP_SQERR2RTS_QP),
	MODIFY(PRM_OP_SQD_RTS_QP),
	{ PRM_OP_2ERR_QP, 16, 16, 0, 0, 0, OF(KIND_QP) },
	{ PRM_OP_2RST_QP, 16, 16, 0, 0, 0, OF(KIND_QP) },
	{ PRM_OP_MODIFY_CQ, 16 + PRM_CQC_SIZE, 16, 0, 0, PRM_BYTE(CREATE_CQ_IN_PAS),
	  FIELDS({ NUMBER, NUMBER_OF, KIND_CQ }, { OP_MOD, BELOW, 3 },
		 { MODIFY_CQ_IN_FIELD_SELECT, BELOW, 16 },
		 { IN(MODIFY_CQ_IN_CQC, CQC_LOG_CQ_SIZE), BELOW, 7 }) },
	{ PRM_OP_ARM_XRC_SRQ, 16, 16, 0, 0, 0,
	  FIELDS({ NUMBER, NUMBER_OF, KIND_SRQ }, { ARM_XRC_SRQ_IN_LWM, BELOW, 16 }) },
	{ PRM_OP_MODIFY_RMP, PRM_MODIFY_RMP_IN_SIZE, 16, 0, 0, 0,
	  FIELDS({ NUMBER, NUMBER_OF, KIND_RMP }, { MODIFY_RMP_IN_RMP_STATE, BELOW, 4 },
		 { MODIFY_RMP_IN_BITMASK_LWM, BELOW, 2 },
		 { IN(MODIFY_RMP_IN_CTX, PRM_IN(RMPC_WQ, WQ_LWM)), BELOW, 16 }) },
	{ PRM_OP_ATTACH_TO_MCG, PRM_MCG_IN_SIZE, 16, 0, 0, 0,
	  FIELDS({ NUMBER, NUMBER_OF, KIND_QP }, { MCG_IN_MULTICAST_GID, BYTES, 1 }) },
	{ PRM_OP_DETACH_FROM_MCG, PRM_MCG_IN_SIZE, 16, 0, 0, 0,
	  FIELDS({ NUMBER, NUMBER_OF, KIND_QP }, { MCG_IN_MULTICAST_GID, BYTES, 1 }) },
	{ PRM_OP_SET_ROCE_ADDRESS, 16 + PRM_ROCE_ADDR_SIZE, 16, 0, 0, 0,
	  FIELDS({ SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX, BELOW, 3 },
		 { SET_ROCE_ADDRESS_IN_ROCE_ADDRESS, BYTES, PRM_ROCE_ADDR_SIZE }) },

	/* queries */
	{ PRM_OP_QUERY_HCA_CAP, 16, 16 + PRM_HCA_CAP_SIZE, 0, 0, 0, FIELDS({ OP_MOD, BELOW, 64 }) },
	{ PRM_OP_QUERY_MKEY, 16, 16 + PRM_MKC_SIZE, 0, 0, 0, OF(KIND_MKEY) },
	{ PRM_OP_QUERY_EQ, 16, 16 + PRM_EQC_SIZE, 0, 0, 0, OF(KIND_EQ) },
	{ PRM_OP_QUERY_CQ, 16, 16 + PRM_CQC_SIZE, 0, 0, 0, OF(KIND_CQ) },
	{ PRM_OP_QUERY_QP, 16, 24 + PRM_QPC_SIZE, 0, 0, 0, OF(KIND_QP) },
	{ PRM_OP_QUERY_XRC_SRQ, 16, PRM_QUERY_XRC_SRQ_OUT_SIZE, 0, 0, 0, OF(KIND_SRQ) },
	{ PRM_OP_QUERY_RMP, 16, PRM_QUERY_RMP_OUT_SIZE, 0, 0, 0, OF(KIND_RMP) },
	{ PRM_OP_QUERY_VPORT_STATE, 16, 16, 0, 0, 0, NULL },
	{ PRM_OP_QUERY_ROCE_ADDRESS, 16, 16 + PRM_ROCE_ADDR_SIZE, 0, 0, 0,
	  FIELDS({ QUERY_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX, BELOW, 3 }) },
	{ PRM_OP_QUERY_HCA_VPORT_CONTEXT, 16, 16 + PRM_HCA_VPORT_CONTEXT_SIZE, 0, 0, 0, NULL },
	{ PRM_OP_QUERY_HCA_VPORT_GID, 16, 32, 0, 0, 0,
	  FIELDS({ QUERY_HCA_VPORT_GID_IN_GID_INDEX, BELOW, 9 }) },
	{ PRM_OP_QUERY_HCA_VPORT_PKEY, 16, 20, 0, 0, 0,
	  FIELDS({ QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX, ANY, 0 }) },
	{ PRM_OP_QUERY_ADAPTER, 16, 16 + 256, 0, 0, 0, NULL },
	{ PRM_OP_QUERY_ISSI, 16, 112, 0, 0, 0, NULL },
	{ PRM_OP_NOP, 16, 16, 0, 0, 0, NULL },

	/* what a driver does at start and end */
	{ PRM_OP_ENABLE_HCA, 16, 16, 0, 0, 0, NULL },
	{ PRM_OP_DISABLE_HCA, 16, 16, 0, 0, 0, NULL },
	{ PRM_OP_INIT_HCA, 16, 16, 0, 0, 0, NULL },
	{ PRM_OP_TEARDOWN_HCA, 16, 16, 0, 0, 0, FIELDS({ TEARDOWN_HCA_IN_PROFILE, BELOW, 3 }) },
	{ PRM_OP_SET_ISSI, 16, 16, 0, 0, 0, FIELDS({ SET_ISSI_IN_CURRENT_ISSI, BELOW, 3 }) },
	{ PRM_OP_SET_HCA_CAP, 16 + PRM_HCA_CAP_SIZE, 16, 0, 0, 0, FIELDS({ OP_MOD, BELOW, 64 }) },
	{ PRM_OP_QUERY_PAGES, 16, 16, 0, 0, 0, FIELDS({ OP_MOD, BELOW, 5 }) },
	{ PRM_OP_MANAGE_PAGES, 16, 16 + 8 * 16, 0, 0, 16,
	  FIELDS({ OP_MOD, BELOW, 4 }, { MANAGE_PAGES_IN_INPUT_NUM_ENTRIES, BELOW, 12 }) },
	{ PRM_OP_ACCESS_REG, 16 + 64, 16 + 64, 0, 0, 0,
	  FIELDS({ OP_MOD, BELOW, 2 }, { ACCESS_REGISTER_IN_REGISTER_ID, REGISTER, 0 },
		 { IN(ACCESS_REGISTER_IN_REGISTER_DATA, PMTU_REG_LOCAL_PORT), BELOW, 3 }) },

	/* and away with it */
	{ PRM_OP_DESTROY_QP, 16, 16, 0, KIND_QP, 0, OF(KIND_QP) },
	{ PRM_OP_DESTROY_CQ, 16, 16, 0, KIND_CQ, 0, OF(KIND_CQ) },
	{ PRM_OP_DESTROY_EQ, 16, 16, 0, KIND_EQ, 0, OF(KIND_EQ) },
	{ PRM_OP_DESTROY_MKEY, 16, 16, 0, KIND_MKEY, 0, OF(KIND_MKEY) },
	{ PRM_OP_DESTROY_XRC_SRQ, 16, 16, 0, KIND_SRQ, 0, OF(KIND_SRQ) },
	{ PRM_OP_DESTROY_RMP, 16, 16, 0, KIND_RMP, 0, OF(KIND_RMP) },
	{ PRM_OP_DEALLOC_XRCD, 16, 16, 0, KIND_XRCD, 0, OF(KIND_XRCD) },
	{ PRM_OP_DEALLOC_PD, 16, 16, 0, KIND_PD, 0, OF(KIND_PD) },
	{ PRM_OP_DEALLOC_UAR, 16, 16, 0, KIND_UAR, 0, OF(KIND_UAR) },
	{ PRM_OP_DEALLOC_TRANSPORT_DOMAIN, 16, 16, 0, KIND_TD, 0, OF(KIND_TD) },
};

enum { RECIPES = sizeof(recipes) / sizeof(recipes[0]), MAX_IN = 8192, MAX_OUT = 8192 };

static const struct recipe *find(uint16_t opcode)
{
	const struct recipe *recipe = recipes;

	while (recipe->opcode != opcode)
		recipe++;
	return recipe;
}

/* ---- filling ---- */

static uint64_t record(struct world *world)
{
	return WORLD_BASE + pick(&world->source, WORLD_PAGE / 64) * 64;
}

static uint32_t among(struct source *source, uint32_t bits)
{
	uint32_t skip = pick(source, (uint32_t)__builtin_popcount(bits));

	while (skip--)
		bits &= bits - 1;
	return (uint32_t)__builtin_ctz(bits);
}

static const uint16_t registers[] = {
	PRM_REG_PMTU,
	PRM_REG_PTYS,
	PRM_REG_PVLC,
	PRM_REG_NODE_DESC,
	PRM_REG_HOST_ENDIANNESS,
	PRM_REG_DTOR,
	0x5006,
	0x5008,
	0x9020,
	0x907f,
};

/* Mostly the same PD and event queue, so that objects fit each other */
static uint32_t some_number(struct world *world, unsigned int hca, enum kind kind)
{
	bool shared = kind == KIND_PD || kind == KIND_EQ || kind == KIND_XRCD;

	if (shared && world->count[hca][kind] && !once_in(&world->source, 16))
		return world->object[hca][kind][0].n;
	return world_number(world, hca, kind);
}

static void put_field(struct world *world, unsigned int hca, const struct field *field, uint8_t *in)
{
	struct source *source = &world->source;
	uint8_t *bytes = prm_at(in, field->where);
	uint32_t i;

	switch (field->what) {
	case NUMBER_OF:
		prm_set(in, field->where, some_number(world, hca, field->arg));
		break;
	case RELATED:
		prm_set(in, field->where, world_number(world, !hca, field->arg));
		break;
	case BELOW:
		prm_set(in, field->where, pick(source, field->arg));
		break;
	case AMONG:
		prm_set(in, field->where, among(source, field->arg));
		break;
	case RARELY:
		prm_set(in, field->where, once_in(source, 8) ? field->arg : 0);
		break;
	case EXACTLY:
		prm_set(in, field->where, field->arg);
		break;
	case ANY:
		prm_set(in, field->where, take_edge(source));
		break;
	case PAGE:
		prm_set(in, field->where, world_page(world));
		break;
	case RECORD:
		prm_set(in, field->where, record(world));
		break;
	case REGISTER:
		prm_set(in, field->where, registers[pick(source, sizeof(registers) / 2)]);
		break;
	case BYTES:
		for (i = 0; i < field->arg; i++)
			bytes[i] = take(source);
		break;
	}
}

/* Pages, mostly one after the other; returns the size of the mailbox. */
static size_t put_pas(struct world *world, uint8_t *in, uint32_t at)
{
	uint32_t i, count = 1 + pick(&world->source, 8);
	uint64_t page = world_page(world);

	for (i = 0; i < count; i++) {
		prm_set64(in, at + 8 * i, page);
		page = once_in(&world->source, 8) ? world_page(world) : page + WORLD_PAGE;
	}
	return at + 8 * count;
}

static void damage(struct world *world, uint8_t *in, size_t len)
{
	struct source *source = &world->source;
	uint32_t i, times = 1 + pick(source, 3), word;

	for (i = 0; i < times; i++) {
		size_t at = pick(source, len);

		if (pick(source, 2)) {
			in[at] ^= 1u << pick(source, 8);
		} else if (len >= 4) {
			word = htobe32(take_edge(source));
			memcpy(in + at / 4 * 4, &word, at / 4 * 4 + 4 <= len ? 4 : 0);
		}
	}
}

static size_t some_length(struct world *world, size_t right, size_t max)
{
	if (!once_in(&world->source, 32))
		return right;
	return 1 + pick(&world->source, once_in(&world->source, 2) ? 32 : max);
}

/* As it should be */
static size_t cook(struct world *world, unsigned int hca, const struct recipe *recipe, uint8_t *in)
{
	const struct field *field = recipe->fields;
	size_t len = recipe->in_size;

	memset(in, 0, MAX_IN);
	if (recipe->pas)
		len = put_pas(world, in, recipe->pas);
	if (len < recipe->in_size)
		len = recipe->in_size;
	for (; field && field->where; field++)
		put_field(world, hca, field, in);
	prm_set(in, CMD_IN_OPCODE, recipe->opcode);
	return len;
}

/* ---- running ---- */

static void note_queue_pair(struct object *object, const uint8_t *in)
{
	const uint8_t *qpc = prm_at(in, CREATE_QP_IN_QPC);

	object->service = prm_get(qpc, QPC_ST);
	object->ring = prm_get64(in, PRM_BYTE(CREATE_QP_IN_PAS));
	object->dbr = prm_get(qpc, QPC_DBR_ADDR);
	object->uar = prm_get(qpc, QPC_UAR_PAGE);
	object->sq_log = prm_get(qpc, QPC_LOG_SQ_SIZE);
	if (prm_get(qpc, QPC_RQ_TYPE) == PRM_RQ_TYPE_RQ) {
		object->rq_log = prm_get(qpc, QPC_LOG_RQ_SIZE);
		object->rq_stride = 16u << prm_get(qpc, QPC_LOG_RQ_STRIDE);
	}
}

static void note(struct world *world, unsigned int hca, const struct recipe *recipe,
		 const uint8_t *in, const uint8_t *out)
{
	struct object *object;

	if (recipe->destroys)
		world_remove(world, hca, recipe->destroys, prm_get(in, NUMBER));
	if (!recipe->creates)
		return;
	object = world_add(world, hca, recipe->creates, prm_get(out, NUMBER));
	if (recipe->creates == KIND_QP) {
		note_queue_pair(object, in);
	} else if (recipe->creates == KIND_CQ) {
		object->dbr = prm_get(in, CQC(CQC_DBR_ADDR));
		object->uar = prm_get(in, CQC(CQC_UAR_PAGE));
	} else if (recipe->creates == KIND_MKEY) {
		object->start = prm_get(in, MKC(MKC_START_ADDR));
		object->len = prm_get(in, MKC(MKC_LEN));
	} else if (recipe->creates == KIND_SRQ || recipe->creates == KIND_RMP) {
		object->ring = prm_get64(in, PRM_BYTE(CREATE_SRQ_IN_PAS));
		object->dbr = recipe->creates == KIND_SRQ ? prm_get(in, XRCQ(XRC_SRQC_DBR_ADDR))
							  : prm_get(in, RMPQ(WQ_DBR_ADDR));
	}
}

/* Both mailboxes are of exactly the size that they claim. */
static enum prm_status run(struct world *world, unsigned int hca, const struct recipe *recipe,
			   const uint8_t *mailbox, size_t in_len)
{
	size_t out_len = some_length(world, recipe->out_size, MAX_OUT);
	uint8_t *in = malloc(in_len), *out = malloc(out_len);
	enum prm_status status;

	memcpy(in, mailbox, in_len);
	status = world_exec(world, hca, in, in_len, out, out_len);
	if (!status && out_len >= 16 && in_len >= recipe->in_size)
		note(world, hca, recipe, in, out);
	free(in);
	free(out);
	return status;
}

static void run_recipe(struct world *world, unsigned int hca, const struct recipe *recipe)
{
	uint8_t in[MAX_IN];
	size_t len = cook(world, hca, recipe, in);

	if (once_in(&world->source, 6))
		damage(world, in, len);
	prm_set(in, CMD_IN_OPCODE, recipe->opcode);
	run(world, hca, recipe, in, some_length(world, len, len));
}

void fuzz_command(struct world *world, unsigned int hca)
{
	struct recipe wild;

	if (!once_in(&world->source, 64)) {
		run_recipe(world, hca, &recipes[pick(&world->source, RECIPES)]);
		return;
	}
	wild = recipes[pick(&world->source, RECIPES)];
	wild.opcode = take_edge(&world->source) & 0xfff;
	wild.creates = wild.destroys = KIND_NONE;
	run_recipe(world, hca, &wild);
}

void fuzz_objects(struct world *world, unsigned int hca)
{
	unsigned int i;

	for (i = 0; recipes[i].creates; i++)
		run_recipe(world, hca, &recipes[i]);
}

static void give_address(struct world *world, unsigned int hca)
{
	uint8_t in[MAX_IN];
	size_t len = cook(world, hca, find(PRM_OP_SET_ROCE_ADDRESS), in);
	uint8_t *addr = prm_at(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS);

	prm_set(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX, 0);
	memset(prm_at(addr, ROCE_ADDR_SOURCE_L3_ADDRESS), 0x20 + hca, 16);
	run(world, hca, find(PRM_OP_SET_ROCE_ADDRESS), in, len);
}

static struct object *make_queue_pair(struct world *world, unsigned int hca, uint8_t service)
{
	const struct recipe *recipe = find(PRM_OP_CREATE_QP);
	uint8_t in[MAX_IN];
	size_t len = cook(world, hca, recipe, in);
	unsigned int count = world->count[hca][KIND_QP];

	if (count == OBJECTS)
		return NULL;
	prm_set(in, QPC(QPC_ST), service);
	if (once_in(&world->source, 2))
		prm_set(in, QPC(QPC_RQ_TYPE), PRM_RQ_TYPE_RQ);
	run(world, hca, recipe, in, len);
	return world->count[hca][KIND_QP] > count ? &world->object[hca][KIND_QP][count] : NULL;
}

static void step_to(struct world *world, unsigned int hca, const struct object *own,
		    const struct object *peer, uint16_t opcode)
{
	uint8_t in[MAX_IN];
	size_t len = cook(world, hca, find(opcode), in);

	prm_set(in, NUMBER, own->n);
	prm_set(in, MODIFY_QP_IN_OPT_PARAM_MASK, 0);
	prm_set(in, QPM(QPC_REMOTE_QPN), peer->n);
	prm_set(in, QPM(QPC_NEXT_SEND_PSN), 0);
	prm_set(in, QPM(QPC_NEXT_RCV_PSN), 0);
	prm_set(in, QPM(QPC_LOG_MSG_MAX), 30);
	prm_set(in, QPM(QPC_MTU), 1 + pick(&world->source, 5));
	prm_set(in, QPM(QPC_RRE), !once_in(&world->source, 8));
	prm_set(in, QPM(QPC_RWE), !once_in(&world->source, 8));
	prm_set(in, QPM(QPC_RAE), !once_in(&world->source, 8));
	prm_set(in, ADS(ADS_RLID), 2 - hca);
	prm_set(in, ADS(ADS_SRC_ADDR_INDEX), 0);
	memset(prm_at(in, ADS(ADS_RGID_RIP)), 0x20 + !hca, 16);
	run(world, hca, find(opcode), in, len);
}

/* A QP on each side, all the way to each other; they become the first of their lists. */
void fuzz_connect(struct world *world)
{
	static const uint8_t services[] = {
		PRM_QP_ST_RC, PRM_QP_ST_RC, PRM_QP_ST_RC,  PRM_QP_ST_UC,
		PRM_QP_ST_UD, PRM_QP_ST_UD, PRM_QP_ST_XRC, PRM_QP_ST_QP1
	};
	static const uint16_t steps[] = { PRM_OP_RST2INIT_QP, PRM_OP_INIT2RTR_QP,
					  PRM_OP_RTR2RTS_QP };
	uint8_t service = services[pick(&world->source, sizeof(services))];
	struct object *qp[WORLD_HCAS];
	unsigned int hca, i;

	for (hca = 0; hca < WORLD_HCAS; hca++) {
		if (world->roce)
			give_address(world, hca);
		qp[hca] = make_queue_pair(world, hca, service);
		if (!qp[hca])
			return;
	}
	for (hca = 0; hca < WORLD_HCAS; hca++) {
		struct object *first = world->object[hca][KIND_QP], kept = *first;

		for (i = 0; i < 3; i++)
			step_to(world, hca, qp[hca], qp[!hca], steps[i]);
		*first = *qp[hca];
		*qp[hca] = kept;
		qp[hca] = first;
	}
}

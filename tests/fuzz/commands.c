/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * commands.c - commands by recipes. Most fields are valid, so that objects get created; now and
 * then a command is damaged.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/reg.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/vport.h"
#include "prm/mlx5/wq.h"
#include "tests/fuzz/recipes.h"

enum { MAX_IN = 8192, MAX_OUT = 8192 };

static const struct recipe *const tables[] = { rdma_recipes, eth_recipes };

static const struct recipe *find_recipe(uint16_t opcode)
{
	const struct recipe *recipe = rdma_recipes;

	while (recipe->opcode != opcode)
		recipe++;
	return recipe;
}

static uint64_t record_alloc(struct world *world)
{
	return WORLD_BASE + pick(&world->source, WORLD_PAGE / 64) * 64;
}

static uint32_t bit_among(struct source *source, uint32_t bits)
{
	uint32_t skip = pick(source, (uint32_t)__builtin_popcount(bits));

	while (skip--)
		bits &= bits - 1;
	return (uint32_t)__builtin_ctz(bits);
}

static const uint16_t registers[] = {
	PRM_REG_PMTU, PRM_REG_PTYS, PRM_REG_PVLC, PRM_REG_NODE_DESC, PRM_REG_HOST_ENDIANNESS,
	PRM_REG_DTOR, PRM_REG_PAOS, PRM_REG_PFCC, PRM_REG_PPCNT,     PRM_REG_PMLP,
	0x9020,
};

/* Returns mostly the same PD and event queue, so that objects fit each other. */
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
	uint8_t *bytes = fld_at(in, field->where);

	switch (field->what) {
	case NUMBER_OF:
		fld_set(in, field->where, some_number(world, hca, field->arg));
		break;
	case RELATED:
		fld_set(in, field->where, world_number(world, !hca, field->arg));
		break;
	case BELOW:
		fld_set(in, field->where, pick(source, field->arg));
		break;
	case AMONG:
		fld_set(in, field->where, bit_among(source, field->arg));
		break;
	case RARELY:
		fld_set(in, field->where, once_in(source, 8) ? field->arg : 0);
		break;
	case MOSTLY:
		fld_set(in, field->where, once_in(source, 8) ? take_edge(source) : field->arg);
		break;
	case EXACTLY:
		fld_set(in, field->where, field->arg);
		break;
	case ANY:
		fld_set(in, field->where, take_edge(source));
		break;
	case PAGE:
		fld_set(in, field->where, world_page(world));
		break;
	case RECORD:
		fld_set(in, field->where, record_alloc(world));
		break;
	case REGISTER:
		fld_set(in, field->where, registers[pick(source, sizeof(registers) / 2)]);
		break;
	case BYTES:
		for (uint32_t i = 0; i < field->arg; i++)
			bytes[i] = take8(source);
		break;
	}
}

/* Puts a list of mostly consecutive pages. Returns the size of the mailbox. */
static size_t put_pas(struct world *world, uint8_t *in, uint32_t at)
{
	uint32_t count = 1 + pick(&world->source, 8);
	uint64_t page = world_page(world);

	for (uint32_t i = 0; i < count; i++) {
		fld_set64(in, at + 8 * i, page);
		page = once_in(&world->source, 8) ? world_page(world) : page + WORLD_PAGE;
	}
	return at + 8 * count;
}

static void mailbox_damage(struct world *world, uint8_t *in, size_t len)
{
	struct source *source = &world->source;
	uint32_t times = 1 + pick(source, 3), word;

	for (uint32_t i = 0; i < times; i++) {
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

/* Fills the mailbox as the recipe describes. */
static size_t mailbox_cook(struct world *world, unsigned int hca, const struct recipe *recipe,
			   uint8_t *in)
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
	fld_set(in, CMD_IN_OPCODE, recipe->opcode);
	return len;
}

/* A QP without queues of its own may have been created without a page list. */
static void note_queue_pair(struct object *object, const uint8_t *in)
{
	const uint8_t *qpc = fld_at(in, CREATE_QP_IN_QPC);

	object->service = fld_get(qpc, QPC_ST);
	if (!fld_get(qpc, QPC_NO_SQ) || fld_get(qpc, QPC_RQ_TYPE) == PRM_RQ_TYPE_RQ)
		object->ring = fld_get64(in, FLD_BYTE(CREATE_QP_IN_PAS));
	object->dbr = fld_get(qpc, QPC_DBR_ADDR);
	object->uar = fld_get(qpc, QPC_UAR_PAGE);
	object->sq_log = fld_get(qpc, QPC_LOG_SQ_SIZE);
	if (fld_get(qpc, QPC_RQ_TYPE) == PRM_RQ_TYPE_RQ) {
		object->rq_log = fld_get(qpc, QPC_LOG_RQ_SIZE);
		object->rq_stride = 16u << fld_get(qpc, QPC_LOG_RQ_STRIDE);
	}
}

/* Both kinds of context have their WQ at the same offset, so one function serves both. */
static void note_frame_queue(struct object *object, const uint8_t *in, const struct recipe *recipe)
{
	const uint8_t *wqc = fld_at(in, FLD_IN(CREATE_SQ_IN_CTX, SQC_WQ));

	object->ring = fld_get64(in, recipe->pas);
	object->dbr = fld_get(wqc, WQ_DBR_ADDR);
	object->uar = fld_get(wqc, WQ_UAR_PAGE);
	if (recipe->creates == KIND_SQ) {
		object->sq_log = fld_get(wqc, WQ_LOG_WQ_SZ);
	} else {
		object->rq_log = fld_get(wqc, WQ_LOG_WQ_SZ);
		object->rq_stride = 1u << fld_get(wqc, WQ_LOG_WQ_STRIDE);
	}
}

static void object_note(struct world *world, unsigned int hca, const struct recipe *recipe,
			const uint8_t *in, const uint8_t *out)
{
	struct object *object;

	if (recipe->destroys)
		world_remove(world, hca, recipe->destroys,
			     fld_get(in, recipe->number ? recipe->number : NUMBER));
	if (!recipe->creates)
		return;
	object = world_add(world, hca, recipe->creates, fld_get(out, NUMBER));
	if (recipe->creates == KIND_QP) {
		note_queue_pair(object, in);
	} else if (recipe->creates == KIND_CQ) {
		object->dbr = fld_get(in, CQC(CQC_DBR_ADDR));
		object->uar = fld_get(in, CQC(CQC_UAR_PAGE));
	} else if (recipe->creates == KIND_MKEY) {
		object->start = fld_get(in, MKC(MKC_START_ADDR));
		object->len = fld_get(in, MKC(MKC_LEN));
	} else if (recipe->creates == KIND_SQ || recipe->creates == KIND_RQ) {
		note_frame_queue(object, in, recipe);
	} else if (recipe->creates == KIND_XRQ) {
		object->ring = fld_get64(in, recipe->pas);
		object->dbr = fld_get(in, XRQQ(WQ_DBR_ADDR));
	} else if (recipe->creates == KIND_SRQ || recipe->creates == KIND_RMP) {
		object->ring = fld_get64(in, recipe->pas);
		object->dbr = recipe->creates == KIND_SRQ ? fld_get(in, XRCQ(XRC_SRQC_DBR_ADDR))
							  : fld_get(in, RMPQ(WQ_DBR_ADDR));
	}
}

/* Both mailboxes have exactly the size that the command claims, so that the address sanitizer sees
 * any access beyond. */
static enum prm_status run_bytes(struct world *world, unsigned int hca, const struct recipe *recipe,
				 const uint8_t *mailbox, size_t in_len)
{
	size_t out_len = some_length(world, recipe->out_size, MAX_OUT);
	uint8_t *in = malloc(in_len), *out = malloc(out_len);
	enum prm_status status;

	memcpy(in, mailbox, in_len);
	status = world_exec(world, hca, in, in_len, out, out_len);
	if (!status && out_len >= 16 && in_len >= recipe->in_size)
		object_note(world, hca, recipe, in, out);
	free(in);
	free(out);
	return status;
}

static void run_recipe(struct world *world, unsigned int hca, const struct recipe *recipe)
{
	uint8_t in[MAX_IN];
	size_t len = mailbox_cook(world, hca, recipe, in);

	if (once_in(&world->source, 6))
		mailbox_damage(world, in, len);
	fld_set(in, CMD_IN_OPCODE, recipe->opcode);
	run_bytes(world, hca, recipe, in, some_length(world, len, len));
}

static uint32_t count_recipes(const struct recipe *table)
{
	uint32_t count = 0;

	while (table[count].opcode)
		count++;
	return count;
}

void fuzz_command(struct world *world, unsigned int hca)
{
	const struct recipe *table = tables[world->roce && once_in(&world->source, 2)];
	struct recipe wild = table[pick(&world->source, count_recipes(table))];

	if (!once_in(&world->source, 64)) {
		run_recipe(world, hca, &wild);
		return;
	}
	wild.opcode = take_edge(&world->source) & 0xfff;
	wild.creates = wild.destroys = KIND_NONE;
	run_recipe(world, hca, &wild);
}

void fuzz_objects(struct world *world, unsigned int hca)
{
	for (const struct recipe *recipe = rdma_recipes; recipe->creates; recipe++)
		run_recipe(world, hca, recipe);
	if (!world->roce)
		return;
	/* tables lead to queues only after they are filled */
	for (const struct recipe *recipe = eth_recipes; recipe->opcode && !recipe->destroys;
	     recipe++)
		run_recipe(world, hca, recipe);
}

static void give_address(struct world *world, unsigned int hca)
{
	uint8_t in[MAX_IN];
	size_t len = mailbox_cook(world, hca, find_recipe(PRM_OP_SET_ROCE_ADDRESS), in);
	uint8_t *addr = fld_at(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS);

	fld_set(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX, 0);
	memset(fld_at(addr, ROCE_ADDR_SOURCE_L3_ADDRESS), 0x20 + hca, 16);
	run_bytes(world, hca, find_recipe(PRM_OP_SET_ROCE_ADDRESS), in, len);
}

static struct object *make_queue_pair(struct world *world, unsigned int hca, uint8_t service)
{
	const struct recipe *recipe = find_recipe(PRM_OP_CREATE_QP);
	uint8_t in[MAX_IN];
	size_t len = mailbox_cook(world, hca, recipe, in);
	unsigned int count = world->count[hca][KIND_QP];

	if (count == OBJECTS)
		return NULL;
	fld_set(in, QPC(QPC_ST), service);
	if (once_in(&world->source, 2))
		fld_set(in, QPC(QPC_RQ_TYPE), PRM_RQ_TYPE_RQ);
	run_bytes(world, hca, recipe, in, len);
	return world->count[hca][KIND_QP] > count ? &world->object[hca][KIND_QP][count] : NULL;
}

static void step_to(struct world *world, unsigned int hca, const struct object *own,
		    const struct object *peer, uint16_t opcode)
{
	uint8_t in[MAX_IN];
	size_t len = mailbox_cook(world, hca, find_recipe(opcode), in);

	fld_set(in, NUMBER, own->n);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK, 0);
	fld_set(in, QPM(QPC_REMOTE_QPN), peer->n);
	fld_set(in, QPM(QPC_NEXT_SEND_PSN), 0);
	fld_set(in, QPM(QPC_NEXT_RCV_PSN), 0);
	fld_set(in, QPM(QPC_LOG_MSG_MAX), 30);
	fld_set(in, QPM(QPC_MTU), 1 + pick(&world->source, 5));
	fld_set(in, QPM(QPC_RRE), !once_in(&world->source, 8));
	fld_set(in, QPM(QPC_RWE), !once_in(&world->source, 8));
	fld_set(in, QPM(QPC_RAE), !once_in(&world->source, 8));
	fld_set(in, ADS(ADS_RLID), 2 - hca);
	fld_set(in, ADS(ADS_SRC_ADDR_INDEX), 0);
	memset(fld_at(in, ADS(ADS_RGID_RIP)), 0x20 + !hca, 16);
	run_bytes(world, hca, find_recipe(opcode), in, len);
}

/* Creates a QP on each side and connects them. They become the first of their lists. */
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

	for (unsigned int hca = 0; hca < WORLD_HCAS; hca++) {
		if (world->roce)
			give_address(world, hca);
		qp[hca] = make_queue_pair(world, hca, service);
		if (!qp[hca])
			return;
	}
	for (unsigned int hca = 0; hca < WORLD_HCAS; hca++) {
		struct object *first = world->object[hca][KIND_QP], kept = *first;

		for (unsigned int i = 0; i < 3; i++)
			step_to(world, hca, qp[hca], qp[!hca], steps[i]);
		*first = *qp[hca];
		*qp[hca] = kept;
		qp[hca] = first;
	}
}

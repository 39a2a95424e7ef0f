/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump.c - prints domains, tables, matchers and rules as text. A line is a record: its type number,
 * then its fields. Tools parse this format; release 65.0 of the distribution's library writes the
 * same.
 *
 * The dump of an object includes the objects above it. Addresses identify objects.
 */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/array.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/dump_entry.h"
#include "providers/mlx5/dv/dr/meter.h"
#include "providers/mlx5/dv/dr/sampler.h"
#include "providers/mlx5/dv/dr/soft.h"

enum dump_record {
	DUMP_DOMAIN = 3000,
	DUMP_FLEX_PARSER = 3001,
	DUMP_DEVICE = 3002,
	DUMP_CAPS = 3004,
	DUMP_TABLE = 3100,
	DUMP_MATCHER = 3200,
	DUMP_RULE = 3300,
	DUMP_ENCAP_L2 = 3400,
	DUMP_ENCAP_L3 = 3401,
	DUMP_MODIFY_HEADER = 3402,
	DUMP_DROP = 3403,
	DUMP_QP = 3404,
	DUMP_DEST_TABLE = 3405,
	DUMP_COUNTER = 3406,
	DUMP_TAG = 3407,
	DUMP_DECAP_L2 = 3409,
	DUMP_DECAP_L3 = 3410,
	DUMP_TIR = 3411,
	DUMP_PUSH_VLAN = 3412,
	DUMP_POP_VLAN = 3413,
	DUMP_METER = 3414,
	DUMP_SAMPLER = 3415,
	DUMP_ARRAY = 3416,
	DUMP_FIRST_HIT = 3417,
	DUMP_ASO_METER = 3418,
	DUMP_CONNECTION = 3419,
	DUMP_DEFAULT_MISS = 3423,
};

static uint64_t id_of(const void *object)
{
	return (uintptr_t)object;
}

static uint64_t domain_id(const struct mlx5dv_dr_domain *domain)
{
	return (uint64_t)(uint32_t)getpid() << 8 | domain->type;
}

/* Queries a capability page. If the adapter refuses, returns a page of zeros, so that the dump
 * still has all fields. */
static const uint8_t *page_query(const struct mlx5dv_dr_domain *domain, enum prm_cap page,
				 uint8_t *out, size_t size)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	fld_set(in, CMD_IN_OP_MOD, (unsigned int)page << 1 | 1);
	if (mlx5_devx_run(to_mctx(domain->context), in, sizeof(in), out, size))
		memset(out, 0, size);
	return fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY);
}

static void dump_flex_parsers(FILE *file, uint64_t id, const uint8_t *general)
{
	const struct {
		const char *name;
		uint64_t parser;
	} parsers[] = {
		{ "icmp_dw0", fld_get(general, HCA_CAP_FLEX_PARSER_ID_ICMP_DW0) },
		{ "icmp_dw1", fld_get(general, HCA_CAP_FLEX_PARSER_ID_ICMP_DW1) },
		{ "icmpv6_dw0", fld_get(general, HCA_CAP_FLEX_PARSER_ID_ICMPV6_DW0) },
		{ "icmpv6_dw1", fld_get(general, HCA_CAP_FLEX_PARSER_ID_ICMPV6_DW1) },
	};

	for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++)
		fprintf(file, "%d,0x%" PRIx64 ",%s,0x%x\n", DUMP_FLEX_PARSER, id, parsers[i].name,
			(unsigned int)parsers[i].parser);
}

static void dump_caps(FILE *file, const struct mlx5dv_dr_domain *domain, const uint8_t *general)
{
	uint8_t out[PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE];
	const uint8_t *nic = page_query(domain, PRM_CAP_FLOW_TABLE, out, sizeof(out));
	const uint64_t id = domain_id(domain);

	fprintf(file, "%d,0x%" PRIx64 ",0x%x,0x%" PRIx64 ",0x%" PRIx64 ",0x%x,0,%u\n", DUMP_CAPS,
		id, (unsigned int)fld_get(general, HCA_CAP_VHCA_ID),
		(uint64_t)fld_get(nic, FLOW_NIC_CAP_SW_STEERING_RX_DROP_ICM_ADDRESS),
		(uint64_t)fld_get(nic, FLOW_NIC_CAP_SW_STEERING_TX_DROP_ICM_ADDRESS),
		(unsigned int)fld_get(general, HCA_CAP_FLEX_PARSER_PROTOCOLS),
		(unsigned int)fld_get(general, HCA_CAP_ESWITCH_MANAGER));
	dump_flex_parsers(file, id, general);
}

static unsigned int pools_of(struct dr_memory *memory)
{
	unsigned int pools;

	pthread_mutex_lock(&memory->lock);
	pools = memory->num_pools;
	pthread_mutex_unlock(&memory->lock);
	return pools;
}

/* What a domain has below the root: pools of the adapter's memory for entries, and for lists of
 * header changes. */
struct below {
	bool exists;
	unsigned int entries, lists, format;
};

static struct below below_of(const struct mlx5dv_dr_domain *domain)
{
	struct dr_soft *soft = __atomic_load_n(&domain->soft, __ATOMIC_ACQUIRE);
	struct below below = { .exists = soft != NULL };

	if (!soft)
		return below;
	below.format = soft->caps.format;
	below.entries = pools_of(&soft->memory);
	pthread_mutex_lock(&soft->anchors.lock);
	if (soft->lists)
		below.lists = pools_of(&soft->lists->memory);
	pthread_mutex_unlock(&soft->anchors.lock);
	return below;
}

/* Dumps a domain. A domain with only root tables has no device memory and no rings to dump. */
static void dump_domain(FILE *file, const struct mlx5dv_dr_domain *domain)
{
	const struct below below = below_of(domain);
	uint8_t out[PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE];
	const uint8_t *general = page_query(domain, PRM_CAP_GENERAL, out, sizeof(out));
	const uint64_t id = domain_id(domain);
	struct ibv_device_attr device = { .fw_ver = "" };

	ibv_query_device(domain->context, &device);
	fprintf(file, "%d,0x%" PRIx64 ",%d,0%x,%d,%s,%s,%u,%u,%u,0,%u\n", DUMP_DOMAIN, id,
		(int)domain->type, (unsigned int)fld_get(general, HCA_CAP_VHCA_ID), below.exists,
		RDMAKIT_RELEASE, domain->context->device->dev_name,
		__atomic_load_n(&domain->flags, __ATOMIC_RELAXED), below.entries, below.lists,
		below.format);
	fprintf(file, "%d,0x%" PRIx64 ",0,%s,0\n", DUMP_DEVICE, id, device.fw_ver);
	dump_caps(file, domain, general);
}

/* ---- tables, matchers, rules and actions ---- */

/* Dumps a table. The type of a root table is 0 in each domain. */
static void dump_table(FILE *file, const struct mlx5dv_dr_table *table)
{
	const int type = table->soft ? (int)table->domain->type : 0;

	fprintf(file, "%d,0x%" PRIx64 ",0x%" PRIx64 ",%d,%" PRIu32 "\n", DUMP_TABLE, id_of(table),
		domain_id(table->domain), type, table->level);
}

static void dump_matcher(FILE *file, const struct mlx5dv_dr_matcher *matcher)
{
	fprintf(file, "%d,0x%" PRIx64 ",0x%" PRIx64 ",%u\n", DUMP_MATCHER, id_of(matcher),
		id_of(matcher->table), matcher->priority);
}

static enum dump_record reformat_record(enum mlx5dv_flow_action_packet_reformat_type type)
{
	switch (type) {
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2:
		return DUMP_DECAP_L2;
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2:
		return DUMP_DECAP_L3;
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL:
		return DUMP_ENCAP_L2;
	default:
		return DUMP_ENCAP_L3;
	}
}

static void dump_head(FILE *file, enum dump_record record, const struct mlx5dv_dr_action *action,
		      const struct mlx5dv_dr_rule *rule)
{
	fprintf(file, "%d,0x%" PRIx64 ",0x%" PRIx64, record, id_of(action), id_of(rule));
}

/* Dumps a header change. Writes 0 for the number of a kernel object, which the program cannot
 * learn. */
static void dump_change(FILE *file, const struct mlx5dv_dr_action *action,
			const struct mlx5dv_dr_rule *rule)
{
	enum dump_record record = action->kind == DR_ACTION_MODIFY_HEADER
					  ? DUMP_MODIFY_HEADER
					  : reformat_record(action->change.type);

	dump_head(file, record, action, rule);
	if (record == DUMP_MODIFY_HEADER)
		fprintf(file, ",0x%x,%d,0x0,0x0,0x0", action->change.list.number,
			!action->change.action && !action->change.list.count);
	else if (record == DUMP_DECAP_L3)
		fprintf(file, ",0x%x", action->change.list.number);
	else if (record != DUMP_DECAP_L2)
		fprintf(file, ",0x%x", action->change.action ? 0 : action->change.words[1]);
}

static void dump_meter(FILE *file, const struct mlx5dv_dr_action *action,
		       const struct mlx5dv_dr_rule *rule)
{
	const struct dr_meter *meter = action->meter;
	const bool is_tx = action->domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX;

	dump_head(file, DUMP_METER, action, rule);
	fprintf(file, ",0x%" PRIx64 ",0x%x,0x%" PRIx64 ",0x%" PRIx64, id_of(meter->next),
		meter->obj->id, is_tx ? 0 : meter->address, is_tx ? meter->address : 0);
}

static enum dump_record aso_record(enum dr_action_kind kind)
{
	switch (kind) {
	case DR_ACTION_FIRST_HIT:
		return DUMP_FIRST_HIT;
	case DR_ACTION_ASO_METER:
		return DUMP_ASO_METER;
	default:
		return DUMP_CONNECTION;
	}
}

static void dump_action(FILE *file, const struct mlx5dv_dr_action *action,
			const struct mlx5dv_dr_rule *rule)
{
	switch (action->kind) {
	case DR_ACTION_QP:
		dump_head(file, DUMP_QP, action, rule);
		fprintf(file, ",0x%x", action->qp->qp_num);
		break;
	case DR_ACTION_TIR:
		dump_head(file, DUMP_TIR, action, rule);
		fprintf(file, ",0x%" PRIx64, action->tir->icm);
		break;
	case DR_ACTION_TABLE:
		dump_head(file, DUMP_DEST_TABLE, action, rule);
		fprintf(file, ",0x%x,0x%" PRIx64, action->table->soft->number,
			id_of(action->table));
		break;
	case DR_ACTION_METER:
		dump_meter(file, action, rule);
		break;
	case DR_ACTION_SAMPLER:
		dump_head(file, DUMP_SAMPLER, action, rule);
		fprintf(file, ",0x%" PRIx64 ",0x%x,0x%x,0x%" PRIx64 ",0x0",
			id_of(action->sampler->next), action->sampler->forward.number,
			action->sampler->obj->id, action->sampler->address);
		break;
	case DR_ACTION_ARRAY:
		dump_head(file, DUMP_ARRAY, action, rule);
		fprintf(file, ",0x%x,0x%" PRIx64 ",0x0", action->array->forward.number,
			action->array->forward.address);
		break;
	case DR_ACTION_DROP:
		dump_head(file, DUMP_DROP, action, rule);
		break;
	case DR_ACTION_DEFAULT_MISS:
		dump_head(file, DUMP_DEFAULT_MISS, action, rule);
		break;
	case DR_ACTION_TAG:
		dump_head(file, DUMP_TAG, action, rule);
		fprintf(file, ",0x%x", action->tag);
		break;
	case DR_ACTION_COUNTER:
		dump_head(file, DUMP_COUNTER, action, rule);
		fprintf(file, ",0x%x", action->counter.obj->id + action->counter.offset);
		break;
	case DR_ACTION_PUSH_VLAN:
		dump_head(file, DUMP_PUSH_VLAN, action, rule);
		fprintf(file, ",0x%x", action->vlan);
		break;
	case DR_ACTION_POP_VLAN:
		dump_head(file, DUMP_POP_VLAN, action, rule);
		break;
	case DR_ACTION_REFORMAT:
	case DR_ACTION_MODIFY_HEADER:
		dump_change(file, action, rule);
		break;
	case DR_ACTION_FIRST_HIT:
	case DR_ACTION_ASO_METER:
	case DR_ACTION_CONNECTION:
		dump_head(file, aso_record(action->kind), action, rule);
		fprintf(file, ",0x%x", action->aso.first);
		break;
	}
	fprintf(file, "\n");
}

static void dump_rule(FILE *file, const struct mlx5dv_dr_rule *rule)
{
	fprintf(file, "%d,0x%" PRIx64 ",0x%" PRIx64 "\n", DUMP_RULE, id_of(rule),
		id_of(rule->matcher));
	if (rule->matcher->soft)
		mlx5_dr_dump_entries(file, rule);
	for (size_t i = 0; i < rule->num_actions; i++)
		dump_action(file, rule->actions[i], rule);
}

static bool can_dump(const char *call, const FILE *file, const void *object)
{
	if (file && object)
		return true;
	verbs_warn("%s: %s is NULL", call, file ? "the object" : "fout");
	return false;
}

DV_EXPORT int mlx5dv_dump_dr_domain(FILE *fout, struct mlx5dv_dr_domain *domain)
{
	const struct mlx5dv_dr_table *table;

	if (!can_dump("mlx5dv_dump_dr_domain", fout, domain))
		return -EINVAL;
	dump_domain(fout, domain);
	pthread_mutex_lock(&domain->lock);
	TAILQ_FOREACH(table, &domain->tables, link)
		dump_table(fout, table);
	pthread_mutex_unlock(&domain->lock);
	return 0;
}

DV_EXPORT int mlx5dv_dump_dr_table(FILE *fout, struct mlx5dv_dr_table *table)
{
	if (!can_dump("mlx5dv_dump_dr_table", fout, table))
		return -EINVAL;
	dump_domain(fout, table->domain);
	dump_table(fout, table);
	return 0;
}

DV_EXPORT int mlx5dv_dump_dr_matcher(FILE *fout, struct mlx5dv_dr_matcher *matcher)
{
	if (!can_dump("mlx5dv_dump_dr_matcher", fout, matcher))
		return -EINVAL;
	mlx5dv_dump_dr_table(fout, matcher->table);
	dump_matcher(fout, matcher);
	return 0;
}

DV_EXPORT int mlx5dv_dump_dr_rule(FILE *fout, struct mlx5dv_dr_rule *rule)
{
	if (!can_dump("mlx5dv_dump_dr_rule", fout, rule))
		return -EINVAL;
	mlx5dv_dump_dr_matcher(fout, rule->matcher);
	dump_rule(fout, rule);
	return 0;
}

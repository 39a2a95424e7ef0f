/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * action.c - actions of direct rules: the destination of a frame, and changes to it. Several rules
 * may share an action.
 */
#include <arpa/inet.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/packet_reformat.h"
#include "prm/mlx5/ste.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/array.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/meter.h"
#include "providers/mlx5/dv/dr/modify.h"
#include "providers/mlx5/dv/dr/sampler.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "providers/mlx5/dv/export.h"
#include "providers/mlx5/qp/qp.h"
#include "util/alloc.h"

enum { TAG_MASK = 0xffffff /* tags have 24 bits in the adapter */ };
/* Most bytes of new headers: an entry's size field counts words of PRM_STE_WORD bytes. */
enum { ENCAP_MAX = FLD_MASK(STE_INSERT_SIZE) * PRM_STE_WORD };
/* Entry action that removes headers up to the inner Ethernet header, with the bits that release
 * 65.0 sets. */
enum { DECAP_L2 = 0x0900130c };

static struct mlx5dv_dr_action *action_new(const char *call, enum dr_action_kind kind)
{
	struct mlx5dv_dr_action *action = calloc_for(call, 1, sizeof(*action));

	if (!action)
		return dv_fail(ENOMEM);
	action->kind = kind;
	return action;
}

DV_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_ibv_qp(struct ibv_qp *ibqp)
{
	static const char call[] = "mlx5dv_dr_action_create_dest_ibv_qp";
	struct mlx5dv_dr_action *action;

	if (ibqp->qp_type != IBV_QPT_RAW_PACKET) {
		verbs_warn("%s: qp_type is %d; frames go to QPs of type RAW_PACKET", call,
			   (int)ibqp->qp_type);
		return dv_fail(EINVAL);
	}
	action = action_new(call, DR_ACTION_QP);
	if (action)
		action->qp = ibqp;
	return action;
}

DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_dest_devx_tir(struct mlx5dv_devx_obj *devx_obj)
{
	static const char call[] = "mlx5dv_dr_action_create_dest_devx_tir";
	struct mlx5dv_dr_action *action;

	if (!devx_obj || devx_obj->type != DV_EXPORT_TIR) {
		verbs_warn("%s: devx_obj is %s", call,
			   devx_obj ? "not one that CREATE_TIR has made" : "NULL");
		return dv_fail(EINVAL);
	}
	action = action_new(call, DR_ACTION_TIR);
	if (action)
		action->tir = devx_obj;
	return action;
}

DV_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_drop(void)
{
	return action_new("mlx5dv_dr_action_create_drop", DR_ACTION_DROP);
}

DV_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_default_miss(void)
{
	return action_new("mlx5dv_dr_action_create_default_miss", DR_ACTION_DEFAULT_MISS);
}

DV_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_table(struct mlx5dv_dr_table *table)
{
	static const char call[] = "mlx5dv_dr_action_create_dest_table";
	struct mlx5dv_dr_action *action;

	if (!table->soft) {
		verbs_warn("%s: a root table is no destination", call);
		return dv_fail(EINVAL);
	}
	action = action_new(call, DR_ACTION_TABLE);
	if (!action)
		return NULL;
	action->table = table;
	dr_use(&table->users);
	return action;
}

/* Refuses all tables. Release 65.0 has this destination for the switch's root tables only, and
 * rules of the switch are not supported here. */
DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_dest_root_table(struct mlx5dv_dr_table *table, uint16_t priority)
{
	static const char call[] = "mlx5dv_dr_action_create_dest_root_table";

	if (!table || table->soft || table->domain->type != MLX5DV_DR_DOMAIN_TYPE_FDB) {
		verbs_warn("%s: table is %s", call, table ? "no root table of FDB" : "NULL");
		return dv_fail(EINVAL);
	}
	verbs_warn("%s: priority is %u; no rule leads to a root table: not supported yet", call,
		   priority);
	return dv_fail(EOPNOTSUPP);
}

uint64_t mlx5_dr_action_address(const struct mlx5dv_dr_action *action)
{
	switch (action->kind) {
	case DR_ACTION_QP:
		return to_mqp(action->qp)->parts.tir_icm_addr;
	case DR_ACTION_TIR:
		return action->tir->icm;
	case DR_ACTION_ARRAY:
		return action->array->forward.address;
	case DR_ACTION_SAMPLER:
		return action->sampler->address;
	case DR_ACTION_METER:
		return action->meter->address;
	default:
		return mlx5_dr_soft_table_address(action->table->soft);
	}
}

uint32_t mlx5_dr_action_counter(const struct mlx5dv_dr_action *action)
{
	return action->counter.obj->id + action->counter.offset;
}

/* ---- tags, counters and VLANs ---- */

DV_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_tag(uint32_t tag_value)
{
	struct mlx5dv_dr_action *action = action_new("mlx5dv_dr_action_create_tag", DR_ACTION_TAG);

	if (action)
		action->tag = tag_value & TAG_MASK;
	return action;
}

DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_flow_counter(struct mlx5dv_devx_obj *devx_obj, uint32_t offset)
{
	static const char call[] = "mlx5dv_dr_action_create_flow_counter";
	struct mlx5dv_dr_action *action;

	if (!devx_obj || devx_obj->type != DV_EXPORT_FLOW_COUNTER) {
		verbs_warn("%s: devx_obj is %s", call, devx_obj ? "no flow counter" : "NULL");
		return dv_fail(EINVAL);
	}
	action = action_new(call, DR_ACTION_COUNTER);
	if (action) {
		action->counter.obj = devx_obj;
		action->counter.offset = offset;
	}
	return action;
}

DV_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_pop_vlan(void)
{
	return action_new("mlx5dv_dr_action_create_pop_vlan", DR_ACTION_POP_VLAN);
}

/* Takes no reference to the domain, as no object of the adapter belongs to this action. */
DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_push_vlan(struct mlx5dv_dr_domain *domain, __be32 vlan_hdr)
{
	enum { TPID_C_VLAN = 0x8100, TPID_S_VLAN = 0x88a8 };
	static const char call[] = "mlx5dv_dr_action_create_push_vlan";
	const uint32_t tpid = ntohl(vlan_hdr) >> 16;
	struct mlx5dv_dr_action *action;

	(void)domain;
	if (tpid != TPID_C_VLAN && tpid != TPID_S_VLAN) {
		verbs_warn("%s: vlan_hdr begins with %#x, must be 0x8100 or 0x88a8", call, tpid);
		return dv_fail(EINVAL);
	}
	action = action_new(call, DR_ACTION_PUSH_VLAN);
	if (action)
		action->vlan = ntohl(vlan_hdr);
	return action;
}

/* ---- header changes: objects of the kernel for root tables, words of entries for others ---- */

static int check_flags(const char *call, struct mlx5dv_dr_domain *domain, uint32_t flags)
{
	if (flags & ~(uint32_t)MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL) {
		verbs_warn("%s: flags are %#x, known is ROOT_LEVEL (1)", call, flags);
		return EINVAL;
	}
	if (flags || mlx5_dr_soft_exists(domain))
		return 0;
	verbs_warn("%s: without ROOT_LEVEL the action is for tables of other levels, which the "
		   "domain cannot have",
		   call);
	return EOPNOTSUPP;
}

/* Returns whether TYPE fits the domain: received frames can only lose headers, and sent frames can
 * only get new ones. */
static bool reformat_fits(const struct mlx5dv_dr_domain *domain,
			  enum mlx5dv_flow_action_packet_reformat_type type)
{
	switch (type) {
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2:
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2:
		return domain->type != MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL:
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL:
		return domain->type != MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
	default:
		return false;
	}
}

/* Creates an adapter object with the new headers in DATA, and the entry action that inserts them.
 * PRM: STE insert with pointer */
static int encap_make(struct mlx5dv_dr_action *action, size_t size, const void *data)
{
	uint8_t in[PRM_ALLOC_REFORMAT_IN_SIZE + ENCAP_MAX] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 }, word[sizeof(uint32_t)] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	fld_set(in, ALLOC_REFORMAT_IN_TYPE,
		action->change.type == MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL
			? PRM_REFORMAT_L2_TO_L3_TUNNEL
			: PRM_REFORMAT_L2_TO_L2_TUNNEL);
	fld_set(in, ALLOC_REFORMAT_IN_DATA_SIZE, size);
	memcpy(fld_at(in, ALLOC_REFORMAT_IN_DATA), data, size);
	action->change.obj = mlx5dv_devx_obj_create(
		action->domain->context, in, (FLD_BYTE(ALLOC_REFORMAT_IN_DATA) + size + 3) / 4 * 4,
		out, sizeof(out));
	if (!action->change.obj)
		return errno;
	fld_set(word, STE_ACTION_ID, PRM_STE_ACTION_INSERT_POINTER);
	fld_set(word, STE_INSERT_SIZE, size / PRM_STE_WORD);
	fld_set(word, STE_INSERT_ATTRIBUTES, PRM_STE_INSERT_TUNNEL);
	action->change.words[0] = (uint32_t)fld_get(word, FLD(0x0, 31, 0));
	action->change.words[1] = (uint32_t)fld_get(out, ALLOC_REFORMAT_OUT_ID);
	return 0;
}

/* Writes CHANGES as a list to the adapter's memory, and makes the entry action that executes the
 * list. */
static int list_make(const char *call, struct mlx5dv_dr_action *action,
		     const struct dr_changes *changes)
{
	int ret = mlx5_dr_soft_ensure(call, action->domain);

	if (!ret)
		ret = mlx5_dr_soft_add_list(action->domain->soft, changes->actions[0],
					    changes->count, &action->change.list);
	if (!ret)
		action->change.words[0] = mlx5_dr_list_word(&action->change.list);
	return ret;
}

/* Translates ACTIONS for tables below the root. A single change fits in an entry, several become a
 * list. */
static int soft_modify(const char *call, struct mlx5dv_dr_action *action, size_t size,
		       const void *actions)
{
	const bool is_tx = action->domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	struct dr_changes changes;
	int ret = mlx5_dr_modify(call, is_tx, actions, size, &changes);

	if (ret)
		return ret;
	if (changes.count > 1)
		return list_make(call, action, &changes);
	action->change.words[0] = (uint32_t)fld_get(changes.actions[0], FLD(0x0, 31, 0));
	action->change.words[1] = (uint32_t)fld_get(changes.actions[0], FLD(0x4, 31, 0));
	return 0;
}

static int soft_reformat(const char *call, struct mlx5dv_dr_action *action, size_t size,
			 const void *data)
{
	struct dr_changes changes;
	int ret;

	switch (action->change.type) {
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2:
		action->change.words[0] = DECAP_L2;
		return 0;
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2:
		ret = mlx5_dr_modify_decap(call, data, size, &changes);
		return ret ? ret : list_make(call, action, &changes);
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL:
	case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL:
		if (data && size && size <= ENCAP_MAX && size % PRM_STE_WORD == 0)
			return encap_make(action, size, data);
		verbs_warn("%s: data_sz is %zu, must be even, 2 to %d", call, size, ENCAP_MAX);
		return EINVAL;
	default:
		verbs_warn("%s: reformat_type %d is not supported below the root", call,
			   (int)action->change.type);
		return EOPNOTSUPP;
	}
}

static int root_change(struct mlx5dv_dr_action *action, struct ibv_flow_action *flow_action)
{
	action->change.action = flow_action;
	return flow_action ? 0 : errno;
}

/* Returns ACTION, now counted by its domain. If RET is not 0, frees ACTION instead, sets errno to
 * RET and returns NULL. */
static struct mlx5dv_dr_action *action_finish(struct mlx5dv_dr_action *action, int ret)
{
	if (ret) {
		free(action);
		return dv_fail(ret);
	}
	dr_use(&action->domain->users);
	return action;
}

DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_packet_reformat(struct mlx5dv_dr_domain *domain, uint32_t flags,
					enum mlx5dv_flow_action_packet_reformat_type reformat_type,
					size_t data_sz, void *data)
{
	static const char call[] = "mlx5dv_dr_action_create_packet_reformat";
	int ret = check_flags(call, domain, flags);
	struct mlx5dv_dr_action *action;

	if (!ret && !reformat_fits(domain, reformat_type)) {
		verbs_warn("%s: reformat_type %d does not fit a domain of type %d", call,
			   (int)reformat_type, (int)domain->type);
		ret = EINVAL;
	}
	if (ret)
		return dv_fail(ret);
	action = action_new(call, DR_ACTION_REFORMAT);
	if (!action)
		return NULL;
	action->domain = domain;
	action->change.type = reformat_type;
	if (flags)
		ret = root_change(action, mlx5dv_create_flow_action_packet_reformat(
						  domain->context, data_sz, data, reformat_type,
						  mlx5_dr_table_type(domain)));
	else
		ret = soft_reformat(call, action, data_sz, data);
	return action_finish(action, ret);
}

DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_modify_header(struct mlx5dv_dr_domain *domain, uint32_t flags,
				      size_t actions_sz, __be64 actions[])
{
	static const char call[] = "mlx5dv_dr_action_create_modify_header";
	int ret = check_flags(call, domain, flags);
	struct mlx5dv_dr_action *action;

	if (ret)
		return dv_fail(ret);
	action = action_new(call, DR_ACTION_MODIFY_HEADER);
	if (!action)
		return NULL;
	action->domain = domain;
	if (flags)
		ret = root_change(action, mlx5dv_create_flow_action_modify_header(
						  domain->context, actions_sz, (uint64_t *)actions,
						  mlx5_dr_table_type(domain)));
	else
		ret = soft_modify(call, action, actions_sz, actions);
	return action_finish(action, ret);
}

static int change_destroy(struct mlx5dv_dr_action *action)
{
	int ret = 0;

	if (action->change.action)
		ret = ibv_destroy_flow_action(action->change.action);
	else if (action->change.obj)
		ret = mlx5dv_devx_obj_destroy(action->change.obj);
	else if (action->change.list.count)
		mlx5_dr_soft_remove_list(action->domain->soft, &action->change.list);
	if (!ret)
		dr_unuse(&action->domain->users);
	return ret;
}

/* Destroys the objects that ACTION, which belongs to a domain, has created in the adapter or
 * kernel. */
static __attribute__((noinline)) int parts_destroy(struct mlx5dv_dr_action *action)
{
	switch (action->kind) {
	case DR_ACTION_ARRAY:
		return mlx5_dr_array_destroy(action);
	case DR_ACTION_SAMPLER:
		return mlx5_dr_sampler_destroy(action);
	case DR_ACTION_METER:
		return mlx5_dr_meter_destroy(action);
	case DR_ACTION_FIRST_HIT:
	case DR_ACTION_ASO_METER:
	case DR_ACTION_CONNECTION:
		return 0;
	default:
		return change_destroy(action);
	}
}

DV_EXPORT int mlx5dv_dr_action_destroy(struct mlx5dv_dr_action *action)
{
	int ret = dr_check_unused("mlx5dv_dr_action_destroy", &action->users, "rules");

	if (!ret && action->domain)
		ret = parts_destroy(action);
	if (ret)
		return ret;
	if (action->kind == DR_ACTION_TABLE)
		dr_unuse(&action->table->users);
	free(action);
	return 0;
}

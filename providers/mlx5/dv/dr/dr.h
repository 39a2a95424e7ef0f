/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dr.h - the objects of direct rules: a domain has tables, a table has matchers, a matcher has
 * rules, and a rule has actions. README.md describes their references.
 *
 * Each object counts its users, and cannot be destroyed before them. Any thread may create and
 * destroy objects; a lock guards the domain's list of tables.
 */
#ifndef PROVIDERS_MLX5_DV_DR_DR_H
#define PROVIDERS_MLX5_DV_DR_DR_H

#include <pthread.h>
#include <sys/queue.h>

#include "providers/mlx5/dv/dr/aso.h"
#include "providers/mlx5/dv/dr/list.h"
#include "providers/mlx5/dv/dr/soft_rule.h"
#include "providers/mlx5/dv/dv.h"

enum dr_domain_flags {
	DR_RECLAIMS_MEMORY = 1 << 0, /* these values appear in dumps, which tools parse */
	DR_REFUSES_DUPLICATES = 1 << 1,
};

/* Whether a domain can have tables below the root. */
enum dr_below {
	DR_BELOW_UNKNOWN, /* the adapter was not asked yet */
	DR_BELOW_ABSENT,
	DR_BELOW_EXISTS,
};

struct mlx5dv_dr_domain {
	struct ibv_context *context;
	enum mlx5dv_dr_domain_type type;
	unsigned int users;
	unsigned int flags; /* enum dr_domain_flags, as last set by the program */
	enum dr_below below;
	pthread_mutex_t lock;
	TAILQ_HEAD(, mlx5dv_dr_table) tables; /* in order of creation; guarded by lock */
	struct dr_soft *soft; /* NULL: not opened yet; set under lock, and read without, too */
};

struct mlx5dv_dr_table {
	struct mlx5dv_dr_domain *domain;
	unsigned int users;
	uint32_t level;
	struct dr_soft_table *soft; /* NULL: a root table, whose rules the kernel keeps */
	TAILQ_ENTRY(mlx5dv_dr_table) link;
};

struct mlx5dv_dr_matcher {
	struct mlx5dv_dr_table *table;
	unsigned int users;
	uint16_t priority;
	struct mlx5dv_flow_matcher *flow_matcher; /* the kernel's matcher, of a root table */
	struct dr_soft_matcher *soft;
};

enum dr_action_kind {
	DR_ACTION_QP,
	DR_ACTION_TIR,
	DR_ACTION_TABLE,
	DR_ACTION_ARRAY,
	DR_ACTION_SAMPLER,
	DR_ACTION_METER,
	DR_ACTION_DROP,
	DR_ACTION_DEFAULT_MISS,
	DR_ACTION_TAG,
	DR_ACTION_COUNTER,
	DR_ACTION_POP_VLAN,
	DR_ACTION_PUSH_VLAN,
	DR_ACTION_REFORMAT,
	DR_ACTION_MODIFY_HEADER,
	DR_ACTION_FIRST_HIT,
	DR_ACTION_ASO_METER,
	DR_ACTION_CONNECTION,
};

enum { DR_ACTION_KINDS = DR_ACTION_CONNECTION + 1 };

struct mlx5dv_dr_action {
	enum dr_action_kind kind;
	unsigned int users;
	struct mlx5dv_dr_domain *domain; /* domain that counts this action as a user, or NULL */
	union {
		struct ibv_qp *qp;
		struct mlx5dv_devx_obj *tir;
		struct mlx5dv_dr_table *table;
		struct dr_array *array;
		struct dr_sampler *sampler;
		struct dr_meter *meter;
		struct dr_aso aso;
		uint32_t tag, vlan;
		struct {
			struct mlx5dv_devx_obj *obj;
			uint32_t offset;
		} counter;
		struct {
			struct ibv_flow_action *action; /* kernel object, of a root table */
			enum mlx5dv_flow_action_packet_reformat_type type;
			struct mlx5dv_devx_obj *obj;
			struct dr_list list; /* list that entries execute; count 0: none */
			uint32_t words[2];   /* the entry action; its second word may be unused */
		} change;
	};
};

struct mlx5dv_dr_rule {
	struct mlx5dv_dr_matcher *matcher;
	struct ibv_flow *flow;
	struct dr_soft_rule soft;
	size_t num_actions;
	struct mlx5dv_dr_action *actions[];
};

static inline void dr_use(unsigned int *users)
{
	__atomic_add_fetch(users, 1, __ATOMIC_RELAXED);
}

/* Decrements *USERS in release order, so that the caller's accesses to the object happen before
 * another thread destroys it. */
static inline void dr_unuse(unsigned int *users)
{
	__atomic_sub_fetch(users, 1, __ATOMIC_RELEASE);
}

int mlx5_dr_refuse_used(const char *call, unsigned int count, const char *who);

static inline int dr_check_unused(const char *call, const unsigned int *users, const char *who)
{
	const unsigned int count = __atomic_load_n(users, __ATOMIC_ACQUIRE);

	return __builtin_expect(!!count, 0) ? mlx5_dr_refuse_used(call, count, who) : 0;
}

/* Returns the ICM address of an action's QP, TIR, table, array, sampler or meter, to which entries
 * lead. */
uint64_t mlx5_dr_action_address(const struct mlx5dv_dr_action *action);
uint32_t mlx5_dr_action_counter(const struct mlx5dv_dr_action *action);

/* Returns the kernel's table type for root tables of DOMAIN. */
enum mlx5dv_flow_table_type mlx5_dr_table_type(const struct mlx5dv_dr_domain *domain);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.c - flows, and the counters attached to them.
 *
 * A set of counters collects its counting points here. The first flow that uses the set passes the
 * points to the kernel; after that the set is fixed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/flow.h"
#include "util/alloc.h"

struct mlx5_counters {
	struct verbs_counters vcounters;
	pthread_mutex_t lock;
	struct mlx5_ib_flow_counters_desc *points;
	uint32_t npoints;
	bool fixed; /* a flow uses the set: the kernel takes the points only with the first flow */
};

static struct mlx5_counters *to_mcounters(struct ibv_counters *counters)
{
	return container_of(to_vcounters(counters), struct mlx5_counters, vcounters);
}

/* ---- flows */

/* Sets *COUNTERS to the counters named by the specs of ATTR, or NULL; the kernel takes one set per
 * flow. Specs follow each other without alignment, so each is copied out. The create command
 * refuses a spec of size 0. */
static int flow_find_counters(const struct ibv_flow_attr *attr, struct mlx5_counters **counters)
{
	const uint8_t *at = (const uint8_t *)(attr + 1);
	struct ibv_flow_spec_counter_action spec;

	*counters = NULL;
	for (unsigned int i = 0; i < attr->num_of_specs; i++) {
		memcpy(&spec, at, offsetof(struct ibv_flow_spec_counter_action, counters));
		if (spec.size < offsetof(struct ibv_flow_spec_counter_action, counters))
			break;
		if (spec.type == IBV_FLOW_SPEC_ACTION_COUNT) {
			if (*counters) {
				verbs_warn("create_flow: more than one set of counters");
				return EINVAL;
			}
			memcpy(&spec, at, sizeof(spec));
			*counters = to_mcounters(spec.counters);
		}
		at += spec.size;
	}
	return 0;
}

static int flow_create_with(struct ibv_qp *qp, const struct ibv_flow_attr *attr,
			    struct mlx5_counters *counters, struct ibv_flow *flow)
{
	uint64_t room[(sizeof(struct mlx5_ib_create_flow) +
		       sizeof(struct mlx5_ib_flow_counters_data)) /
		      sizeof(uint64_t)] = { 0 };
	struct mlx5_ib_create_flow *req = (struct mlx5_ib_create_flow *)room;
	const struct verbs_udata udata = { .req = req, .req_len = sizeof(room) };
	int ret;

	pthread_mutex_lock(&counters->lock);
	/* The kernel does not know counters without a point, and refuses the flow, so no set is
	 * named. */
	if (counters->fixed || !counters->npoints) {
		ret = verbs_cmd_create_flow(qp, attr, flow, NULL);
	} else {
		req->ncounters_data = 1;
		req->data[0].counters_data = counters->points;
		req->data[0].ncounters = counters->npoints;
		ret = verbs_cmd_create_flow(qp, attr, flow, &udata);
		counters->fixed = !ret;
	}
	pthread_mutex_unlock(&counters->lock);
	return ret;
}

static int flow_create(struct ibv_qp *qp, const struct ibv_flow_attr *attr, struct ibv_flow *flow)
{
	struct mlx5_counters *counters;
	int ret = flow_find_counters(attr, &counters);

	if (ret)
		return ret;
	return counters ? flow_create_with(qp, attr, counters, flow)
			: verbs_cmd_create_flow(qp, attr, flow, NULL);
}

struct ibv_flow *mlx5_flow_create(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct cells *cells = &to_mctx(qp->context)->common.cells;
	struct ibv_flow *flow = provider_cells_take(cells, "create_flow", sizeof(*flow));
	int ret = ENOMEM;

	if (flow) {
		*flow = (struct ibv_flow){ .context = qp->context };
		ret = flow_create(qp, attr, flow);
	}
	if (!ret)
		return flow;
	if (flow)
		provider_cells_give(cells, flow, sizeof(*flow));
	errno = ret;
	return NULL;
}

int mlx5_flow_destroy(struct ibv_flow *flow)
{
	struct cells *cells = &to_mctx(flow->context)->common.cells;
	int ret = verbs_cmd_destroy_flow(flow);

	if (!ret)
		provider_cells_give(cells, flow, sizeof(*flow));
	return ret;
}

/* ---- counters */

struct ibv_counters *mlx5_counters_create(struct ibv_context *context,
					  struct ibv_counters_init_attr *attr)
{
	struct mlx5_counters *counters = calloc_for("create_counters", 1, sizeof(*counters));
	int ret = counters ? verbs_cmd_create_counters(context, attr, &counters->vcounters, NULL)
			   : ENOMEM;

	if (!ret) {
		pthread_mutex_init(&counters->lock, NULL);
		return &counters->vcounters.counters;
	}
	free(counters);
	errno = ret;
	return NULL;
}

int mlx5_counters_destroy(struct ibv_counters *ibcounters)
{
	struct mlx5_counters *counters = to_mcounters(ibcounters);
	int ret = verbs_cmd_destroy_counters(&counters->vcounters);

	if (ret)
		return ret;
	pthread_mutex_destroy(&counters->lock);
	free(counters->points);
	free(counters);
	return 0;
}

static int counters_add_point(struct mlx5_counters *counters,
			      const struct ibv_counter_attach_attr *attr)
{
	struct mlx5_ib_flow_counters_desc *points;

	if (counters->fixed) {
		verbs_warn("attach_counters_point_flow: a flow has these counters already");
		return EBUSY;
	}
	points = realloc(counters->points, (counters->npoints + 1) * sizeof(*points));
	if (!points) {
		verbs_warn("attach_counters_point_flow: no memory for %u points",
			   counters->npoints + 1);
		return ENOMEM;
	}
	counters->points = points;
	points[counters->npoints++] = (struct mlx5_ib_flow_counters_desc){
		.description = (uint32_t)attr->counter_desc,
		.index = attr->index,
	};
	return 0;
}

int mlx5_counters_attach(struct ibv_counters *ibcounters, struct ibv_counter_attach_attr *attr,
			 struct ibv_flow *flow)
{
	struct mlx5_counters *counters = to_mcounters(ibcounters);
	int ret;

	if (attr->comp_mask) {
		verbs_warn("attach_counters_point_flow: comp_mask is %#x, must be 0",
			   attr->comp_mask);
		return EOPNOTSUPP;
	}
	if ((unsigned int)attr->counter_desc > IBV_COUNTER_BYTES) {
		verbs_warn("attach_counters_point_flow: counter_desc is %d, must be "
			   "IBV_COUNTER_PACKETS or _BYTES",
			   (int)attr->counter_desc);
		return EOPNOTSUPP;
	}
	/* The kernel attaches counters only when it creates a flow, so a flow that exists gets
	 * none. */
	if (flow) {
		verbs_warn(
			"attach_counters_point_flow: flow is set: name the counters in its specs");
		return ENOTSUP;
	}
	pthread_mutex_lock(&counters->lock);
	ret = counters_add_point(counters, attr);
	pthread_mutex_unlock(&counters->lock);
	return ret;
}

int mlx5_counters_read(struct ibv_counters *ibcounters, uint64_t *values, uint32_t ncounters,
		       uint32_t flags)
{
	return verbs_cmd_read_counters(to_vcounters(ibcounters), values, ncounters, flags, NULL);
}

/* ---- flow actions: the kernel refuses them for an adapter without IPsec */

struct ibv_flow_action *
mlx5_flow_action_create_esp_with(struct ibv_context *context,
				 const struct ibv_flow_action_esp_attr *attr,
				 const struct verbs_udata *udata)
{
	struct verbs_flow_action *action = calloc(1, sizeof(*action));
	int ret = action ? verbs_cmd_create_flow_action_esp(context, attr, action, udata) : ENOMEM;

	if (!ret)
		return &action->action;
	free(action);
	errno = ret;
	return NULL;
}

struct ibv_flow_action *mlx5_flow_action_create_esp(struct ibv_context *context,
						    struct ibv_flow_action_esp_attr *attr)
{
	return mlx5_flow_action_create_esp_with(context, attr, NULL);
}

int mlx5_flow_action_modify_esp(struct ibv_flow_action *action,
				struct ibv_flow_action_esp_attr *attr)
{
	return verbs_cmd_modify_flow_action_esp(to_vaction(action), attr, NULL);
}

int mlx5_flow_action_destroy(struct ibv_flow_action *action)
{
	int ret = verbs_cmd_destroy_flow_action(to_vaction(action));

	if (!ret)
		free(to_vaction(action));
	return ret;
}

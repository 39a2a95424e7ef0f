/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_flow.c - the guest's commands on flows, flow actions and counters.
 */
#include "guest.h"

/* Adds the attributes of BUFFER to UDATA as driver data. MORE holds the attributes, and must live
 * as long as UDATA. */
static int add_attrs(const struct guest_buffer *buffer, struct guest_attrs *more,
		     struct verbs_udata *udata)
{
	int err = guest_attrs_of(buffer, more);

	*udata = (struct verbs_udata){ .attrs = more->attrs, .nattrs = more->count };
	return err;
}

GUEST_CALL(int, ibv_cmd_create_flow,
	   (struct ibv_qp * qp, struct ibv_flow *flow, const struct ibv_flow_attr *attr,
	    const void *driver, size_t driver_size))
{
	const struct verbs_udata udata = guest_udata(driver, driver_size, 0, NULL, 0, 0);

	return guest_result(verbs_cmd_create_flow(qp, attr, flow, &udata));
}

GUEST_CALL(int, ibv_cmd_destroy_flow, (struct ibv_flow * flow))
{
	return guest_result(verbs_cmd_destroy_flow(flow));
}

GUEST_CALL(int, ibv_cmd_create_flow_action_esp,
	   (struct ibv_context * context, const struct ibv_flow_action_esp_attr *attr,
	    struct verbs_flow_action *action, const struct guest_buffer *buffer))
{
	struct guest_attrs more;
	struct verbs_udata udata;
	int err = add_attrs(buffer, &more, &udata);

	if (!err)
		err = verbs_cmd_create_flow_action_esp(context, attr, action, &udata);
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_modify_flow_action_esp,
	   (struct verbs_flow_action * action, const struct ibv_flow_action_esp_attr *attr,
	    const struct guest_buffer *buffer))
{
	struct guest_attrs more;
	struct verbs_udata udata;
	int err = add_attrs(buffer, &more, &udata);

	if (!err)
		err = verbs_cmd_modify_flow_action_esp(action, attr, &udata);
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_destroy_flow_action, (struct verbs_flow_action * action))
{
	return guest_result(verbs_cmd_destroy_flow_action(action));
}

GUEST_CALL(int, ibv_cmd_create_counters,
	   (struct ibv_context * context, const struct ibv_counters_init_attr *attr,
	    struct verbs_counters *counters, const struct guest_buffer *buffer))
{
	struct guest_attrs more;
	struct verbs_udata udata;
	int err = add_attrs(buffer, &more, &udata);

	if (!err)
		err = verbs_cmd_create_counters(context, attr, counters, &udata);
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_destroy_counters, (struct verbs_counters * counters))
{
	return guest_result(verbs_cmd_destroy_counters(counters));
}

GUEST_CALL(int, ibv_cmd_read_counters,
	   (struct verbs_counters * counters, uint64_t *values, uint32_t ncounters, uint32_t flags,
	    const struct guest_buffer *buffer))
{
	struct guest_attrs more;
	struct verbs_udata udata;
	int err = add_attrs(buffer, &more, &udata);

	if (!err)
		err = verbs_cmd_read_counters(counters, values, ncounters, flags, &udata);
	return guest_result(err);
}

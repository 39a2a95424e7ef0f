/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_device.c - the guest's commands on a device and its ports.
 */
#include "guest.h"

/* Size of a guest's struct ibv_port_attr */
#if HOST_NUMBER < 65
#define PORT_ATTR_SIZE offsetof(struct ibv_port_attr, active_speed_ex)
#else
#define PORT_ATTR_SIZE sizeof(struct ibv_port_attr)
#endif

/* Fills in only the firmware version of RESP, its first field, because guests read no other field
 * of the core's response. */
GUEST_CALL(int, ibv_cmd_query_device_any,
	   (struct ibv_context * context, const struct ibv_query_device_ex_input *input,
	    struct ibv_device_attr_ex *attr, size_t attr_size,
	    struct ib_uverbs_ex_query_device_resp *resp, size_t *resp_size))
{
	const size_t size = resp && resp_size ? *resp_size : 0;
	const struct verbs_udata udata = guest_udata(NULL, 0, 0, resp, size, sizeof(*resp));
	uint64_t fw_ver = 0;
	int err;

	if (input && input->comp_mask)
		return guest_result(EINVAL);
	err = verbs_cmd_query_device(context, attr, attr_size, &fw_ver, &udata);
	if (!err && size >= sizeof(fw_ver)) {
		memset(resp, 0, min_of(size, sizeof(*resp)));
		memcpy(resp, &fw_ver, sizeof(fw_ver));
	}
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_query_port,
	   (struct ibv_context * context, uint8_t port_num, struct ibv_port_attr *attr, void *cmd,
	    size_t cmd_size))
{
	(void)cmd;
	(void)cmd_size;
	return guest_result(verbs_cmd_query_port(context, port_num, attr, PORT_ATTR_SIZE));
}

#if HOST_NUMBER >= 65
GUEST_CALL(int, ibv_cmd_query_port_speed,
	   (struct ibv_context * context, uint32_t port_num, uint64_t *speed))
{
	return ibv_query_port_speed(context, port_num, speed);
}
#endif

GUEST_CALL(int, ibv_cmd_alloc_pd,
	   (struct ibv_context * context, struct ibv_pd *pd, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_alloc_pd), resp, resp_size,
			    sizeof(*resp));
	int err = verbs_cmd_alloc_pd(context, pd, &udata);

	if (!err && resp)
		resp->pd_handle = pd->handle;
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_dealloc_pd, (struct ibv_pd * pd))
{
	return guest_result(verbs_cmd_dealloc_pd(pd));
}

GUEST_CALL(int, ibv_cmd_create_ah,
	   (struct ibv_pd * pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
	    struct ib_uverbs_create_ah_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata = guest_udata(NULL, 0, 0, resp, resp_size, sizeof(*resp));
	int err = verbs_cmd_create_ah(pd, attr, ah, &udata);

	if (!err && resp)
		resp->ah_handle = ah->handle;
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_destroy_ah, (struct ibv_ah * ah))
{
	return guest_result(verbs_cmd_destroy_ah(ah));
}

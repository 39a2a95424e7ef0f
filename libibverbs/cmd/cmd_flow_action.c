/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_flow_action.c - commands on flow actions. The only one is IPsec ESP.
 */
#include "cmd/cmd.h"

#include <string.h>

/* Returns an attribute with variants; PROTO selects the variant of DATA. */
static struct verbs_attr variant_attr(uint16_t id, uint8_t proto, const void *data, size_t len)
{
	struct verbs_attr attr = verbs_attr_in(id, data, len);

	attr.elem = proto;
	return data ? attr : verbs_attr_skip();
}

static int check_esp_attr(const struct ibv_flow_action_esp_attr *attr)
{
	if (!(attr->comp_mask & ~(uint32_t)IBV_FLOW_ACTION_ESP_MASK_ESN))
		return 0;
	verbs_warn("ibv_create_flow_action_esp: comp_mask 0x%x: no bit above 0x%x has a meaning",
		   attr->comp_mask, IBV_FLOW_ACTION_ESP_MASK_ESN);
	return EOPNOTSUPP;
}

static int run_esp(struct ibv_context *context, uint16_t method, struct verbs_attr handle,
		   const struct ibv_flow_action_esp_attr *attr, const struct verbs_udata *udata)
{
	const bool has_esn = attr->comp_mask & IBV_FLOW_ACTION_ESP_MASK_ESN;
	const struct verbs_attr attrs[] = {
		handle,
		attr->esp_attr ? verbs_attr_in(UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS, attr->esp_attr,
					       sizeof(*attr->esp_attr))
			       : verbs_attr_skip(),
		has_esn ? verbs_attr_u32(UVERBS_ATTR_FLOW_ACTION_ESP_ESN, attr->esn)
			: verbs_attr_skip(),
		variant_attr(UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT, (uint8_t)attr->keymat_proto,
			     attr->keymat_ptr, attr->keymat_len),
		variant_attr(UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY, (uint8_t)attr->replay_proto,
			     attr->replay_ptr, attr->replay_len),
		attr->esp_encap ? verbs_attr_in(UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP, attr->esp_encap,
						sizeof(*attr->esp_encap))
				: verbs_attr_skip(),
	};

	return verbs_cmd_run_core(context, UVERBS_OBJECT_FLOW_ACTION, method, attrs,
				  ARRAY_SIZE(attrs), udata);
}

VERBS_EXPORT int verbs_cmd_create_flow_action_esp(struct ibv_context *context,
						  const struct ibv_flow_action_esp_attr *attr,
						  struct verbs_flow_action *vaction,
						  const struct verbs_udata *udata)
{
	int ret = check_esp_attr(attr);

	if (ret)
		return ret;
	ret = run_esp(
		context, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE,
		verbs_attr_new_handle(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, &vaction->handle),
		attr, udata);
	if (ret) {
		verbs_warn("ibv_create_flow_action_esp on %s: keymat_proto %d replay_proto %d: %s",
			   context->device->name, attr->keymat_proto, attr->replay_proto,
			   strerror(ret));
		return ret;
	}
	vaction->action.context = context;
	return 0;
}

VERBS_EXPORT int verbs_cmd_modify_flow_action_esp(struct verbs_flow_action *vaction,
						  const struct ibv_flow_action_esp_attr *attr,
						  const struct verbs_udata *udata)
{
	int ret = check_esp_attr(attr);

	if (ret)
		return ret;
	ret = run_esp(vaction->action.context, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY,
		      verbs_attr_handle(UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE, vaction->handle),
		      attr, udata);
	if (ret)
		verbs_warn("ibv_modify_flow_action_esp: action %u: %s", vaction->handle,
			   strerror(ret));
	return ret;
}

VERBS_EXPORT int verbs_cmd_destroy_flow_action(struct verbs_flow_action *vaction)
{
	int ret = verbs_cmd_destroy(vaction->action.context, UVERBS_OBJECT_FLOW_ACTION,
				    UVERBS_METHOD_FLOW_ACTION_DESTROY,
				    UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, vaction->handle);

	if (ret)
		verbs_warn("ibv_destroy_flow_action: action %u: %s%s", vaction->handle,
			   strerror(ret),
			   ret == EBUSY ? ": destroy the flows that name it first" : "");
	return ret;
}

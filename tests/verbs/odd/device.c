/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - the family "device": devices, contexts, ports, their tables, events, texts and rates.
 *
 * Covers: libibverbs/device.c, libibverbs/verbs_device.c, libibverbs/verbs_gid.c,
 * libibverbs/verbs_pkey.c, libibverbs/strings.c
 */
#include <fcntl.h>

#include "odd.h"

/* Its channel does not wait, so that a call for an event returns. */
static void *quiet_context(void)
{
	struct ibv_context *context = odd_context();

	fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
	return context;
}

static void *async_event(void)
{
	static struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ACTIVE };

	event.element.port_num = 1;
	return &event;
}

static void *wc(void)
{
	static struct ibv_wc wc = { .slid = 1, .wc_flags = IBV_WC_GRH };

	return &wc;
}

static void *grh(void)
{
	static struct ibv_grh grh = { .version_tclass_flow = 0x60, .next_hdr = 0x1b };

	ibv_query_gid(odd_context(), 1, 0, &grh.dgid);
	grh.sgid = grh.dgid;
	return &grh;
}

static void *ah_attr(void)
{
	static struct ibv_ah_attr attr;

	attr = odd_ah_attr();
	return &attr;
}

static void *odd_input(void)
{
	static struct ibv_query_device_ex_input input;

	return &input;
}

static void *rt_values(void)
{
	static struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	return &values;
}

static const struct odd_field async_fields[] = { ODD_FIELD(struct ibv_async_event, event_type),
						 { 0 } };
static const struct odd_field values_fields[] = { ODD_FIELD(struct ibv_values_ex, comp_mask),
						  { 0 } };
static const struct odd_field input_fields[] = {
	ODD_FIELD(struct ibv_query_device_ex_input, comp_mask), { 0 }
};
static const struct odd_field wc_fields[] = { ODD_FIELD(struct ibv_wc, wc_flags),
					      ODD_FIELD(struct ibv_wc, slid),
					      ODD_FIELD(struct ibv_wc, sl),
					      { 0 } };
static const struct odd_field grh_fields[] = { ODD_FIELD(struct ibv_grh, version_tclass_flow),
					       ODD_FIELD(struct ibv_grh, next_hdr),
					       ODD_FIELD(struct ibv_grh, dgid),
					       ODD_FIELD(struct ibv_grh, sgid),
					       { 0 } };
static const struct odd_field ah_fields[] = { ODD_FIELD(struct ibv_ah_attr, grh.dgid),
					      ODD_FIELD(struct ibv_ah_attr, grh.flow_label),
					      ODD_FIELD(struct ibv_ah_attr, grh.sgid_index),
					      ODD_FIELD(struct ibv_ah_attr, grh.hop_limit),
					      ODD_FIELD(struct ibv_ah_attr, grh.traffic_class),
					      ODD_FIELD(struct ibv_ah_attr, dlid),
					      ODD_FIELD(struct ibv_ah_attr, sl),
					      ODD_FIELD(struct ibv_ah_attr, src_path_bits),
					      ODD_FIELD(struct ibv_ah_attr, static_rate),
					      ODD_FIELD(struct ibv_ah_attr, is_global),
					      ODD_FIELD(struct ibv_ah_attr, port_num),
					      { 0 } };

#define SIZE_ARG(good)                                                          \
	NUMBER_ARG("size", good, V("0", 0), V("1", 1), V("one less", (good)-1), \
		   V("one more", (good) + 1), V("4096", 4096))
#define CODE_ARG(name)  NUMBER_ARG(name, 1, V("0", 0), V("-1", -1), V("99", 99), V("10000", 10000))
#define COUNT_ARG       NUMBER_ARG("max", 16, V("0", 0), V("1", 1))
#define NUMBER_FIELD(t) NUMBER_ARG(t, 0, V("255", 255), V("65535", 65535))

static const struct odd_call calls[] = {
	{ "ibv_get_device_list", OBJECT, NULL, { OUT_ARG("count") } },
	{ "ibv_get_device_name", OBJECT, NULL, { &arg_device } },
	{ "ibv_get_device_guid", NUMBER, NULL, { &arg_device } },
	{ "ibv_get_device_index", DESCRIPTOR, NULL, { &arg_device } },
	{ "ibv_free_device_list", NOTHING, NULL, { NUMBER_ARG("list", 0) } },
	{ "ibv_open_device", OBJECT, NULL, { &arg_device } },
	{ "ibv_close_device", MINUS_ONE, NULL, { &arg_context } },
	{ "ibv_import_device", OBJECT, NULL, { &arg_fd } },
	{ "ibv_fork_init", ERRNO, NULL, { NULL } },
	{ "ibv_is_fork_initialized", NUMBER, NULL, { NULL } },
	{ "ibv_dontfork_range", MINUS_ONE, NULL, { &arg_addr, &arg_length } },
	{ "ibv_dofork_range", MINUS_ONE, NULL, { &arg_addr, &arg_length } },
	{ "ibv_query_device", ERRNO, NULL, { &arg_context, &arg_out } },
	{ "ibv_query_device_ex",
	  ERRNO,
	  INLINE(ibv_query_device_ex),
	  { &arg_context, ATTR_ARG("input", odd_input, input_fields), &arg_out } },
	{ "ibv_query_rt_values_ex",
	  ERRNO,
	  INLINE(ibv_query_rt_values_ex),
	  { &arg_context, ATTR_ARG("values", rt_values, values_fields) } },
	{ "ibv_query_port", ERRNO, NULL, { &arg_context, &arg_port, &arg_out } },
	{ "ibv_query_port (inline)",
	  ERRNO,
	  INLINE(___ibv_query_port),
	  { &arg_context, &arg_port, &arg_out } },
	{ "ibv_query_port_speed",
	  ERRNO,
	  NULL,
	  { &arg_context,
	    NUMBER_ARG("port", 1, V("0", 0), V("3", 3), V("256", 256), V("all ones", 0xffffffff)),
	    &arg_out } },
	{ "ibv_query_gid", MINUS_ONE, NULL, { &arg_context, &arg_port, &arg_index, &arg_out } },
	{ "_ibv_query_gid_ex",
	  ERRNO,
	  NULL,
	  { &arg_context, &arg_port, &arg_index, OUT_ARG("entry"), &arg_flags,
	    SIZE_ARG(sizeof(struct ibv_gid_entry)) } },
	{ "_ibv_query_gid_table",
	  DESCRIPTOR,
	  NULL,
	  { &arg_context, OUT_ARG("entries"), COUNT_ARG, &arg_flags,
	    SIZE_ARG(sizeof(struct ibv_gid_entry)) } },
	{ "ibv_query_gid_type",
	  MINUS_ONE,
	  NULL,
	  { &arg_context, &arg_port, &arg_index, &arg_out } },
	{ "ibv_query_pkey", MINUS_ONE, NULL, { &arg_context, &arg_port, &arg_index, &arg_out } },
	{ "ibv_get_pkey_index",
	  NUMBER,
	  NULL,
	  { &arg_context, &arg_port, NUMBER_ARG("pkey", 0xffff, V("0", 0), V("0x1234", 0x1234)) } },
	{ "ibv_resolve_eth_l2_from_gid",
	  MINUS_ONE,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", ah_attr, ah_fields), OUT_ARG("mac"), OUT_ARG("vid") } },
	{ "ibv_init_ah_from_wc",
	  MINUS_ONE,
	  NULL,
	  { &arg_context, &arg_port, ATTR_ARG("wc", wc, wc_fields),
	    ATTR_ARG("grh", grh, grh_fields), NUMBER_ARG("attr", 0) } },
	{ "ibv_create_ah_from_wc",
	  OBJECT,
	  NULL,
	  { &arg_pd, ATTR_ARG("wc", wc, wc_fields), ATTR_ARG("grh", grh, grh_fields), &arg_port } },
	{ "ibv_create_ah", OBJECT, NULL, { &arg_pd, ATTR_ARG("attr", ah_attr, ah_fields) } },
	{ "ibv_destroy_ah", ERRNO, NULL, { &arg_ah } },
	{ "ibv_get_async_event", MINUS_ONE, NULL, { GOOD_ARG(quiet_context), &arg_out } },
	{ "ibv_ack_async_event", NOTHING, NULL, { ATTR_ARG("event", async_event, async_fields) } },
	{ "ibv_node_type_str", OBJECT, NULL, { CODE_ARG("type") } },
	{ "ibv_port_state_str", OBJECT, NULL, { CODE_ARG("state") } },
	{ "ibv_event_type_str", OBJECT, NULL, { CODE_ARG("event") } },
	{ "ibv_wc_status_str", OBJECT, NULL, { CODE_ARG("status") } },
	{ "ibv_rate_to_mult", NUMBER, NULL, { CODE_ARG("rate") } },
	{ "ibv_rate_to_mbps", NUMBER, NULL, { CODE_ARG("rate") } },
	{ "mult_to_ibv_rate", NUMBER, NULL, { CODE_ARG("mult") } },
	{ "mbps_to_ibv_rate", NUMBER, NULL, { CODE_ARG("mbps") } },
	{ "ibv_read_sysfs_file",
	  DESCRIPTOR,
	  NULL,
	  { NUMBER_ARG("directory", (long)(uintptr_t) "/sys", V("NULL", 0)),
	    NUMBER_ARG("file", (long)(uintptr_t) "none", V("/", (long)(uintptr_t) "/"),
		       V("NULL", 0)),
	    &arg_out, NUMBER_ARG("size", 16, V("0", 0), V("1", 1)) } },
	{ "ibv_get_sysfs_path", OBJECT, NULL, { NULL } },
	{ "ibv_is_qpt_supported",
	  NUMBER,
	  INLINE(ibv_is_qpt_supported),
	  { NUMBER_ARG("caps", 4, V("0", 0), V("-1", -1)), CODE_ARG("type") } },
};

ODD_FAMILY(device, calls);

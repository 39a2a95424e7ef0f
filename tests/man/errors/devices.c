/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devices.c - pages on devices, their tables, address handles, flows and counters.
 *
 * Covers: libibverbs/device.c, libibverbs/discovery/node.c, libibverbs/verbs_gid.c,
 * libibverbs/verbs_pkey.c, libibverbs/verbs_ah.c, libibverbs/fork.c, libibverbs/eth_l2.c,
 * libibverbs/events.c
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "errors.h"

NEWER(ibv_create_comp_cntr);

static void list_forget(struct ibv_device **list)
{
	if (list)
		ibv_free_device_list(list);
}

static int list_devices(void)
{
	struct ibv_device **list;
	int ret = OBJ(list = ibv_get_device_list(NULL));
	int left = errno;

	list_forget(list);
	errno = left;
	return ret;
}

CASE(ibv_get_device_list, ENOMEM, "There is no memory for the list")
{
	return NO_MEMORY(list_devices());
}

CASE(ibv_get_device_list, EMFILE, "The process has no descriptor left for reading the devices")
{
	descriptors_end();
	return list_devices();
}

CASE_ON(ON_BARE, ibv_get_device_list, ENOSYS, "The kernel has no RDMA")
{
	return list_devices();
}

CASE(ibv_open_device, ENOMEM, "There is no memory for the context")
{
	return NO_MEMORY(OBJ(ibv_open_device(bed->device)));
}

CASE_ON(ON_DYING, ibv_open_device, ENOENT,
	"The kernel lists the device, but its file did not appear")
{
	adapter_fault("nodes-vanish");
	return OBJ(ibv_open_device(bed->device));
}

CASE(ibv_query_device_ex, EINVAL, "input has a comp_mask other than 0")
{
	struct ibv_query_device_ex_input input = { .comp_mask = 1 };
	struct ibv_device_attr_ex attr;

	return RET(ibv_query_device_ex(bed->ctx, &input, &attr));
}

CASE_ON(ON_DYING, ibv_query_device, EIO, "The device was removed")
{
	struct ibv_device_attr attr;

	adapter_fault("kill");
	return RET(ibv_query_device(bed->ctx, &attr));
}

CASE(ibv_query_port, EINVAL, "context has no port port_num")
{
	struct ibv_port_attr attr;

	return RET(ibv_query_port(bed->ctx, 9, &attr));
}

CASE(ibv_query_port, EINVAL, "context has no port port_num")
{
	struct ibv_port_attr attr;

	return RET(ibv_query_port(bed->ctx, 0, &attr));
}

CASE(ibv_query_gid, EINVAL, "There is no such port or entry")
{
	union ibv_gid gid;

	return RET(ibv_query_gid(bed->ctx, 9, 0, &gid));
}

CASE(ibv_query_gid, EINVAL, "There is no such port or entry")
{
	union ibv_gid gid;

	return RET(ibv_query_gid(bed->ctx, RIG_PORT, 5000, &gid));
}

CASE(ibv_query_gid, EINVAL, "There is no such port or entry")
{
	struct ibv_gid_entry entry;

	return RET(ibv_query_gid_ex(bed->ctx, 9, 0, &entry, 0));
}

CASE(ibv_query_gid, EINVAL, "There is no such port or entry")
{
	struct ibv_gid_entry entry;

	return RET(ibv_query_gid_ex(bed->ctx, RIG_PORT, 5000, &entry, 0));
}

CASE(ibv_query_gid, EINVAL, "flags is not 0")
{
	struct ibv_gid_entry entry;

	return RET(ibv_query_gid_ex(bed->ctx, RIG_PORT, 0, &entry, 1));
}

CASE(ibv_query_gid, EINVAL, "max_entries is less than the number of entries in use")
{
	struct ibv_gid_entry entry;

	return RET(ibv_query_gid_table(bed->ctx, &entry, 0, 0));
}

CASE(ibv_query_gid, ENODATA, "the slot is empty")
{
	struct ibv_gid_entry entry;

	return RET(ibv_query_gid_ex(bed->ctx, RIG_PORT, bed->rig.port.gid_tbl_len - 1, &entry, 0));
}

CASE(ibv_query_pkey, ENOENT, "There is no such port")
{
	__be16 pkey;

	return RET(ibv_query_pkey(bed->ctx, 9, 0, &pkey));
}

CASE(ibv_query_pkey, ENOENT, "or no such entry")
{
	__be16 pkey;

	return RET(ibv_query_pkey(bed->ctx, RIG_PORT, 9999, &pkey));
}

CASE(ibv_query_pkey, ENOENT, "the table has no such key")
{
	return RET(ibv_get_pkey_index(bed->ctx, RIG_PORT, 0x3412));
}

static int create_ah(struct bed *bed, struct ibv_ah_attr attr)
{
	return OBJ(ibv_create_ah(bed->pd, &attr));
}

CASE(ibv_create_ah, EINVAL, "The device has no port port_num")
{
	return create_ah(bed, (struct ibv_ah_attr){ .dlid = 1, .port_num = 9 });
}

CASE(ibv_create_ah, EINVAL, "The device has no port port_num")
{
	return create_ah(bed, (struct ibv_ah_attr){ .dlid = 1, .port_num = 0 });
}

CASE_ON(ON_ROCE, ibv_create_ah, EINVAL, "is_global is 0 on a port that requires a GRH")
{
	return create_ah(bed, (struct ibv_ah_attr){ .dlid = 1, .port_num = RIG_PORT });
}

CASE_ON(ON_ROCE, ibv_create_ah, ENODATA, "entry grh.sgid_index of the port's table has no GID")
{
	return create_ah(
		bed, (struct ibv_ah_attr){ .port_num = RIG_PORT,
					   .is_global = 1,
					   .grh = { .dgid = bed->rig.gid, .sgid_index = 200 } });
}

CASE(ibv_create_ah, ENOMEM, "There is no memory")
{
	return NO_MEMORY_STORED(
		create_ah(bed, (struct ibv_ah_attr){ .dlid = bed->rig.port.lid, .port_num = 1 }),
		CELLS);
}

static int ah_from_wc(struct bed *bed, struct ibv_grh grh)
{
	struct ibv_wc wc = { .wc_flags = IBV_WC_GRH, .slid = 1 };

	return OBJ(ibv_create_ah_from_wc(bed->pd, &wc, &grh, RIG_PORT));
}

CASE_ON(ON_ROCE, ibv_create_ah_from_wc, EPROTONOSUPPORT,
	"The 40 bytes are neither a GRH nor an IPv4 header")
{
	return ah_from_wc(bed, (struct ibv_grh){ .version_tclass_flow = 0 });
}

CASE_ON(ON_IB | ON_ROCE, ibv_create_ah_from_wc, EINVAL, "is not in the port's table")
{
	return ah_from_wc(bed, (struct ibv_grh){ .version_tclass_flow = htobe32(6u << 28),
						 .next_hdr = 0x1b,
						 .sgid = bed->rig.gid,
						 .dgid.raw = { 0xff, 0x12, [15] = 9 } });
}

CASE(ibv_create_ah_from_wc, ENOMEM, "There is no memory for the handle")
{
	struct ibv_wc wc = { .slid = 1 };

	return NO_MEMORY_STORED(OBJ(ibv_create_ah_from_wc(bed->pd, &wc, NULL, RIG_PORT)), CELLS);
}

static int resolve_l2(struct bed *bed, const union ibv_gid *dgid, uint8_t port, uint8_t index)
{
	struct ibv_ah_attr attr = { .port_num = port,
				    .is_global = 1,
				    .grh = { .dgid = *dgid, .sgid_index = index } };
	uint8_t mac[6];
	uint16_t vid;

	return RET(ibv_resolve_eth_l2_from_gid(bed->ctx, &attr, mac, &vid));
}

CASE_ON(ON_ROCE, ibv_resolve_eth_l2_from_gid, EINVAL, "port_num or sgid_index does not exist")
{
	return resolve_l2(bed, &bed->rig.gid, 9, 0);
}

CASE_ON(ON_ROCE, ibv_resolve_eth_l2_from_gid, EINVAL, "port_num or sgid_index does not exist")
{
	return resolve_l2(bed, &bed->rig.gid, RIG_PORT, 200);
}

CASE_ON(ON_ROCE, ibv_resolve_eth_l2_from_gid, EINVAL,
	"the GID of sgid_index has no network interface")
{
	return resolve_l2(bed, &bed->rig.gid, RIG_PORT, 0);
}

CASE(ibv_import_device, EINVAL, "cmd_fd is not an open descriptor")
{
	return OBJ(ibv_import_device(9999));
}

CASE(ibv_import_device, EINVAL, "no process has created a context on it")
{
	int fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);

	MUST(fd >= 0);
	return OBJ(ibv_import_device(fd));
}

CASE(ibv_import_device, ENODEV, "cmd_fd does not belong to a present RDMA device")
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	MUST(fd >= 0);
	return OBJ(ibv_import_device(fd));
}

CASE_ON(ON_MLX4, ibv_import_device, EOPNOTSUPP,
	"The provider of the device does not support imports")
{
	return OBJ(ibv_import_device(bed->ctx->cmd_fd));
}

static struct ibv_context *imported(struct bed *bed)
{
	struct ibv_context *ctx = ibv_import_device(dup(bed->ctx->cmd_fd));

	MUST(ctx);
	return ctx;
}

CASE(ibv_import_device, ENOENT, "The context has no object with that handle")
{
	return OBJ(ibv_import_mr(ibv_import_pd(imported(bed), bed->pd->handle), 7777));
}

CASE(ibv_import_device, ENOENT, "The context has no object with that handle")
{
	return OBJ(ibv_import_dm(imported(bed), 7777));
}

CASE(ibv_import_device, ENOMEM, "There is no memory for the object")
{
	struct ibv_context *ctx = imported(bed);

	return NO_MEMORY(OBJ(ibv_import_pd(ctx, bed->pd->handle)));
}

CASE(ibv_import_device, ENOMEM, "There is no memory for the object")
{
	struct ibv_pd *pd = ibv_import_pd(imported(bed), bed->pd->handle);

	MUST(pd);
	return NO_MEMORY(OBJ(ibv_import_mr(pd, bed->mr->handle)));
}

/* The specs stand without a gap, as an Ethernet spec's size is a multiple of 2 alone. */
struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_counter_action count;
} __attribute__((packed, aligned(8)));

/* Each rule is for another address. */
static struct rule rule_of(void)
{
	static uint8_t last;

	return (struct rule){ .attr = { .type = IBV_FLOW_ATTR_NORMAL,
					.size = sizeof(struct ibv_flow_attr) +
						sizeof(struct ibv_flow_spec_eth),
					.num_of_specs = 1,
					.port = RIG_PORT },
			      .eth = { .type = IBV_FLOW_SPEC_ETH,
				       .size = sizeof(struct ibv_flow_spec_eth),
				       .val.dst_mac = { 2, 0, 0, 0, 0, ++last },
				       .mask.dst_mac = { 255, 255, 255, 255, 255, 255 } } };
}

static int create_flow(struct bed *bed, struct rule *rule)
{
	return OBJ(ibv_create_flow(bed_qp(bed, IBV_QPT_RAW_PACKET), (void *)rule));
}

CASE_ON(ON_ROCE, ibv_create_flow, EINVAL, "A spec has an unknown type or is too short")
{
	struct rule rule = rule_of();

	rule.eth.type = 0x1f;
	return create_flow(bed, &rule);
}

CASE_ON(ON_ROCE, ibv_create_flow, EINVAL, "A spec has an unknown type or is too short")
{
	struct rule rule = rule_of();

	rule.eth.size = 2;
	return create_flow(bed, &rule);
}

CASE_ON(ON_ROCE, ibv_create_flow, EOPNOTSUPP,
	"softhca(1) does not support IBV_FLOW_ATTR_SNIFFER and IBV_FLOW_ATTR_FLAGS_EGRESS")
{
	struct rule rule = rule_of();

	rule.attr.type = IBV_FLOW_ATTR_SNIFFER;
	rule.attr.num_of_specs = 0;
	rule.attr.size = sizeof(rule.attr);
	return create_flow(bed, &rule);
}

CASE_ON(ON_ROCE, ibv_create_flow, ENOMEM, "There is no memory")
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_RAW_PACKET);
	struct rule rule = rule_of();

	return NO_MEMORY_STORED(OBJ(ibv_create_flow(qp, (void *)&rule)), 600);
}

CASE_ON(ON_ROCE, ibv_create_flow, EINVAL, "or the specs cannot be combined")
{
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_flow_spec_counter_action count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
						      .size = sizeof(count) };
	struct {
		struct rule rule;
		struct ibv_flow_spec_counter_action again;
	} __attribute__((packed, aligned(8))) twice = { .rule = rule_of() };

	MUST(count.counters = ibv_create_counters(bed->ctx, &init));
	twice.rule.count = twice.again = count;
	twice.rule.attr.num_of_specs = 3;
	twice.rule.attr.size = sizeof(twice);
	return OBJ(ibv_create_flow(bed_qp(bed, IBV_QPT_RAW_PACKET), (void *)&twice));
}

CASE_ON(ON_ROCE, ibv_create_flow, EOPNOTSUPP, "The device does not support such a flow")
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_ipv6 ip;
	} __attribute__((packed, aligned(8))) hops = { .attr = rule_of().attr };

	hops.ip = (struct ibv_flow_spec_ipv6){ .type = IBV_FLOW_SPEC_IPV6,
					       .size = sizeof(hops.ip),
					       .val.hop_limit = 64,
					       .mask.hop_limit = 255 };
	hops.attr.size = sizeof(hops);
	return OBJ(ibv_create_flow(bed_qp(bed, IBV_QPT_RAW_PACKET), (void *)&hops));
}

CASE_ON(ON_ROCE, ibv_create_flow, ENOSPC, "The device's table of this priority is full")
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_RAW_PACKET);
	struct rule rule = rule_of();

	for (unsigned int i = 0; i < UINT16_MAX; i++) {
		rule.eth.val.dst_mac[4] = (uint8_t)(i >> 8);
		rule.eth.val.dst_mac[5] = (uint8_t)i;
		if (!ibv_create_flow(qp, (void *)&rule))
			return errno;
	}
	return 0;
}

/* The last of its page: the process loses the right. */
CASE_ON(ON_ROCE, ibv_create_flow, EPERM, "The process lacks CAP_NET_RAW")
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_RAW_PACKET);
	struct rule rule = rule_of();

	capabilities_drop();
	return OBJ(ibv_create_flow(qp, (void *)&rule));
}

CASE_ON(ON_ROCE, ibv_create_qp, EPERM,
	"qp_type is IBV_QPT_RAW_PACKET, and the process lacks CAP_NET_RAW")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.qp_type = IBV_QPT_RAW_PACKET;
	capabilities_drop();
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_flow_action, EPROTONOSUPPORT, "The kernel's driver does not support the action")
{
	struct ibv_flow_action_esp esp = { .spi = 1 };
	struct ibv_flow_action_esp_attr attr = { .esp_attr = &esp };

	return OBJ(ibv_create_flow_action_esp(bed->ctx, &attr));
}

CASE(ibv_create_flow_action, EOPNOTSUPP, "comp_mask has an unknown bit")
{
	struct ibv_flow_action_esp esp = { .spi = 1 };
	struct ibv_flow_action_esp_attr attr = { .esp_attr = &esp, .comp_mask = 1 << 20 };

	return OBJ(ibv_create_flow_action_esp(bed->ctx, &attr));
}

CASE_ON(ON_MLX4, ibv_create_flow_action, EOPNOTSUPP, "the provider does not support the action")
{
	struct ibv_flow_action_esp esp = { .spi = 1 };
	struct ibv_flow_action_esp_attr attr = { .esp_attr = &esp };

	return OBJ(ibv_create_flow_action_esp(bed->ctx, &attr));
}

static struct ibv_counters *bed_counters(struct bed *bed)
{
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_counters *counters = ibv_create_counters(bed->ctx, &init);

	MUST(counters);
	return counters;
}

static int counter_attach(struct ibv_counters *counters, struct ibv_flow *flow)
{
	struct ibv_counter_attach_attr attr = { .counter_desc = IBV_COUNTER_PACKETS };

	return RET(ibv_attach_counters_point_flow(counters, &attr, flow));
}

static struct ibv_flow *counted_flow(struct bed *bed, struct ibv_counters *counters)
{
	struct rule rule = rule_of();
	struct ibv_flow *flow;

	rule.count = (struct ibv_flow_spec_counter_action){ .type = IBV_FLOW_SPEC_ACTION_COUNT,
							    .size = sizeof(rule.count),
							    .counters = counters };
	rule.attr.num_of_specs = 2;
	rule.attr.size = sizeof(rule);
	flow = ibv_create_flow(bed_qp(bed, IBV_QPT_RAW_PACKET), (void *)&rule);
	MUST(flow);
	return flow;
}

CASE_ON(ON_ROCE, ibv_create_counters, EINVAL, "the set has no value or no flow")
{
	uint64_t values[3];

	return RET(ibv_read_counters(bed_counters(bed), values, 1, 0));
}

CASE_ON(ON_ROCE, ibv_create_counters, EINVAL, "ncounters is too large")
{
	struct ibv_counters *counters = bed_counters(bed);
	static uint64_t values[9000];

	MUST(!counter_attach(counters, NULL));
	counted_flow(bed, counters);
	return RET(ibv_read_counters(counters, values, 9000, 0));
}

CASE_ON(ON_ROCE, ibv_create_counters, EINVAL, "does not cover all attached indices")
{
	struct ibv_counters *counters = bed_counters(bed);
	struct ibv_counter_attach_attr attr = { .counter_desc = IBV_COUNTER_PACKETS, .index = 2 };
	uint64_t values[3];

	MUST(!ibv_attach_counters_point_flow(counters, &attr, NULL));
	counted_flow(bed, counters);
	return RET(ibv_read_counters(counters, values, 1, 0));
}

CASE_ON(ON_ROCE, ibv_create_counters, EOPNOTSUPP, "comp_mask is not 0")
{
	struct ibv_counters_init_attr init = { .comp_mask = 1 };

	return OBJ(ibv_create_counters(bed->ctx, &init));
}

CASE_ON(ON_MLX4, ibv_create_counters, EOPNOTSUPP, "the provider has no counters")
{
	struct ibv_counters_init_attr init = { 0 };

	return OBJ(ibv_create_counters(bed->ctx, &init));
}

CASE_ON(ON_ROCE, ibv_create_counters, ENOTSUP, "flow is not NULL")
{
	struct ibv_counters *counters = bed_counters(bed);

	MUST(!counter_attach(counters, NULL));
	return counter_attach(counters, counted_flow(bed, counters));
}

CASE_ON(ON_ROCE, ibv_create_counters, EBUSY, "a flow already uses the set")
{
	struct ibv_counters *counters = bed_counters(bed);

	MUST(!counter_attach(counters, NULL));
	counted_flow(bed, counters);
	return counter_attach(counters, NULL);
}

CASE_ON(ON_ROCE, ibv_create_counters, EBUSY, "flows use the set")
{
	struct ibv_counters *counters = bed_counters(bed);

	MUST(!counter_attach(counters, NULL));
	counted_flow(bed, counters);
	return RET(ibv_destroy_counters(counters));
}

CASE_ON(ON_ROCE, ibv_create_counters, ENOMEM, "There is no memory")
{
	struct ibv_counters_init_attr init = { 0 };

	return NO_MEMORY(OBJ(ibv_create_counters(bed->ctx, &init)));
}

CASE(ibv_create_comp_cntr, EOPNOTSUPP, "The device or the kernel has no completion counters")
{
	struct ibv_comp_cntr_init_attr attr = { 0 };

	return ibv_create_comp_cntr ? OBJ(ibv_create_comp_cntr(bed->ctx, &attr)) : NO_SUCH_CALL;
}

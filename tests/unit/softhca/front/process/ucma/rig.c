/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.c - see rig.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rig.h"

struct ucma_rig rig;

static void adapter_begin(unsigned int index)
{
	struct adapter *adapter = &rig.adapters[index];

	adapter->index = index;
	adapter->host = 5;
	adapter->link_layer = HCA_LINK_INFINIBAND;
	adapter->num_ports = RIG_PORTS;
	adapter->node_guid = 0x0211223344556600 + 0x10 * index;
	rig.daemon.adapters[index] = adapter;
	for (unsigned int port = 0; port < RIG_PORTS; port++) {
		rig.port_state[index][port] = 4;
		for (unsigned int i = 0; i < RIG_GIDS; i++) {
			struct gid_entry *entry = &rig.gids[index][port][i];

			entry->valid = true;
			memset(entry->gid, (int)(0x80 | index << 5 | port << 4 | i), 16);
		}
	}
}

int rig_begin(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	for (unsigned int i = 0; i < RIG_ADAPTERS; i++)
		adapter_begin(i);
	rig.daemon.num_adapters = RIG_ADAPTERS;
	rig.file.daemon = &rig.daemon;
	rig.id.file = &rig.file;
	rig.id.number = RIG_ID;
	rig.caller.tid = 77;
	rig.call.call = &rig.caller;
	rig.call.file = &rig.file;
	rig.call.hdr.out = RIG_MEMORY;
	memset(rig.memory, 0xee, sizeof(rig.memory));
	return 0;
}

void rig_make_roce(void)
{
	for (unsigned int i = 0; i < RIG_ADAPTERS; i++) {
		rig.adapters[i].link_layer = HCA_LINK_ETHERNET;
		for (unsigned int port = 0; port < RIG_PORTS; port++)
			for (unsigned int j = 0; j < RIG_GIDS; j++)
				rig.gids[i][port][j].kind = j % 2 ? GID_ROCE_V2 : GID_ROCE_V1;
	}
}

struct sockaddr_storage rig_ip(const char *text, uint16_t port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_storage addr = { 0 };

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		memcpy(&addr, &v4, sizeof(v4));
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
		memcpy(&addr, &v6, sizeof(v6));
	}
	return addr;
}

int ucma_id_find(struct ucma_call *uc, uint32_t number, struct ucma_id **id)
{
	assert_ptr_equal(uc, &rig.call);
	*id = &rig.id;
	return number == RIG_ID ? 0 : ENOENT;
}

static uint8_t *memory_at(const struct call *call, uint64_t addr, size_t len)
{
	assert_ptr_equal(call, &rig.caller);
	if (addr < RIG_ADDR || addr + len > RIG_ADDR + RIG_MEMORY)
		return NULL;
	return rig.memory + (addr - RIG_ADDR);
}

int caller_read(const struct call *call, uint64_t addr, void *buf, size_t len)
{
	const uint8_t *from = memory_at(call, addr, len);

	if (!from)
		return EFAULT;
	memcpy(buf, from, len);
	return 0;
}

int caller_write(const struct call *call, uint64_t addr, const void *buf, size_t len)
{
	uint8_t *to = memory_at(call, addr, len);

	if (!to)
		return EFAULT;
	memcpy(to, buf, len);
	rig.written = addr - RIG_ADDR + len;
	return 0;
}

int adapter_query_gid(struct adapter *adapter, unsigned int port, uint32_t index,
		      struct gid_entry *entry)
{
	assert_in_range(port, 1, RIG_PORTS);
	if (rig.gid_error)
		return rig.gid_error;
	if (index >= RIG_GIDS)
		return EINVAL;
	*entry = rig.gids[adapter->index][port - 1][index];
	return 0;
}

int adapter_query_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	assert_in_range(port, 1, RIG_PORTS);
	if (rig.port_error)
		return rig.port_error;
	*info = (struct port_info){ .lid = RIG_LID + adapter_port_index(adapter, port),
				    .state = rig.port_state[adapter->index][port - 1],
				    .active_mtu = 5 };
	return 0;
}

const char *netdev_of(const struct adapter *adapter, unsigned int port)
{
	assert_in_range(port, 1, RIG_PORTS);
	return rig.netdevs[adapter->index][port - 1];
}

unsigned int netdev_addresses(const char *name, uint8_t address[NETDEV_MAX_ADDRESSES][16])
{
	if (strcmp(name, rig.netdev_name) != 0)
		return 0;
	memcpy(address, rig.netdev_addresses, sizeof(rig.netdev_addresses));
	return rig.netdev_count;
}

bool netdev_with_address(const uint8_t address[16], char name[IF_NAMESIZE])
{
	for (unsigned int i = 0; i < rig.netdev_count; i++) {
		if (memcmp(rig.netdev_addresses[i], address, 16) != 0)
			continue;
		strcpy(name, rig.netdev_name);
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netdev.c - see netdev.h.
 *
 * Each query reads the host's current state, except the addresses in the GID table, which are read
 * when the adapter is created. Decision: docs/adr/0048.
 */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/netdev.h"
#include "softhca/log.h"
#include "softhca/inet.h"
#include "softhca/options.h"

#define CLASS_NET "/sys/class/net/"

const char *const netdev_files[] = { "address", "addr_len", "broadcast",    "carrier",
				     "dev_id",  "dev_port", "duplex",       "flags",
				     "ifindex", "iflink",   "mtu",          "operstate",
				     "speed",   "type",     "tx_queue_len", NULL };

static struct {
	char class_path[PATH_MAX], place[PATH_MAX];
} ours[MAX_DEVICES * MAX_PORTS];
static unsigned int num_ours;

bool netdev_place(const char *name, char *path, size_t size)
{
	char link[64], real[PATH_MAX];

	snprintf(link, sizeof(link), CLASS_NET "%s", name);
	return realpath(link, real) && snprintf(path, size, "%s", real) < (int)size;
}

static void name_remember(const char *name)
{
	snprintf(ours[num_ours].class_path, PATH_MAX, CLASS_NET "%s/device", name);
	if (!netdev_place(name, ours[num_ours].place, PATH_MAX - sizeof("/device")))
		strcpy(ours[num_ours].place, ours[num_ours].class_path);
	else
		strcat(ours[num_ours].place, "/device");
	num_ours++;
}

int netdev_assign(const struct options *options, struct adapter *adapter)
{
	unsigned int first = adapter->index * options->ports;

	if (options->num_netdevs > options->devices * options->ports) {
		log_error("--netdev: there are %u for %u ports", options->num_netdevs,
			  options->devices * options->ports);
		return EINVAL;
	}
	for (unsigned int i = 0; i < options->ports && first + i < options->num_netdevs; i++) {
		const char *name = options->netdevs[first + i];

		if (strlen(name) >= IF_NAMESIZE || !if_nametoindex(name)) {
			log_error("--netdev %s: the host has no such network interface", name);
			return ENODEV;
		}
		strcpy(adapter->netdev[i], name);
		name_remember(name);
	}
	return 0;
}

const char *netdev_of(const struct adapter *adapter, unsigned int port)
{
	const char *name = adapter->netdev[port - 1];

	return *name ? name : NULL;
}

uint32_t netdev_index(const struct adapter *adapter, unsigned int port)
{
	const char *name = netdev_of(adapter, port);

	return name ? if_nametoindex(name) : 0;
}

static bool address_bytes(const struct sockaddr *from, uint8_t address[16])
{
	if (!from || (from->sa_family != AF_INET && from->sa_family != AF_INET6))
		return false;
	if (from->sa_family == AF_INET6) {
		memcpy(address, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
		return true;
	}
	inet_map((const uint8_t *)&((const struct sockaddr_in *)from)->sin_addr, address);
	return true;
}

static bool is_link_local(const uint8_t address[16])
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

unsigned int netdev_addresses(const char *name, uint8_t address[NETDEV_MAX_ADDRESSES][16])
{
	struct ifaddrs *list;
	unsigned int count = 0;

	if (getifaddrs(&list))
		return 0;
	for (const struct ifaddrs *at = list; at && count < NETDEV_MAX_ADDRESSES; at = at->ifa_next)
		if (!strcmp(at->ifa_name, name) && address_bytes(at->ifa_addr, address[count]) &&
		    !is_link_local(address[count]))
			count++;
	freeifaddrs(list);
	return count;
}

bool netdev_with_address(const uint8_t address[16], char name[IF_NAMESIZE])
{
	struct ifaddrs *list;
	uint8_t own[16];
	bool found = false;

	if (getifaddrs(&list))
		return false;
	for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next) {
		found = address_bytes(at->ifa_addr, own) && !memcmp(own, address, 16);
		if (found)
			snprintf(name, IF_NAMESIZE, "%s", at->ifa_name);
	}
	freeifaddrs(list);
	return found;
}

bool netdev_text(const char *name, unsigned int port, const char *file, char *text)
{
	char path[96];
	ssize_t len;
	int fd;

	if (!strcmp(file, "dev_port")) {
		snprintf(text, NETDEV_TEXT_SIZE, "%u\n", port - 1);
		return true;
	}
	snprintf(path, sizeof(path), CLASS_NET "%s/%s", name, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, NETDEV_TEXT_SIZE - 1);
	close(fd);
	if (len < 0)
		return false; /* such as speed without a link */
	text[len] = 0;
	return true;
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/');
}

bool netdev_claims(const char *path)
{
	for (unsigned int i = 0; i < num_ours; i++)
		if (is_below(path, ours[i].class_path) || is_below(path, ours[i].place))
			return true;
	return false;
}

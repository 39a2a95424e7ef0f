/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netdev.h - network interfaces of the host that represent those of the adapters' ports.
 *
 * A real port has a network interface: Ethernet, or IPoIB on InfiniBand. Here it has none, unless
 * --netdev names an interface of the host: programs then see it as the port's, and its IP addresses
 * belong to the port. The host's network is not changed, and no frames go through the interface.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_NETDEV_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_NETDEV_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct adapter;
struct options;

enum { NETDEV_MAX_ADDRESSES = 16, NETDEV_TEXT_SIZE = 256 };

/* Assigns interfaces to the ports, in the order of the options. Returns 0, or ENODEV or EINVAL
 * after logging the reason. */
int netdev_assign(const struct options *options, struct adapter *adapter);
/* Returns the name of a port's interface, or NULL. Valid as long as the adapter. */
const char *netdev_of(const struct adapter *adapter, unsigned int port);
/* Returns the interface's index as programs see it; 0: none. */
uint32_t netdev_index(const struct adapter *adapter, unsigned int port);

/* Gets the IP addresses of interface NAME, IPv4 ones as mapped to IPv6, without link-local ones.
 * Returns their number. */
unsigned int netdev_addresses(const char *name, uint8_t address[NETDEV_MAX_ADDRESSES][16]);
bool netdev_with_address(const uint8_t address[16], char name[IF_NAMESIZE]);

/* Files of an interface's directory in sysfs; ends with NULL. */
extern const char *const netdev_files[];
/* Gets the contents of FILE, one of netdev_files: those of the host's file, except for files that
 * name the port. Returns false if the host's interface has no such contents. */
bool netdev_text(const char *name, unsigned int port, const char *file, char *text);
/* Returns whether PATH is below the device directory of an assigned interface,
 * "/sys/class/net/NAME/device...". */
bool netdev_claims(const char *path);
/* Gets the real path, without links, of the host's directory of interface NAME:
 * "/sys/devices/...". */
bool netdev_place(const char *name, char *path, size_t size);

#endif

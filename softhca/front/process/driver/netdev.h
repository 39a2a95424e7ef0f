/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netdev.h - network interfaces of the host that stand for those of the adapters' ports.
 *
 * An adapter on Ethernet has a network interface for each port, one on InfiniBand an IPoIB
 * interface. Here there is none, unless --netdev names an interface that the host has: programs
 * then find it as the adapter's, and its IP addresses belong to the port. Nothing of the host's
 * network is changed, and no frame goes through the interface.
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

/* Assigns the ports' interfaces, in the order in which the options name them. It returns 0, or
 * ENODEV or EINVAL after saying why. */
int netdev_assign(const struct options *options, struct adapter *adapter);
/* Returns the name of a port's interface, or NULL. It lives as long as the adapter. */
const char *netdev_of(const struct adapter *adapter, unsigned int port);
/* Returns the interface's number, as programs know it; 0: there is none. */
uint32_t netdev_index(const struct adapter *adapter, unsigned int port);

/* Gets the IP addresses of interface NAME, IPv4 as mapped to IPv6, without those of one link;
 * returns how many they are. */
unsigned int netdev_addresses(const char *name, uint8_t address[NETDEV_MAX_ADDRESSES][16]);
/* Which interface of the host has the IP address? */
bool netdev_with_address(const uint8_t address[16], char name[IF_NAMESIZE]);

/* The list of the files in the interface's directory in sysfs ends with a NULL. */
extern const char *const netdev_files[];
/* Gets the text of one of those files: that of the host, but for what says which port it is. False:
 * the host's interface has no such text. */
bool netdev_text(const char *name, unsigned int port, const char *file, char *text);
/* Does PATH ask for the device behind an interface of ours, "/sys/class/net/NAME/device..."? */
bool netdev_claims(const char *path);
/* Gets the host's directory of interface NAME, without links: "/sys/devices/...". */
bool netdev_place(const char *name, char *path, size_t size);

#endif

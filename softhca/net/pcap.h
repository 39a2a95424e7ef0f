/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pcap.h - capture files for tcpdump, Wireshark and tshark.
 */
#ifndef SOFTHCA_NET_PCAP_H
#define SOFTHCA_NET_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcap;

/* Opens a file for Ethernet frames or InfiniBand packets. Returns 0 or a positive errno. */
int pcap_open(const char *path, bool ethernet, struct pcap **pcap);
/* Writes the remaining packets and closes the file. PCAP may be NULL. */
void pcap_close(struct pcap *pcap);

/* Adds a packet with the current time; pcap_flush() writes it at the latest. */
void pcap_add(struct pcap *pcap, const uint8_t *packet, size_t len);
void pcap_flush(struct pcap *pcap);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pcap.h - a capture file as tcpdump, Wireshark and tshark read it.
 */
#ifndef SOFTHCA_NET_PCAP_H
#define SOFTHCA_NET_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcap;

/* Opens a file of Ethernet frames or of InfiniBand packets. It returns 0 or a positive errno. */
int pcap_open(const char *path, bool ethernet, struct pcap **pcap);
/* Closes the file after writing what is left. PCAP may be NULL. */
void pcap_close(struct pcap *pcap);

/* Adds a packet with the present time. pcap_flush() writes it to the file at the latest. */
void pcap_add(struct pcap *pcap, const uint8_t *packet, size_t len);
void pcap_flush(struct pcap *pcap);

#endif

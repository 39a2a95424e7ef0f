/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pcap.c - see pcap.h. Packets are collected and written in larger pieces. A failed write ends the
 * capture, not the traffic.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softhca/log.h"
#include "softhca/net/pcap.h"
#include "util/fields.h"

enum { BUFFER = 256 * 1024, SNAP_LENGTH = 65535 };

/* draft-ietf-opsawg-pcap: times in nanoseconds; link types as registered. */
enum { MAGIC_NANOSECONDS = 0xa1b23c4d, LINKTYPE_ETHERNET = 1, LINKTYPE_ERF = 197 };

/* InfiniBand packets are in Endace's record format (ERF), the only one in which Wireshark reads
 * them. ERF types reference guide: header, type 21; big-endian, except for the time, a 32.32
 * fixed-point number. */
enum { ERF_SIZE = 16, ERF_INFINIBAND = 21, ERF_VARYING_LENGTH = 4 };

#define ERF_TYPE          FLD(0x8, 31, 24)
#define ERF_FLAGS         FLD(0x8, 23, 16)
#define ERF_RECORD_LENGTH FLD(0x8, 15, 0)
#define ERF_WIRE_LENGTH   FLD(0xc, 15, 0)

struct file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t reserved[2], snap_length, link_type;
};

struct packet_header {
	uint32_t seconds, nanoseconds, captured, length;
};

struct pcap {
	int fd;
	bool ethernet;
	size_t used;
	uint8_t buffer[BUFFER];
};

static void buffer_append(struct pcap *pcap, const void *data, size_t len)
{
	memcpy(pcap->buffer + pcap->used, data, len);
	pcap->used += len;
}

int pcap_open(const char *path, bool ethernet, struct pcap **out)
{
	struct file_header header = {
		.magic = MAGIC_NANOSECONDS,
		.major = 2,
		.minor = 4,
		.snap_length = SNAP_LENGTH,
		.link_type = ethernet ? LINKTYPE_ETHERNET : LINKTYPE_ERF,
	};
	struct pcap *pcap = malloc(sizeof(*pcap));
	int ret;

	if (!pcap)
		return ENOMEM;
	pcap->used = 0;
	pcap->ethernet = ethernet;
	pcap->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (pcap->fd < 0) {
		ret = errno;
		free(pcap);
		return ret;
	}
	buffer_append(pcap, &header, sizeof(header));
	pcap_flush(pcap);
	*out = pcap;
	return 0;
}

void pcap_close(struct pcap *pcap)
{
	if (!pcap)
		return;
	pcap_flush(pcap);
	if (pcap->fd >= 0)
		close(pcap->fd);
	free(pcap);
}

static void append_erf(struct pcap *pcap, const struct timespec *now, size_t len)
{
	uint64_t time =
		htole64((uint64_t)now->tv_sec << 32 | ((uint64_t)now->tv_nsec << 32) / 1000000000);
	uint8_t erf[ERF_SIZE] = { 0 };

	memcpy(erf, &time, sizeof(time));
	fld_set(erf, ERF_TYPE, ERF_INFINIBAND);
	fld_set(erf, ERF_FLAGS, ERF_VARYING_LENGTH);
	fld_set(erf, ERF_RECORD_LENGTH, ERF_SIZE + len);
	fld_set(erf, ERF_WIRE_LENGTH, len);
	buffer_append(pcap, erf, sizeof(erf));
}

void pcap_add(struct pcap *pcap, const uint8_t *packet, size_t len)
{
	size_t whole = pcap->ethernet ? len : ERF_SIZE + len;
	struct packet_header header = { .captured = (uint32_t)whole, .length = (uint32_t)whole };
	struct timespec now;

	if (whole > SNAP_LENGTH)
		return;
	if (BUFFER - pcap->used < sizeof(header) + whole)
		pcap_flush(pcap);
	clock_gettime(CLOCK_REALTIME, &now);
	header.seconds = (uint32_t)now.tv_sec;
	header.nanoseconds = (uint32_t)now.tv_nsec;
	buffer_append(pcap, &header, sizeof(header));
	if (!pcap->ethernet)
		append_erf(pcap, &now, len);
	buffer_append(pcap, packet, len);
}

void pcap_flush(struct pcap *pcap)
{
	size_t done = 0;

	while (pcap->fd >= 0 && done < pcap->used) {
		ssize_t n = write(pcap->fd, pcap->buffer + done, pcap->used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			log_error("--pcap: %s; the capture ends", strerror(errno));
			close(pcap->fd);
			pcap->fd = -1;
			break;
		}
		done += (size_t)n;
	}
	pcap->used = 0;
}

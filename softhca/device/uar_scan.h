/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_scan.h - reading the doorbell records of a UAR's queues, in pieces.
 *
 * A doorbell register names one queue, but later values may have replaced those of other queues. So
 * after each doorbell the records of all queues of the UAR are read. A page may have any number of
 * queues, and its user may ring without end: the named queue is read at once, together with as many
 * others as one bus call reads. The rest follow in turns of hca_progress(), with turns of other
 * pages between them. A doorbell during that begins anew, behind the queues read last.
 */
#ifndef SOFTHCA_DEVICE_UAR_SCAN_H
#define SOFTHCA_DEVICE_UAR_SCAN_H

#include <stdint.h>

struct hca;
struct uar;

/* Scan the UAR's send queues after doorbells for the COUNT queues N, or its CQs after a doorbell
 * for CQ N. */
void uar_scan_sqs(struct hca *hca, struct uar *uar, const uint32_t *n, unsigned int count);
void uar_scan_cqs(struct hca *hca, struct uar *uar, uint32_t n);
/* Continues the first scans of hca->scans, which lists the UARs whose scans are not complete. */
void uar_scans_run(struct hca *hca);

#endif

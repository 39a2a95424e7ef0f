/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flush.h - completes posted WQEs in error, for queues whose adapter is gone.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOLDER_FLUSH_H
#define SOFTHCA_FRONT_PROCESS_HOLDER_FLUSH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "softhca/front/process/holder/epitaph.h"

struct flush;

/* Finds the oldest incomplete WQE of each queue in TABLE. Call it only after the daemon's death.
 * Returns 0 or ENOMEM. */
int flush_begin(struct epitaph_table *table, struct flush **flush);
void flush_end(struct flush *flush);
/* Completes all posted WQEs in error. Sets *WAS_BUSY if there were any. Returns false when no queue
 * is left. */
bool flush_all(struct flush *flush, bool *was_busy);
/* Forgets object HANDLE of device file FILE, as the program destroys it and may use its memory for
 * something else. */
void flush_forget(struct flush *flush, const struct stat *file, uint32_t handle);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flush.h - completes, in error, what is posted to queues whose adapter is gone.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOLDER_FLUSH_H
#define SOFTHCA_FRONT_PROCESS_HOLDER_FLUSH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "softhca/front/process/holder/epitaph.h"

struct flush;

/* Find out how far the queues of TABLE got. To be called once the daemon is dead. 0 or ENOMEM. */
int flush_begin(struct epitaph_table *table, struct flush **flush);
void flush_end(struct flush *flush);
/* Complete what is posted now. Sets whether there was anything; false: no queue is left, nor will
 * be. */
bool flush_all(struct flush *flush, bool *was_busy);
/* Object HANDLE of device file FILE is about to be destroyed: nothing more is written to it. */
void flush_forget(struct flush *flush, const struct stat *file, uint32_t handle);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holder.h - a process that answers trapped calls, and completes posted WQEs, after the daemon's
 * death.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOLDER_HOLDER_H
#define SOFTHCA_FRONT_PROCESS_HOLDER_HOLDER_H

#include "softhca/front/process/holder/mailbox.h"

/* Runs until no filtered process is left. DAEMON is a socket whose other end only the daemon has;
 * MAILBOX is mapped from MEMORY. */
void holder_run(int listener, int daemon, const struct mailbox *mailbox, int memory);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paths.h - trapped calls that name a file: by path, or by a descriptor of a uverbs file.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PATHS_H
#define SOFTHCA_FRONT_PROCESS_PATHS_H

struct call;

void path_open(struct call *call);
void path_openat(struct call *call);
void path_openat2(struct call *call);
void path_stat(struct call *call);
void path_lstat(struct call *call);
void path_newfstatat(struct call *call);
void path_statx(struct call *call);
void path_fstat(struct call *call);
void path_access(struct call *call);
void path_faccessat(struct call *call);
void path_readlink(struct call *call);
void path_readlinkat(struct call *call);
void path_chdir(struct call *call);
void path_statfs(struct call *call);
void path_getxattr(struct call *call);
void path_listxattr(struct call *call);

#endif

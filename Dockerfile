# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tree built, and a ping-pong on the adapter in software:
#
#   docker build -t rdmakit . && docker run --rm --cap-add SYS_PTRACE rdmakit
#   docker run --rm -it --cap-add SYS_PTRACE rdmakit softhca run -- bash
#
# softhca reads the memory of the programs that it serves, which engines allow with that capability.
FROM debian:bookworm-slim
WORKDIR /rdmakit
COPY . .
RUN ./quickstart --build
ENV PATH=/rdmakit/build/stage/bin:/usr/sbin:/usr/bin:/sbin:/bin LD_LIBRARY_PATH=/rdmakit/build/stage/lib
CMD ["./quickstart"]

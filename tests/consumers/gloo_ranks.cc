// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// gloo_ranks.cc - gloo-ranks DIRECTORY RANK RANKS ROUNDS DEVICE: one rank that sums vectors with the others, by gloo's transport
// over verbs, and compares each sum. DIRECTORY is where they meet; it is empty at first.
//
// A gloo::Algorithm ends by a message to the next rank whose sending it does not wait for, and a buffer whose send is not
// complete ends the program when it is destroyed. So what has run stays until all ranks have all sums, and goes with the process.
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

struct Sum {
	std::vector<float> data;
	std::unique_ptr<gloo::Algorithm> algorithm;
};

static std::unique_ptr<Sum> sum_make(const std::shared_ptr<gloo::Context> &context, int round)
{
	std::unique_ptr<Sum> sum(new Sum);
	int size = 1 + round * 997;

	for (int i = 0; i < size; i++)
		sum->data.push_back(static_cast<float>(context->rank + i % 7));
	if (round % 2)
		sum->algorithm.reset(new gloo::AllreduceRing<float>(context, { sum->data.data() }, size));
	else
		sum->algorithm.reset(new gloo::AllreduceRingChunked<float>(context, { sum->data.data() }, size));
	return sum;
}

static bool sum_is_right(const Sum &sum, int ranks)
{
	for (size_t i = 0; i < sum.data.size(); i++) {
		if (sum.data[i] != static_cast<float>(ranks * static_cast<int>(i % 7) + ranks * (ranks - 1) / 2))
			return false;
	}
	return true;
}

static void await_all(gloo::rendezvous::FileStore &store, int rank, int ranks)
{
	std::vector<std::string> keys;

	for (int i = 0; i < ranks; i++)
		keys.push_back("done" + std::to_string(i));
	store.set(keys[rank], { 1 });
	store.wait(keys);
}

int main(int argc, char **argv)
{
	if (argc != 6)
		return 2;
	const int rank = atoi(argv[2]), ranks = atoi(argv[3]), rounds = atoi(argv[4]);
	auto device = gloo::transport::ibverbs::CreateDevice({ argv[5], 1, 0 });
	auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
	gloo::rendezvous::FileStore store(argv[1]);
	std::vector<std::unique_ptr<Sum>> sums;
	bool good = true;

	context->connectFullMesh(store, device);
	for (int round = 0; round < rounds; round++) {
		sums.push_back(sum_make(context, round));
		sums.back()->algorithm->run();
		good = good && sum_is_right(*sums.back(), ranks);
	}
	await_all(store, rank, ranks);
	printf("rank %d of %d: %s\n", rank, ranks, good ? "all right" : "WRONG");
	fflush(stdout);
	_exit(!good);
}

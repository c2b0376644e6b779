#!/usr/bin/env python3
"""What PyTorch learns: epochs of training, each with its test.

    torch_learn.py --data FOLDER [--seed N] [--epochs N]    a line of JSON each

The parameters are those of torch.manual_seed(seed), the order of epoch e (from
0) is randperm under seed + e and the rate is StepLR's, as `bench measure` has
them for the network of the same name; dropout's choices are PyTorch's own. The
form is one that changes nothing but the order of sums: fp32, channels last, the
model compiled unless --compile none.
"""
import argparse
import json
import sys

sys.dont_write_bytecode = True
import torch

import images
import torch_train

BATCH = 128
TEST_BATCH = 1000
GAMMA = .7


def train_epoch(options, peer, images, labels, epoch):
    generator = torch.Generator().manual_seed(options.seed + epoch)
    order = torch.randperm(len(images), generator=generator)
    peer.network.train()
    for begin in range(0, len(order), BATCH):
        taken = order[begin:begin + BATCH]
        peer.train(peer.batch(images[taken]), labels[taken])


def test(peer, images, labels):
    """Mean loss and share of right answers in percent."""
    peer.network.eval()
    sums = torch.zeros(2)
    with torch.no_grad():
        for begin in range(0, len(images), TEST_BATCH):
            sums += peer.test(peer.batch(images[begin:begin + TEST_BATCH]),
                              labels[begin:begin + TEST_BATCH])
    loss, right = (sums / len(images)).tolist()
    return loss, 100 * right


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", metavar="FOLDER", required=True,
        help="where the IDX files are")
    add("--model", choices=("mnist", "mnist-example"), default="mnist")
    add("--seed", type=int, default=1)
    add("--epochs", type=torch_train.positive, default=10)
    add("--threads", type=torch_train.positive, default=1)
    add("--compile", choices=("none", "model", "all"), default="model")
    options = parser.parse_args()
    options.channels_last, options.bf16 = True, False
    options.optimizer, options.autotune = "default", False
    options.freeze, options.flush_denormal = False, False
    options.device, options.graphs = "cpu", False
    options.fold, options.bf16_model = False, False
    return options


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    try:
        train_images, train_labels = images.read_set(options.data, "train")
        test_images, test_labels = images.read_set(options.data, "t10k")
    except images.BadFile as error:
        print(f"torch_learn: {error}", file=sys.stderr)
        return 5
    peer = torch_train.Peer(options, options.model)
    for epoch in range(options.epochs):
        for group in peer.optimizer.param_groups:
            group["lr"] = GAMMA ** epoch
        train_epoch(options, peer, train_images, train_labels, epoch)
        loss, accuracy = test(peer, test_images, test_labels)
        print(json.dumps({"peer": "PyTorch", "version": torch.__version__,
                          "model": options.model, "seed": options.seed,
                          "epoch": epoch + 1, "test_loss": loss,
                          "accuracy_pct": accuracy}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

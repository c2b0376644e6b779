"""The networks of models/ in PyTorch, and how their recipes train them.

Layers are made in the order in which torchvision and the posts' programs make
them, so that parameters after torch.manual_seed(seed) are those of `bench`.
"""
import inspect

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

import contests
from images import Missing


class Mnist(nn.Module):
    """mnist, or mnist-example with its second ReLU and plain dropout."""

    def __init__(self, example, dropout):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)
        self.example = example
        first = nn.Dropout if example else nn.Dropout2d
        self.drop1 = first(.25 if dropout else 0)
        self.drop2 = nn.Dropout(.5 if dropout else 0)

    def forward(self, images):
        planes = self.conv2(functional.relu(self.conv1(images)))
        if self.example:
            planes = functional.relu(planes)
        planes = self.drop1(functional.max_pool2d(planes, 2))
        units = functional.relu(self.fc1(torch.flatten(planes, 1)))
        return functional.log_softmax(self.fc2(self.drop2(units)), 1)


class XlaMnist(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.bn1 = nn.BatchNorm2d(10)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.bn2 = nn.BatchNorm2d(20)
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, images):
        planes = functional.max_pool2d(self.conv1(images), 2)
        planes = self.bn1(functional.relu(planes))
        planes = functional.max_pool2d(self.conv2(planes), 2)
        planes = self.bn2(functional.relu(planes))
        units = functional.relu(self.fc1(torch.flatten(planes, 1)))
        return functional.log_softmax(self.fc2(units), 1)


class Mnist2019(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, 5)
        self.conv2 = nn.Conv2d(20, 50, 5)
        self.fc1 = nn.Linear(800, 500)
        self.fc2 = nn.Linear(500, 10)

    def forward(self, images):
        planes = images
        for conv in (self.conv1, self.conv2):
            planes = functional.max_pool2d(functional.relu(conv(planes)), 2)
        units = functional.relu(self.fc1(torch.flatten(planes, 1)))
        return functional.log_softmax(self.fc2(units), 1)


def alexnet(dropout):
    """Channels, window, stride and padding of each convolution; a pooling
    behind those that are marked."""
    layers, channels = [], 3
    for wide, window, stride, pad, pooled in (
            (64, 11, 4, 2, True), (192, 5, 1, 2, True), (384, 3, 1, 1, False),
            (256, 3, 1, 1, False), (256, 3, 1, 1, True)):
        layers += [nn.Conv2d(channels, wide, window, stride, pad),
                   nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(3, 2)] if pooled else []
        channels = wide
    drop = .5 if dropout else 0
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(6), nn.Flatten(),
        nn.Dropout(drop), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(inplace=True),
        nn.Dropout(drop), nn.Linear(4096, 4096), nn.ReLU(inplace=True),
        nn.Linear(4096, 10))


def conv(inputs, outputs, window, stride=1):
    return nn.Conv2d(inputs, outputs, window, stride, window // 2, bias=False)


class Pair(nn.Module):
    """A convolution and its batch norm."""

    def __init__(self, *shape):
        super().__init__()
        self.conv = conv(*shape)
        self.norm = nn.BatchNorm2d(self.conv.out_channels)

    def forward(self, planes):
        return self.norm(self.conv(planes))

    def fold(self):
        """For inference: no norm is left."""
        self.conv = fuse_conv_bn_eval(self.conv, self.norm)
        self.norm = nn.Identity()


class Block(nn.Module):
    """Two 3x3 convolutions, or a bottleneck of three, whose 3x3 one has the
    stride; what is added is the input, or its projection."""

    def __init__(self, inputs, planes, stride, bottleneck):
        super().__init__()
        outputs = 4 * planes if bottleneck else planes
        same = stride == 1 and inputs == outputs
        # Made before the block's own layers, as in torchvision, but after
        # them in the order of the network's parameters.
        projection = nn.Identity() if same else Pair(inputs, outputs, 1, stride)
        shapes = [(inputs, planes, 1), (planes, planes, 3, stride),
                  (planes, outputs, 1)] if bottleneck else \
            [(inputs, planes, 3, stride), (planes, planes, 3)]
        self.pairs = nn.ModuleList(Pair(*shape) for shape in shapes)
        self.relu = nn.ReLU(inplace=True)
        self.projection = projection

    def forward(self, planes):
        found = planes
        for pair in self.pairs[:-1]:
            found = self.relu(pair(found))
        found = self.pairs[-1](found)
        found += self.projection(planes)
        return self.relu(found)


class ResNet(nn.Module):
    """ResNet-34, or -50 with bottlenecks."""

    def __init__(self, bottleneck):
        super().__init__()
        self.stem = Pair(3, 64, 7, 2)
        blocks, channels = [], 64
        for stage, count in enumerate((3, 4, 6, 3)):
            for number in range(count):
                planes = 64 << stage
                stride = 2 if stage and not number else 1
                blocks.append(Block(channels, planes, stride, bottleneck))
                channels = 4 * planes if bottleneck else planes
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(channels, 1000)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out",
                                        nonlinearity="relu")

    def forward(self, images):
        planes = functional.relu(self.stem(images), inplace=True)
        planes = self.blocks(functional.max_pool2d(planes, 3, 2, 1))
        planes = functional.adaptive_avg_pool2d(planes, 1)
        return self.fc(torch.flatten(planes, 1))


def resnet34():
    """With the last layer that post 003 puts in the place of its own."""
    network = ResNet(bottleneck=False)
    network.fc = nn.Linear(512, 10)
    return network


def make(model, dropout):
    """After torch.manual_seed()."""
    return {"mnist": lambda: Mnist(False, dropout),
            "mnist-example": lambda: Mnist(True, dropout),
            "xla-mnist": XlaMnist, "mnist-2019": Mnist2019,
            "alexnet": lambda: alexnet(dropout), "resnet34": resnet34,
            "resnet50": lambda: ResNet(bottleneck=True)}[model]()


def fold_norms(network):
    """Into the convolutions before them, for inference."""
    pairs = [module for module in network.modules() if isinstance(module, Pair)]
    if not pairs:
        raise Missing("no convolution of this network has a batch norm right "
                      "behind it")
    network.eval()
    for pair in pairs:
        pair.fold()


# PyTorch's class and the recipe's coefficients.
ADADELTA = torch.optim.Adadelta, {"lr": 1, "rho": .9, "eps": 1e-6}
SGD = torch.optim.SGD, {"lr": .01, "momentum": .5}
ADAM = torch.optim.Adam, {"lr": 1e-3, "betas": (.9, .999), "eps": 1e-8}
OPTIMIZERS = {
    "mnist": ADADELTA, "mnist-example": ADADELTA, "xla-mnist": SGD,
    "mnist-2019": SGD, "alexnet": ADAM, "resnet34": ADAM,
    "resnet50": (torch.optim.SGD, {"lr": .8, "momentum": .9,
                                   "weight_decay": 1e-4})}


def make_optimizer(model, parameters, form):
    """The recipe's, as PyTorch chooses or in the form that is named, with the
    rate that both sides take."""
    kind, coefficients = OPTIMIZERS[model]
    rate = contests.MODELS[model].rate
    wanted = {"default": {}, "foreach": {"foreach": True},
              "fused": {"fused": True}}[form]
    for name in wanted:
        if name not in inspect.signature(kind).parameters:
            raise Missing(f"{kind.__name__} of PyTorch {torch.__version__} has "
                          f"no {name} form")
    return kind(parameters, **coefficients | wanted |
                ({"lr": rate} if rate else {}))


def loss(model, answers, targets):
    """The mean, as the recipe has it; MNIST's networks end with the logarithms
    of probabilities."""
    return {"resnet34": functional.binary_cross_entropy_with_logits,
            "resnet50": functional.cross_entropy,
            "alexnet": functional.cross_entropy,
            }.get(model, functional.nll_loss)(answers, targets)


def right(answers, targets):
    """How many classes, or labels, are answered right."""
    if targets.is_floating_point():
        return ((answers > 0) == (targets > 0)).sum()
    return (answers.argmax(1) == targets).sum()

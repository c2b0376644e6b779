"""The data set fashion-scenes of `bench` (bench/data/scenes.c): of which images
each scene is made, and which scenes are for training and for testing."""

GROUP = 8    # images that the scenes of a group are drawn from
SIDE = 128   # of a scene, whose four images fill a quarter each
FOLDS = 5    # one of them is the test set
AFTER = (7 * 6 * 5, 6 * 5, 5, 1)  # permutations that begin alike
MASK = (1 << 64) - 1


def splitmix64(state):
    state = (state + 0x9e3779b97f4a7c15) & MASK
    state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9 & MASK
    state = (state ^ state >> 27) * 0x94d049bb133111eb & MASK
    return state ^ state >> 31


def count_of(group):
    return 4 + splitmix64(group) % 9


def images_of(group, number):
    """The four of a scene, by rows."""
    rank = splitmix64(64 * group + number + (1 << 32)) % (8 * AFTER[0])
    left = list(range(GROUP * group, GROUP * (group + 1)))
    taken = []
    for after in AFTER:
        taken.append(left.pop(rank // after))
        rank %= after
    return taken


def tested(sizes):
    """The groups of the test set: the largest group first, each goes into the
    fold that has least."""
    weights, found = [0] * FOLDS, set()
    for group in sorted(range(len(sizes)), key=lambda g: (-sizes[g], -g)):
        fold = weights.index(min(weights))
        weights[fold] += sizes[group]
        if fold == 0:
            found.add(group)
    return found


def scenes(images, for_test):
    """The images of each scene, of so many training images."""
    sizes = [count_of(group) for group in range(images // GROUP)]
    test = tested(sizes)
    return [images_of(group, number) for group, size in enumerate(sizes)
            if (group in test) == for_test for number in range(size)]

/*
 * Which convolutions Winograd's algorithm computes, and in what tiles: by
 * counts of multiplications, those of the points beside it among them.
 */
#ifndef BACKENDS_CPU_SOLVERS_WINOGRAD_CHOICE_H
#define BACKENDS_CPU_SOLVERS_WINOGRAD_CHOICE_H

#include "backends/cpu/solvers/igemm.h"

/* What the solver takes: see struct solver. */
int winograd_takes(const struct graph *graph, int first,
		   const struct program_options *options, const char **why);

/* Whether a convolution that is taken is folded, and the side of its window
 * then, or of its own. */
int winograd_folds(const struct node *node);
int winograd_window(const struct node *node);

/* The side of the tiles of which there is least to do: of 13x13 outputs of a
 * window of 3, nine tiles of 5x5 rather than 16 of 4x4. */
int winograd_output(struct shape out, int window, int samples);

/* Tiles along a side, and points of a tile. */
int winograd_tiles_of(int length, int output);
int winograd_points(int window, int output);

#endif

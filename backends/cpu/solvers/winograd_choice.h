/* Choice of the convolutions that Winograd's algorithm computes, and of their
 * tiles. Both compare counts of multiplications, transforms included. */
#ifndef BACKENDS_CPU_SOLVERS_WINOGRAD_CHOICE_H
#define BACKENDS_CPU_SOLVERS_WINOGRAD_CHOICE_H

#include "backends/cpu/solvers/igemm.h"

/* Slot takes of the solver: see struct solver. */
int winograd_takes(const struct graph *graph, int first,
		   const struct program_options *options, const char **why);

/* winograd_folds() returns 1 if a convolution that is taken is folded.
 * winograd_window() returns the side of its window, after folding. */
int winograd_folds(const struct node *node);
int winograd_window(const struct node *node);

/* Returns the side of a tile's outputs with the lowest cost. For 13x13 outputs
 * of a window of 3, it prefers nine tiles of 5x5 to 16 of 4x4. */
int winograd_output(struct shape out, int window, int samples);

/* Return the tiles along a side, and the points of a tile. */
int winograd_tiles_of(int length, int output);
int winograd_points(int window, int output);

#endif

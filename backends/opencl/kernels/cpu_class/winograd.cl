/* Convolutions by tiles that are pooled, after winograd_points.cl: where their
 * tiles are. */
#define QUADRANTS 4 /* pooled outputs of a tile, two rows of two */

#define IN_VECTORS (IN_CHANNELS / WIDTH)
#define TILES_ACROSS (OUT_WIDTH * POOL / TILE)
#define TILES (TILES_ACROSS * (OUT_HEIGHT * POOL / TILE))

/* Where in the input the values of tile t begin. */
static inline int tile_corner(int t)
{
	return (t / TILES_ACROSS * TILE * IN_WIDTH +
		t % TILES_ACROSS * TILE) * IN_PADDED;
}

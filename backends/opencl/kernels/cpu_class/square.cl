/*
 * Transforms a square of values in two dimensions, for Winograd's tiles: first
 * all columns of FROM values, then the rows that they make.
 *
 *   ONE(column, made) transforms one dimension, from FROM values to TO
 *   READ is the value in row r and column c, WRITE stores made[c] of row r
 *
 * Sides are constants and loops are unrolled, so that values can stay in
 * registers.
 */
#define SQUARE_TRANSFORM(ONE, FROM, TO, READ, WRITE)                         \
	do {                                                                 \
		vec between[TO][FROM], made[TO];                             \
		_Pragma("unroll")                                            \
		for (int c = 0; c < FROM; c++) {                             \
			vec column[FROM];                                    \
			_Pragma("unroll")                                    \
			for (int r = 0; r < FROM; r++)                       \
				column[r] = READ;                            \
			ONE(column, made);                                   \
			_Pragma("unroll")                                    \
			for (int r = 0; r < TO; r++)                         \
				between[r][c] = made[r];                     \
		}                                                            \
		_Pragma("unroll")                                            \
		for (int r = 0; r < TO; r++) {                               \
			ONE(between[r], made);                               \
			_Pragma("unroll")                                    \
			for (int c = 0; c < TO; c++)                         \
				WRITE;                                       \
		}                                                            \
	} while (0)

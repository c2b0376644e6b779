/* Squares of vectors of WIDTH floats, which are called vec; the WIDE of
 * generic.cl is the same in the cpu class, which alone has them. */

/*
 * Returns every second element of a and then of b, from the first or from the
 * second on. The elements are named one by one: in (vec)(a.even, b.even), other
 * parts of the vector are undefined for a while, which oclgrind reports.
 */
#if WIDTH == 16
#define EVENS(type, a, b)                                                   \
	(type)((a).s0, (a).s2, (a).s4, (a).s6, (a).s8, (a).sa,              \
	       (a).sc, (a).se, (b).s0, (b).s2, (b).s4, (b).s6,              \
	       (b).s8, (b).sa, (b).sc, (b).se)
#define ODDS(type, a, b)                                                    \
	(type)((a).s1, (a).s3, (a).s5, (a).s7, (a).s9, (a).sb,              \
	       (a).sd, (a).sf, (b).s1, (b).s3, (b).s5, (b).s7,              \
	       (b).s9, (b).sb, (b).sd, (b).sf)
#elif WIDTH == 8
#define EVENS(type, a, b)                                                   \
	(type)((a).s0, (a).s2, (a).s4, (a).s6, (b).s0, (b).s2,              \
	       (b).s4, (b).s6)
#define ODDS(type, a, b)                                                    \
	(type)((a).s1, (a).s3, (a).s5, (a).s7, (b).s1, (b).s3,              \
	       (b).s5, (b).s7)
#else
#define EVENS(type, a, b)                                                   \
	(type)((a).s0, (a).s2, (b).s0, (b).s2)
#define ODDS(type, a, b)                                                    \
	(type)((a).s1, (a).s3, (b).s1, (b).s3)
#endif

/*
 * Defines a function that turns rows of WIDTH vectors into columns: a perfect
 * shuffle backwards of all elements, as often as halving WIDTH gives 1.
 */
#define TRANSPOSE(name, type)                                               \
	static inline void name(type rows[WIDTH])                           \
	{                                                                   \
		_Pragma("unroll")                                           \
		for (int stage = 1; stage < WIDTH; stage *= 2) {            \
			type shuffled[WIDTH];                               \
			_Pragma("unroll")                                   \
			for (int i = 0; i < WIDTH / 2; i++) {               \
				const type a = rows[2 * i];                 \
				const type b = rows[2 * i + 1];             \
				shuffled[i] = EVENS(type, a, b);            \
				shuffled[i + WIDTH / 2] = ODDS(type, a, b); \
			}                                                   \
			_Pragma("unroll")                                   \
			for (int i = 0; i < WIDTH; i++)                     \
				rows[i] = shuffled[i];                      \
		}                                                           \
	}
TRANSPOSE(vecs_transpose, vec)

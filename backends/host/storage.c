#include "backends/host/storage.h"

#include <math.h>
#include <string.h>

/* A format's numbers x are multiples of e / steps, with e = 2^floor(log2 |x|)
 * or least, whichever is larger. */
struct format {
	double least, steps, most;
};

static const struct format fp16 = { 0x1p-14, 0x1p10, 65504 };
static const struct format bf16 = { 0x1p-126, 0x1p7, 0x1.fep127 };

static const struct format *format_of(enum precision precision)
{
	return precision == PRECISION_FP16	   ? &fp16 :
	       precision == PRECISION_BF16_STORAGE ? &bf16 :
						     NULL;
}

/* bits of a double; all set = not finite */
#define EXPONENT 0x7ff0000000000000u

/* Rounds x by adding a power of 2 whose neighbours are multiples of e / steps;
 * the factor 1.5 keeps the sum in that range for negative x, too. */
static double rounded(const struct format *format, double x)
{
	uint64_t bits;
	double power, nearest;

	memcpy(&bits, &x, sizeof(bits));
	bits &= EXPONENT;
	memcpy(&power, &bits, sizeof(power));
	power = power < format->least ? format->least : power;
	power *= 1.5 * 0x1p52 / format->steps;
	nearest = x + power - power;
	nearest = fabs(nearest) > format->most ? copysign(INFINITY, x) :
						 nearest;
	return bits == EXPONENT ? x : nearest;
}

void storage_round(enum precision precision, float *values, size_t count)
{
	const struct format *format = format_of(precision);

	for (size_t i = 0; format && i < count; i++)
		values[i] = (float)rounded(format, values[i]);
}

void storage_round_double(enum precision precision, double *values,
			  size_t count)
{
	const struct format *format = format_of(precision);

	for (size_t i = 0; format && i < count; i++)
		values[i] = rounded(format, values[i]);
}

static int is_product(const struct layer *layer)
{
	return layer->kind == LAYER_CONV || layer->kind == LAYER_LINEAR;
}

static int gives_format(const struct storage *storage, const struct node *node)
{
	return is_product(node->layer) ||
	       (storage_rounds(storage, node->source) &&
		(node->layer->kind != LAYER_ADD ||
		 storage_rounds(storage, node->other)));
}

void storage_resolve(struct storage *storage, const struct graph *graph,
		     enum precision precision)
{
	const int all = precision == PRECISION_BF16_STORAGE;

	*storage = (struct storage){ precision, (unsigned char)all, { 0 } };
	memset(storage->values, all, sizeof(storage->values));
	if (precision != PRECISION_FP16)
		return;
	for (int i = 0; i < graph->count; i++) {
		const struct node *node = &graph->nodes[i];

		if (!is_product(node->layer))
			continue;
		if (node->source == MODEL_IMAGES)
			storage->images = 1;
		else
			storage->values[node->source] = 1;
	}
	for (int i = 0; i < graph->count; i++)
		storage->values[i] |= (unsigned char)gives_format(
			storage, &graph->nodes[i]);
}

int storage_rounds_layer(enum precision precision, const struct layer *layer)
{
	return precision == PRECISION_BF16_STORAGE ||
	       (precision == PRECISION_FP16 && is_product(layer));
}

int storage_rounds_vectors(enum precision precision)
{
	return precision == PRECISION_BF16_STORAGE;
}

#include "bench/data/weights/safetensors_value.h"

#include <math.h>
#include <string.h>

static uint64_t little_endian(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

static float float_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* IEEE 754's half: 1 bit of sign, 5 of exponent, 10 of fraction. */
static float float_of_half(uint32_t bits)
{
	const uint32_t sign = (bits & 0x8000) << 16, rest = bits & 0x7fff;
	const float small = (float)rest * 0x1p-24f;

	if (rest < 0x400) /* subnormal, or zero */
		return sign ? -small : small;
	if (rest >= 0x7c00) /* infinite, or not a number */
		return float_of_bits(sign | 0x7f800000 |
				     (rest & 0x3ff) << 13);
	return float_of_bits(sign | ((rest << 13) + ((127 - 15) << 23)));
}

static double double_of_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Values beyond a float become infinite. */
static float float_of_double(uint64_t bits)
{
	const double value = double_of_bits(bits);

	if (isfinite(value) && fabs(value) >= 0x1.ffffffp127)
		return value < 0 ? -INFINITY : INFINITY;
	return (float)value;
}

/* 4 bits of exponent, 3 of fraction; nothing is infinite. */
static float float_of_e4m3(uint32_t bits)
{
	const int exponent = bits >> 3 & 15, fraction = bits & 7;
	const float value = exponent == 15 && fraction == 7 ? NAN :
			    ldexpf((float)(exponent ? 8 + fraction : fraction),
				   (exponent ? exponent : 1) - 10);

	return bits & 0x80 ? -value : value;
}

/* A whole number in two's complement. */
static uint64_t to_whole(enum safetensors_type type, const uint8_t *bytes)
{
	const uint64_t value = little_endian(bytes,
					     safetensors_type_size(type));

	switch (type) {
	case SAFETENSORS_BOOL:
		return value != 0;
	case SAFETENSORS_I8:
		return (uint64_t)(int8_t)value;
	case SAFETENSORS_I16:
		return (uint64_t)(int16_t)value;
	case SAFETENSORS_I32:
		return (uint64_t)(int32_t)value;
	default:
		return value;
	}
}

float safetensor_float(enum safetensors_type type, const uint8_t *bytes)
{
	switch (type) {
	case SAFETENSORS_F32:
		return float_of_bits((uint32_t)little_endian(bytes, 4));
	case SAFETENSORS_F16:
		return float_of_half((uint32_t)little_endian(bytes, 2));
	case SAFETENSORS_BF16:
		return float_of_bits((uint32_t)little_endian(bytes, 2) << 16);
	case SAFETENSORS_F64:
		return float_of_double(little_endian(bytes, 8));
	case SAFETENSORS_F8_E4M3:
		return float_of_e4m3(*bytes);
	case SAFETENSORS_F8_E5M2: /* a half without its lower byte */
		return float_of_half((uint32_t)*bytes << 8);
	case SAFETENSORS_U64:
		return (float)to_whole(type, bytes);
	default:
		return (float)(int64_t)to_whole(type, bytes);
	}
}

uint64_t safetensor_counter(enum safetensors_type type, const uint8_t *bytes)
{
	double value;

	if (type >= SAFETENSORS_BOOL)
		return to_whole(type, bytes);
	value = safetensor_float(type, bytes);
	if (type == SAFETENSORS_F64)
		value = double_of_bits(little_endian(bytes, 8));
	return value > -0x1p63 && value < 0x1p63 ? (uint64_t)(int64_t)value :
						   (uint64_t)INT64_MIN;
}

#include "bench/record/observation.h"

#include <string.h>

#define ROW struct observation
static const struct column columns[] = {
	OBSERVATION_COLUMNS(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)
};

const struct row_kind observation_rows = ROW_KIND("bench/1", columns);

int observation_is_modelled(const struct observation *row)
{
	return strcmp(row->clock, "model") == 0;
}

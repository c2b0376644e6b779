/* Plug-ins of others include this name. */
#include "backends/parallel/plugin.h"

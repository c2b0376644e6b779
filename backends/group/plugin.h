/* Former name of the header, included by plug-ins outside this tree. */
#include "backends/parallel/plugin.h"

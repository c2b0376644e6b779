#include "bench/system/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t received;

void interrupt_reset(void)
{
	/* Ignored, it would let our children end without a status. */
	signal(SIGCHLD, SIG_DFL);
}

static void note(int number)
{
	received = number;
}

void interrupt_install(int patient)
{
	/* Without patience the next signal has its usual effect. */
	struct sigaction action = { .sa_handler = note,
				    .sa_flags = SA_RESTART };

	if (!patient)
		action.sa_flags |= (int)SA_RESETHAND;
	sigemptyset(&action.sa_mask);
	if (patient || !received) {
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
		sigaction(SIGHUP, &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
}

int interrupt_signal(void)
{
	return received;
}

void interrupt_adopt(int number)
{
	if (number)
		received = number;
}

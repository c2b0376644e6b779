/* What is taken out of the words of mpirun and its ranks, and what is passed
 * on. */
#include "bench/launch/launcher_log.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/cmocka.h"

#define RULE "----------------------------------------" \
	     "----------------------------------------\n"
#define DEATH RULE \
	"mpirun noticed that process rank 2 with PID 71 on node b exited on\n" \
	"signal 9 (Killed).\n" RULE
#define LOST_HOST RULE \
	"ORTE has lost communication with a remote daemon.\n\n" \
	"  HNP daemon   : [[1,0],0] on node a\n" \
	"  Remote daemon: [[1,0],1] on node b\n\n" \
	"This is usually due to either a failure of the network.\n" RULE
#define NO_START RULE \
	"ORTE was unable to reliably start one or more daemons.\n" RULE
#define ADVICE RULE "There are not   enough slots\n available.\n" RULE
#define ABORT RULE "MPI_ABORT was invoked on rank 1 in communicator\n" RULE
#define HUNG_UP RULE \
	"An MPI communication peer process has unexpectedly disconnected.\n" \
	"This usually indicates a failure in the peer process.\n\n" \
	"  Local host: a\n  Local PID:  71\n  Peer host:  b\n" RULE
#define RESET "[a][[825,1],0][../../opal/mca/btl/tcp/btl_tcp_frag.c:135:" \
	"mca_btl_tcp_frag_send] mca_btl_tcp_frag_send: writev failed: " \
	"Connection reset by peer (104)\n"
#define FATAL "[a:06607] ../../ompi/mca/pml/ob1/pml_ob1_sendreq.c:317 FATAL\n"
#define TO_ANOTHER " on host a lost its connection to another core, which " \
	"has ended, or the link is down"
#define ECHO RULE "Primary job terminated with a non-zero exit code.\n" RULE

/* More than are kept, and what is. */
#define NAMES " core 22 on host a-far-one, core 23 on host a-far-one, " \
	"core 24 on host a-far-one, core 25 on host a-far-one, core 26 on " \
	"host a-far-one, core 27 on host a-far-one"
#define NAMES_CUT " core 22 on host a-far-one, core 23 on host a-far-one, " \
	"core 24 on host a-far-one, core 25 on host a-far-one, core 26 on " \
	"host a-far-on"

struct case_of_log {
	const char *text, *lost, *said, *waits, *passed;
};

static const struct case_of_log cases[] = {
	{ "", "", "", "", "" },
	{ "a word\nand one more\n", "", "", "", "a word\nand one more\n" },
	{ "no end", "", "", "", "no end\n" },
	{ DEATH "x\n", "core 2 on host b was ended by signal 9 (Killed)", "",
	  "", "x\n" },
	{ RULE "mpirun noticed that process rank 0 with PID 7 on node a exited "
	  "on signal 34.\n" RULE, "core 0 on host a was ended by signal 34",
	  "", "", "" },
	{ LOST_HOST DEATH,
	  "host b does not answer any more, nor do its cores, 2 to 3: it has "
	  "ended, or its link is down", "", "", "" },
	{ NO_START,
	  "orted is lost on one of the hosts a:2,b:2: it could not be started "
	  "there (package openmpi-bin), has ended, or the link is down", "", "",
	  "" },
	{ ADVICE ECHO, "", "mpirun: There are not enough slots available.", "",
	  "" },
	{ RULE "mpirun has detected an attempt to run as root.\n\nRunning as\n"
	  "root is *strongly* discouraged.\n" RULE, "",
	  "mpirun refuses to run as root: use another user, or set "
	  "OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "",
	  "" },
	{ ECHO, "", "", "", "" },
	{ RULE "cut off", "", "mpirun: cut off", "", "" },
	{ "bench: core 1: no memory\nbench: core 2: no disk\n", "",
	  "core 1: no memory", "", "bench: core 2: no disk\n" },
	{ ABORT "bench: core 1: MPI_Test: no\n", "", "core 1: MPI_Test: no",
	  "", "" },
	{ ADVICE "bench: core 1: no room\nbench: core 0: no room\n", "",
	  "core 1: no room", "", "bench: core 0: no room\n" },
	{ "bench: core 0: waits for core 2 on host b\n", "", "",
	  "core 0: waits for core 2 on host b", "" },
	{ "bench: core 0: waits for core 2 on host b", "", "",
	  "core 0: waits for core 2 on host b", "" },
	{ "bench: core 0: waits for core 2 on host b\n"
	  "bench: core 1: waits for core 0 on host a, core 2 on host b\n", "",
	  "", "core 0: waits for core 2 on host b", "" },
	{ "bench: core 1: waits for core 0 on host a, core 2 on host b\n"
	  "bench: core 0: waits for core 2 on host b\n", "", "",
	  "core 0: waits for core 2 on host b", "" },
	{ "bench: core 1: waits for" NAMES ", core 30 on host a-far-one\n"
	  "bench: core 0: waits for" NAMES "\n", "", "",
	  "core 0: waits for" NAMES_CUT, "" },
	{ "mpirun: Forwarding signal 12 to job\n", "", "", "", "" },
	{ LAUNCHER_LOG_MET "\n", "", "", "", "" },
	{ "half a line" LAUNCHER_LOG_MET "\nand one more\n", "", "", "",
	  "and one more\n" },
	{ RULE "There are\n" LAUNCHER_LOG_MET "\nnot enough slots.\n" RULE, "",
	  "mpirun: There are not enough slots.", "", "" },
};

/* Transports that lose their connection, before or after a death. */
static const struct {
	struct case_of_log log;
	const char *reset;
} resets[] = {
	{ { RESET FATAL "x\n", "", "", "", "x\n" }, "core 0" TO_ANOTHER },
	{ { FATAL RESET ECHO, "", "", "", "" }, "a core" TO_ANOTHER },
	{ { RESET HUNG_UP FATAL, "", "", "", "" },
	  "a core on host a lost its connection to host b: a core there has "
	  "ended, or the link is down" },
	{ { RESET DEATH, "core 2 on host b was ended by signal 9 (Killed)", "",
	    "", "" }, "core 0" TO_ANOTHER },
	{ { DEATH HUNG_UP, "core 2 on host b was ended by signal 9 (Killed)",
	    "", "", "" }, "" },
	{ { RULE "peer process has unexpectedly disconnected\n" RULE, "", "",
	    "", "" }, "" },
	{ { "[a:06607] a line that is FATAL\n", "", "", "",
	    "[a:06607] a line that is FATAL\n" }, "" },
};

/* In pieces of that many bytes. */
static void check_case(const struct case_of_log *one, const char *reset,
		       size_t piece)
{
	struct launcher_log log = { .hosts = "a:2,b:2", .cores = 4 };
	const int file = memfd_create("passed", 0);
	const size_t length = strlen(one->text);
	char passed[200];
	ssize_t count;

	assert_true(file >= 0);
	for (size_t at = 0; at < length; at += piece)
		launcher_log_feed(&log, one->text + at,
				  length - at < piece ? length - at : piece,
				  file);
	launcher_log_end(&log, file);
	assert_int_equal(log.met, strstr(one->text, LAUNCHER_LOG_MET) != NULL);
	assert_string_equal(log.lost, one->lost);
	assert_string_equal(log.reset, reset);
	assert_string_equal(log.said, one->said);
	assert_string_equal(log.waits, one->waits);
	count = pread(file, passed, sizeof(passed) - 1, 0);
	assert_true(count >= 0);
	passed[count] = '\0';
	assert_string_equal(passed, one->passed);
	close(file);
}

static void sentences_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_case(&cases[i], "", 1);
		check_case(&cases[i], "", 7);
		check_case(&cases[i], "", 4096);
	}
}

static void reset_connections_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(resets) / sizeof(resets[0]); i++)
		check_case(&resets[i].log, resets[i].reset, 4096);
}

/* Whatever mpirun prints without end, a line is no longer than its room. */
static void a_long_line_is_passed_on_in_pieces(void **state)
{
	const int file = memfd_create("passed", 0);
	struct launcher_log log = { .cores = 4 };
	char text[5000], passed[6000];
	ssize_t count;
	int letters = 0;

	(void)state;
	memset(text, 'x', sizeof(text));
	launcher_log_feed(&log, text, sizeof(text), file);
	launcher_log_end(&log, file);
	count = pread(file, passed, sizeof(passed), 0);
	for (ssize_t i = 0; i < count; i++)
		letters += passed[i] == 'x';
	assert_int_equal(letters, sizeof(text));
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences_are_found),
		cmocka_unit_test(reset_connections_are_found),
		cmocka_unit_test(a_long_line_is_passed_on_in_pieces),
	};

	return cmocka_run_group_tests_name("launcher log", tests, NULL, NULL);
}

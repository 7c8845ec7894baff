/* /proc/sys/vm/drop_caches: who may write it, and what it takes. 4 is the one good value that drops
 * nothing on Linux. */
/* needs: root */
#include "guest.h"

#define FILE_ "/proc/sys/vm/drop_caches"

static void say(const char *label, const char *text, size_t n)
{
	int fd = open(FILE_, O_WRONLY);
	ssize_t r;

	errno = 0;
	r = write(fd, text, n);
	printf("%s: %zd %s\n", label, r, ename(errno));
	close(fd);
}
#define SAY(text) say(#text, text, sizeof(text) - 1)

int main(void)
{
	struct stat st;
	char big[64];
	pid_t pid;

	CHECK(stat(FILE_, &st) == 0);
	printf("mode %o owner %u size %ld\n", st.st_mode, st.st_uid, (long)st.st_size);
	/* The bits decide, for root too. */
	SHOW(open(FILE_, O_RDONLY));
	SHOW(open(FILE_, O_RDWR));
	SHOW(access(FILE_, R_OK));
	SHOW(access(FILE_, W_OK));
	SHOW(access(FILE_, X_OK));
	SHOW(access("/proc/sys/kernel/ostype", W_OK));
	SHOW(open("/proc/sys/kernel/ostype", O_WRONLY));
	SHOW(chmod(FILE_, 0600));

	SAY("4");
	SAY("4\n");
	SAY(" \t\n4\n");
	SAY("\v4");
	SAY("4\v");
	SAY("0x4");
	SAY("04");
	SAY("0x4 ");
	SAY("0x");
	SAY("0b100");
	SAY("4 4");
	SAY("4 x");
	SAY("4\n\n");
	SAY("4\0");
	SAY("4 \0");
	SAY("00000000000000000004");
	SAY("000000000000000000004");
	SAY("4x");
	SAY("x");
	SAY("+4");
	SAY("- 4");
	SAY("-4");
	SAY("-");
	SAY("0");
	SAY("1024"); /* some kernels know more than Linux's 4 */
	SAY("99999999999999999999");
	SAY("4294967300");
	SAY("");
	SAY(" ");
	SAY("\n");
	SHOW(truncate(FILE_, 0));
	memset(big, ' ', sizeof(big));
	big[sizeof(big) - 1] = '4';
	say("blanks and 4", big, sizeof(big));

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		SHOW(setresuid(65534, 65534, 65534));
		SHOW(open(FILE_, O_WRONLY));
		SHOW(open(FILE_, O_RDONLY));
		SHOW(access(FILE_, W_OK));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

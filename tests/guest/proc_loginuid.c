/* /proc/self/loginuid: written by pam_loginuid, inherited, kept by exec, and not changed by just
 * anybody. */
/* needs: root */
#include "guest.h"
#include <pthread.h>

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	printf("write of %zu bytes: %s\n", strlen(text),
	       n < 0			    ? ename(errno)
	       : n == (ssize_t)strlen(text) ? "ok"
					    : "short");
	close(fd);
}

static unsigned session(void)
{
	return (unsigned)strtoul(get_file("/proc/self/sessionid"), NULL, 10);
}

static void *thread(void *arg)
{
	(void)arg;
	/* Another thread's is not to be written; its own is. */
	put("/proc/self/loginuid", "77");
	printf("thread: %s\n", get_file("/proc/thread-self/loginuid"));
	put("/proc/thread-self/loginuid", "78");
	printf("thread: %s\n", get_file("/proc/thread-self/loginuid"));
	printf("process: %s\n", get_file("/proc/self/loginuid"));
	return NULL;
}

static void changes(void)
{
	static const char *const texts[] = { "1000",	    "1001\n",	  "+5", "x",
					     "12x",	    " 5",	  "5 ", "-1",
					     "99999999999", "4294967296", "0",	"4294967295" };
	unsigned before, after;

	printf("%s %s\n", get_file("/proc/self/loginuid"),
	       session() == ~0u ? "no session" : "session");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		put("/proc/self/loginuid", texts[i]);
		printf("%s: %s %s\n", texts[i], get_file("/proc/self/loginuid"),
		       session() == ~0u ? "no session" : "session");
	}
	put("/proc/self/loginuid", "4");
	before = session();
	put("/proc/self/loginuid", "4");
	after = session();
	CHECK(after > before && after != ~0u);
	SHOW(access("/proc/self/sessionid", W_OK));
	int fd = open("/proc/self/loginuid", O_RDWR);
	pid_t pid = xfork();
	if (pid == 0) {
		printf("child: %s\n", get_file("/proc/self/loginuid"));
		CHECK(session() == after);
		SHOW(write(fd, "5", 1)); /* the parent's */
		fflush(stdout);
		execl("/bin/sh", "sh", "-c",
		      "cat /proc/self/loginuid; echo; echo 6 >/proc/self/loginuid; cat "
		      "/proc/self/loginuid; echo",
		      NULL);
	}
	show_status("child", xwait(pid));
	printf("parent: %s\n", get_file("/proc/self/loginuid"));
	struct stat st;
	stat("/proc/self/loginuid", &st);
	printf("mode %o\n", st.st_mode);
	pthread_t th;
	pthread_create(&th, NULL, thread, NULL);
	pthread_join(th, NULL);
	drop_to_user();
	put("/proc/self/loginuid", "1000");
	printf("user: %s\n", get_file("/proc/self/loginuid"));
}

/* Unset, it is anybody's to set, once. */
static void as_user(void)
{
	drop_to_user();
	put("/proc/self/loginuid", "1000");
	put("/proc/self/loginuid", "1001");
	put("/proc/self/loginuid", "4294967295");
	printf("user: %s\n", get_file("/proc/self/loginuid"));
}

int main(void)
{
	put("/proc/self/loginuid", "4294967295");
	show_status("root", in_child(changes));
	show_status("user", in_child(as_user));
	return 0;
}

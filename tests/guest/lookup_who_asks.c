/*
 * The same path, asked again and again from the same place in the program, while it is the asker
 * that changes: its working directory, root and ids, alone, with threads, in a vfork child.
 */
/* needs: root */
#include "guest.h"
#include <pthread.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>

static long size_of(const char *path)
{
	struct stat st;
	long r = -1;

	for (int i = 0; i < 5; i++)
		r = stat(path, &st) ? -errno : st.st_size;
	return r;
}

static void directories(void)
{
	int one = open("one", O_RDONLY), wrong = 0;

	for (int i = 0; i < 10; i++) {
		chdir("one");
		wrong += size_of("f") != 1;
		chdir("../two");
		wrong += size_of("f") != 2 || size_of("../one/f") != 1;
		fchdir(one);
		wrong += size_of("f") != 1;
		chdir("..");
		wrong += size_of("f") != -ENOENT;
	}
	printf("directories: %d wrong\n", wrong);
	chdir("one");
	rename("../one", "../uno");
	CHECK(size_of("f") == 1 && size_of("../uno/f") == 1 && size_of("../one/f") == -ENOENT);
	rename("../uno", "../two/one");
	CHECK(size_of("f") == 1 && size_of("../f") == 2);
	rename("../../two/one", "../../one");
	CHECK(size_of("f") == 1 && size_of("../f") == -ENOENT);
	chdir("..");
	close(one);
}

static void forks(void)
{
	CHECK(size_of("f") == -ENOENT);
	pid_t pid = xfork();
	if (pid == 0) {
		chdir("two");
		_exit(size_of("f") == 2 ? 0 : 1);
	}
	show_status("fork", xwait(pid));
	CHECK(size_of("f") == -ENOENT);
	for (volatile int i = 0; i < 5; i++) {
		pid = vfork();
		if (pid == 0) {
			chdir("two");
			_exit(size_of("f") == 2 ? 0 : 1);
		}
		if (xwait(pid) || size_of("f") != -ENOENT)
			printf("vfork: wrong\n");
	}
	for (volatile int i = 0; i < 5; i++) {
		pid = vfork();
		if (pid == 0) {
			chdir("two");
			execl("/bin/sh", "sh", "-c", "test -f f", NULL);
			_exit(9);
		}
		if (xwait(pid) || size_of("f") != -ENOENT)
			printf("vfork and exec: wrong\n");
	}
}

static volatile int phase;
static long seen[8];
static void await(int p)
{
	while (__atomic_load_n(&phase, __ATOMIC_SEQ_CST) < p)
		sched_yield();
}
static void go(int p)
{
	__atomic_store_n(&phase, p, __ATOMIC_SEQ_CST);
}

static void *thread_looks(void *arg)
{
	(void)arg;
	for (int i = 0; i < 4; i++) {
		seen[i] = size_of("f");
		go(2 * i + 1);
		await(2 * i + 2);
	}
	return NULL;
}

static void threads(void)
{
	static const char *const to[] = { "one", "../two", "..", "one" };
	pthread_t t;

	pthread_create(&t, NULL, thread_looks, NULL);
	for (int i = 0; i < 4; i++) {
		await(2 * i + 1);
		chdir(to[i]);
		go(2 * i + 2);
	}
	pthread_join(t, NULL);
	chdir("..");
	printf("a thread sees %ld %ld %ld %ld\n", seen[0], seen[1], seen[2], seen[3]);
}

/* Without CLONE_FS threads have a directory each; ids of the file system are a thread's own
 * anyway. */
static void *thread_fsuid(void *arg)
{
	(void)arg;
	CHECK(size_of("closed/f") == 3);
	go(1);
	await(2);
	CHECK(size_of("closed/f") == 3);
	return NULL;
}

static void fsuids(void)
{
	pthread_t t;

	phase = 0;
	pthread_create(&t, NULL, thread_fsuid, NULL);
	await(1);
	setfsuid(1000);
	CHECK(size_of("closed/f") == -EACCES);
	go(2);
	pthread_join(t, NULL);
	CHECK(size_of("closed/f") == -EACCES);
	setfsuid(0);
	CHECK(size_of("closed/f") == 3);
}

static void users(void)
{
	struct stat st;

	CHECK(size_of("closed/f") == 3);
	CHECK(access("closed/f", R_OK) == 0);
	setegid(1000);
	seteuid(1000);
	CHECK(size_of("closed/f") == -EACCES);
	CHECK(geteuid() == 1000 && getuid() == 0 && getegid() == 1000 && getgid() == 0);
	/* access asks for the real ids */
	for (int i = 0; i < 5; i++)
		if (access("closed/f", R_OK))
			printf("access: %s\n", ename(errno));
	for (int i = 0; i < 5; i++)
		if (faccessat(AT_FDCWD, "closed/f", R_OK, AT_EACCESS) == 0 || errno != EACCES)
			printf("faccessat: %s\n", ename(errno));
	seteuid(0);
	setegid(0);
	CHECK(size_of("closed/f") == 3);
	setresuid(1000, 1000, 0);
	for (int i = 0; i < 5; i++)
		if (access("closed/f", R_OK) == 0)
			printf("access is still open\n");
	CHECK(getuid() == 1000 && geteuid() == 1000);
	/* What is closed or opened while somebody looks. */
	CHECK(size_of("open/f") == 4);
	seteuid(0);
	chmod("open", 0700);
	seteuid(1000);
	CHECK(size_of("open/f") == -EACCES);
	seteuid(0);
	chown("open", 1000, 1000);
	seteuid(1000);
	CHECK(size_of("open/f") == 4);
	chmod("open", 0);
	CHECK(size_of("open/f") == -EACCES);
	chmod("open", 0755);
	CHECK(size_of("open/f") == 4);
	CHECK(access("open/f", W_OK) == -1);
	seteuid(0);
	chmod("open/f", 0666);
	CHECK(access("open/f", W_OK) == 0);
	chmod("open/f", 0644);
	CHECK(access("open/f", W_OK) == -1);
	setresuid(0, 0, 0);
	chown("open", 0, 0);
	CHECK(stat("open", &st) == 0 && st.st_uid == 0);
	/* Supplementary groups. */
	gid_t g = 4242;
	chown("grouped", 0, 4242);
	setgroups(0, NULL);
	setresuid(-1, 1000, 0);
	CHECK(size_of("grouped/f") == -EACCES);
	setresuid(-1, 0, 0);
	setgroups(1, &g);
	setresuid(-1, 1000, 0);
	CHECK(size_of("grouped/f") == 5);
	setresuid(-1, 0, 0);
	setgroups(0, NULL);
	setresuid(-1, 1000, 0);
	CHECK(size_of("grouped/f") == -EACCES);
	setresuid(0, 0, 0);
}

static void roots(void)
{
	CHECK(size_of("/f") == -ENOENT);
	CHECK(size_of("one/f") == 1);
	chroot("two");
	CHECK(size_of("/f") == 2);
	CHECK(size_of("one/f") == 1);
	chdir("/");
	CHECK(size_of("f") == 2 && size_of("/../f") == 2);
}

int main(void)
{
	static const char *const dirs[] = { "one", "two", "closed", "open", "grouped" };
	static const char *const text[] = { "1", "22", "333", "4444", "55555" };
	char path[32];

	chmod(".", 0755);
	for (int i = 0; i < 5; i++) {
		mkdir(dirs[i], 0755);
		snprintf(path, sizeof(path), "%s/f", dirs[i]);
		put_file(path, text[i]);
	}
	chmod("closed", 0700);
	chmod("grouped", 0750);
	directories();
	forks();
	threads();
	show_status("fsuids", in_child(fsuids));
	show_status("users", in_child(users));
	show_status("roots", in_child(roots));
	CHECK(size_of("closed/f") == 3);
	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/f", dirs[i]);
		unlink(path);
		rmdir(dirs[i]);
	}
	return 0;
}

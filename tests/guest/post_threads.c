/*
 * Threads that make calls all the time, at the same places in libc, while others come and go, the
 * process forks, a child of vfork makes calls of its own, and signals arrive. Every thread reads
 * what it wrote, every process has its own descriptors.
 */
#include "guest.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#define THREADS 5
#define ROUNDS 1500

static atomic_int bad, done, hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static void *worker(void *arg)
{
	char name[32], buf[64];
	long me = (long)arg;
	int fd, sv[2];

	snprintf(name, sizeof(name), "f%ld", me);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv);
	for (long i = 0; i < ROUNDS; i++) {
		long v = me << 32 | i, w = 0;
		struct stat st;

		bad += pwrite(fd, &v, sizeof(v), i % 50 * 8) != sizeof(v);
		bad += pread(fd, &w, sizeof(w), i % 50 * 8) != sizeof(w) || w != v;
		bad += lseek(fd, i % 50 * 8, SEEK_SET) != i % 50 * 8;
		bad += read(fd, &w, sizeof(w)) != sizeof(w) || w != v;
		bad += write(sv[0], &v, sizeof(v)) != sizeof(v);
		bad += recv(sv[1], buf, sizeof(buf), 0) != sizeof(v) || memcmp(buf, &v, sizeof(v));
		bad += recv(sv[1], buf, sizeof(buf), 0) != -1 || errno != EAGAIN;
		bad += fstat(fd, &st) || st.st_size != (i < 50 ? (i + 1) * 8 : 400);
	}
	close(fd);
	close(sv[0]);
	close(sv[1]);
	unlink(name);
	done++;
	return NULL;
}

static void *brief(void *arg)
{
	char c = 'x';
	int p[2];

	(void)arg;
	bad += pipe2(p, O_NONBLOCK) || write(p[1], &c, 1) != 1 || read(p[0], &c, 1) != 1;
	close(p[0]);
	close(p[1]);
	return NULL;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pthread_t th[THREADS], other;
	int fd = open("mine", O_RDWR | O_CREAT, 0600), lost = 0;
	char c;

	sigaction(SIGUSR1, &sa, NULL);
	(void)!write(fd, "abcdef", 6);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&th[i], NULL, worker, (void *)i);
	for (int r = 0; done < THREADS; r++) {
		pid_t pid;

		pthread_create(&other, NULL, brief, NULL);
		pthread_join(other, NULL);
		for (int i = 0; i < THREADS && r % 4 == 0; i++)
			pthread_kill(th[i], SIGUSR1);
		pid = r % 2 ? fork() : vfork();
		if (pid == 0) {
			/* Its own copy of the descriptors: what it closes is open for us. */
			for (int i = 0; i < 40; i++)
				if (pread(fd, &c, 1, 2) != 1 || c != 'c')
					_exit(1);
			close(fd);
			if (read(fd, &c, 1) != -1 || errno != EBADF)
				_exit(2);
			_exit(0);
		}
		lost += pid < 0 || xwait(pid) != 0;
		lost += pread(fd, &c, 1, 3) != 1 || c != 'd';
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(th[i], NULL);
	unlink("mine");
	CHECK(bad == 0);
	CHECK(lost == 0);
	CHECK(hits > 0);
	return 0;
}

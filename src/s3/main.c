/* viv-s3 SOCKET BUCKET PREFIX ENDPOINT ro|rw, started by viv for each S3 mount.
 *
 * The first thread takes requests from the socket and puts them into a queue of bounded length; a
 * few others work on them, each with a connection of its own, so that a look-up does not wait for
 * an upload. The kernel's end of the socket being closed ends the process, and so does viv's
 * end. */
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "s3/s3.h"

#define WORKERS 6
#define QUEUE 64

struct job {
	struct s3_request q;
	int fd;
};

static int sock;
static struct job queue[QUEUE];
static unsigned head, count, running;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, send_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;

void send_reply(struct s3_reply *r)
{
	pthread_mutex_lock(&send_lock);
	/* It blocks while the kernel is busy; when that is gone, nobody wants the answer. */
	(void)!send(sock, r, S3_REPLY_HEAD + r->nbytes, MSG_NOSIGNAL);
	pthread_mutex_unlock(&send_lock);
}

static void *work(void *arg)
{
	struct conn *c = conn_new();
	struct job *j = malloc(sizeof(*j));

	(void)arg;
	if (!c || !j)
		exit(1);
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!count)
			pthread_cond_wait(&more, &lock);
		*j = queue[head];
		head = (head + 1) % QUEUE;
		count--;
		running++;
		pthread_cond_signal(&room);
		pthread_mutex_unlock(&lock);
		request_do(c, &j->q, j->fd);
		if (j->fd >= 0)
			close(j->fd);
		pthread_mutex_lock(&lock);
		running--;
		pthread_cond_signal(&room);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* One request with at most one descriptor. False: the kernel is gone. */
static bool job_receive(struct job *j, bool *ret_ok)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec iov = { &j->q, sizeof(j->q) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);

	j->fd = -1;
	*ret_ok = false;
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		unsigned fds = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (unsigned i = 0; i < fds; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (j->fd >= 0)
				close(fd);
			else
				j->fd = fd;
		}
	}
	*ret_ok = !(m.msg_flags & MSG_TRUNC) && (size_t)n >= S3_REQUEST_HEAD &&
		  j->q.key_len <= S3_KEY_MAX && j->q.key2_len <= S3_KEY_MAX &&
		  (size_t)n == S3_REQUEST_HEAD + j->q.key_len + j->q.key2_len;
	return true;
}

static void serve(void)
{
	static struct job j;
	bool ok;

	while (job_receive(&j, &ok)) {
		if (!ok) {
			if (j.fd >= 0)
				close(j.fd);
			continue;
		}
		pthread_mutex_lock(&lock);
		while (count == QUEUE)
			pthread_cond_wait(&room, &lock);
		queue[(head + count) % QUEUE] = j;
		count++;
		pthread_cond_signal(&more);
		pthread_mutex_unlock(&lock);
	}
	/* What was asked for is done. */
	pthread_mutex_lock(&lock);
	while (count || running)
		pthread_cond_wait(&room, &lock);
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	struct s3_hello hello = { 0 };
	pthread_t t;

	if (argc != 6) {
		fprintf(stderr, "viv-s3: is started by viv\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	setsid(); /* Ctrl-C is for the cell */
	signal(SIGPIPE, SIG_IGN);
	sock = atoi(argv[1]);
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		hello.err = -EIO;
		snprintf(hello.text, sizeof(hello.text), "cannot start libcurl");
	} else if (!target_init(argv[2], argv[3], argv[4][0] ? argv[4] : NULL,
				!strcmp(argv[5], "ro"), hello.text, sizeof(hello.text))) {
		hello.err = -EINVAL;
	}
	if (send(sock, &hello, sizeof(hello), MSG_NOSIGNAL) < 0 || hello.err)
		return 1;
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&t, NULL, work, NULL))
			return 1;
	serve();
	return 0;
}

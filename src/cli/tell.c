/* See tell.h. */
#include "cli/tell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int view_open(struct view *v, const struct store *s, const struct cell_ref *ref,
	      enum disk_lock lock, struct err *e)
{
	struct place *p = &v->place;
	const struct disk_layer *l;
	int err;

	memset(v, 0, sizeof(*v));
	for (unsigned i = 0; i < ARRAY_LEN(p->volumes); i++)
		p->volumes[i] = (struct disk){ .dir = -1, .lock = -1 };
	p->store = *s;
	if (cell_open(s, ref->name, lock, &p->cell, &p->disk, e) < 0)
		return -1;
	p->kept = true;
	v->layer = p->disk.active;
	if (ref->snapshot[0]) {
		l = disk_snapshot_find(&p->disk, ref->snapshot);
		if (!l) {
			disk_close(&p->disk);
			return snapshot_missing(ref->name, ref->snapshot, e);
		}
		v->layer = l->n;
	}
	err = disk_chain_with(s->fd, &p->disk, v->layer, &p->chain);
	if (err) {
		disk_close(&p->disk);
		return err_set(e, ERR_FAILED, "the disk of cell '%s' cannot be read: %s", ref->name,
			       strerror(-err));
	}
	if (strcmp(p->cell.image, "host")) {
		if (image_open(s, p->cell.image, &p->image, e) < 0) {
			disk_chain_close(&p->chain);
			disk_close(&p->disk);
			return -1;
		}
		p->stored = true;
	}
	return 0;
}

void view_close(struct view *v)
{
	disk_chain_close(&v->place.chain);
	disk_close(&v->place.disk);
	if (v->place.stored)
		image_close(&v->place.image);
}

int teller_start(struct view *v, const struct run_tell *what, struct teller *t, struct err *e)
{
	static char name[] = "tell";
	static char *argv[] = { name, NULL };
	struct run_options o = { .tell = *what, .workdir = "/", .hostname = "cell", .argv = argv };
	int pipefd[2];

	/* It may get TERM, as everywhere else. */
	o.env = calloc(1, sizeof(*o.env));
	if (!o.env)
		return err_set(e, ERR_FAILED, "out of memory");
	if (pipe2(pipefd, O_CLOEXEC) < 0) {
		free(o.env);
		return err_set(e, ERR_FAILED, "no pipe: %s", strerror(errno));
	}
	fflush(NULL);
	t->pid = fork();
	if (t->pid != 0)
		free(o.env);
	if (t->pid < 0) {
		close(pipefd[0]);
		close(pipefd[1]);
		return err_set(e, ERR_FAILED, "cannot fork: %s", strerror(errno));
	}
	if (t->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pipefd[0]);
		o.tell.out = pipefd[1];
		_exit(run_cell(&o, &v->place));
	}
	close(pipefd[1]);
	t->fd = pipefd[0];
	return 0;
}

int teller_end(struct teller *t)
{
	int status;

	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	while (waitpid(t->pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_OWN;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_OWN;
}

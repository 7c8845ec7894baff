/* The fields of /proc/self/status that a program can check against what it knows of itself. */
#include "guest.h"
#include <pthread.h>

static const char *field(const char *name)
{
	static char line[512];
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':') {
			char *v = line + strlen(name) + 1;
			v[strcspn(v, "\n")] = '\0';
			fclose(f);
			return v + strspn(v, " \t");
		}
	if (f)
		fclose(f);
	return "(none)";
}

static pthread_barrier_t barrier;

static void *thread(void *arg)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return arg;
}

int main(void)
{
	pthread_t t[3];
	unsigned r, e, s;
	uid_t ru, eu, su;
	printf("Name %s\n", field("Name"));
	CHECK(atoi(field("Pid")) == getpid());
	CHECK(atoi(field("Tgid")) == getpid());
	CHECK(atoi(field("PPid")) == getppid());
	CHECK(atoi(field("TracerPid")) == 0);
	printf("State %c\n", field("State")[0]);
	getresuid(&ru, &eu, &su);
	CHECK(sscanf(field("Uid"), "%u %u %u", &r, &e, &s) == 3 && r == ru && e == eu && s == su);
	getresgid(&ru, &eu, &su);
	CHECK(sscanf(field("Gid"), "%u %u %u", &r, &e, &s) == 3 && r == ru && e == eu && s == su);
	printf("Threads %s\n", field("Threads"));
	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	pthread_barrier_wait(&barrier);
	printf("Threads %s\n", field("Threads"));
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	CHECK(atoi(field("VmRSS")) > 0 && atoi(field("VmSize")) >= atoi(field("VmRSS")));
	CHECK(strstr(field("VmSize"), " kB"));
	CHECK(atoi(field("FDSize")) >= 3);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR2, SIG_IGN);
	raise(SIGUSR1);
	printf("SigBlk %s\n", field("SigBlk"));
	CHECK(strtoull(field("SigIgn"), NULL, 16) & 1ull << (SIGUSR2 - 1));
	CHECK((strtoull(field("SigPnd"), NULL, 16) | strtoull(field("ShdPnd"), NULL, 16)) ==
	      1ull << (SIGUSR1 - 1));
	printf("Umask %s\n", field("Umask"));
	return 0;
}

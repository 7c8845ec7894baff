/* shutdown of a listener: a waiting accept ends, new connects are refused, it can listen again. */
#include "net.h"
#include <pthread.h>

static void *shut(void *arg)
{
	usleep(50000);
	shutdown(*(int *)arg, SHUT_RD);
	return NULL;
}

int main(void)
{
	int l = bound4(SOCK_STREAM);
	struct sockaddr_in a = loop4(port_of(l));
	pthread_t th;

	SHOW(shutdown(l, SHUT_WR));
	pthread_create(&th, NULL, shut, &l);
	SHOW(accept(l, NULL, NULL));
	pthread_join(th, NULL);
	SHOW(opt_get(l, SOL_SOCKET, SO_ACCEPTCONN));
	int c = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(listen(l, 1));
	a = loop4(port_of(l));
	SHOW(connect(c, SA(&a), sizeof(a)));
	int u = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un n = { .sun_family = AF_UNIX };
	SHOW(bind(u, SA(&n), sizeof(sa_family_t)));
	SHOW(listen(u, 1));
	pthread_create(&th, NULL, shut, &u);
	SHOW(accept(u, NULL, NULL));
	pthread_join(th, NULL);
	return 0;
}

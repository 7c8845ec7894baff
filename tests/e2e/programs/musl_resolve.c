/* Names by musl's resolver: for each argument the addresses of each family, or the error; of an
 * address, its name. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

static void names(const char *text, int family)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM }, *list, *a;
	int r = getaddrinfo(text, "80", &hints, &list);
	char host[NI_MAXHOST];

	printf("%s %d:", text, family == AF_INET ? 4 : 6);
	if (r) {
		printf(" %s\n", gai_strerror(r));
		return;
	}
	for (a = list; a; a = a->ai_next) {
		getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof(host), NULL, 0, NI_NUMERICHOST);
		printf(" %s", host);
		if (!getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof(host), NULL, 0, NI_NAMEREQD))
			printf(" (%s)", host);
	}
	printf("\n");
	freeaddrinfo(list);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		names(argv[i], AF_INET);
		names(argv[i], AF_INET6);
	}
	return 0;
}

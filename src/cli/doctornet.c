/* viv doctor: what cells with a network need of the host. Nothing is sent to another host. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "policy/address.h"

#define DNS_PORT 53
#define REFUSED_NS 50000000 /* a closed port of this host says so at once */

/* Is there a way to this server, and if it is on this host, does something listen? 0 or -errno. */
static int server_try(const struct ip *a)
{
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(DNS_PORT) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(DNS_PORT) };
	struct timespec moment = { .tv_nsec = REFUSED_NS };
	const char *what = ip_special(a, NULL);
	bool v4 = ip_is_v4(a);
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;
	char byte = 0;

	if (fd < 0)
		return -errno;
	memcpy(&four.sin_addr, a->b + 12, 4);
	memcpy(&six.sin6_addr, a->b, 16);
	if (connect(fd, v4 ? (struct sockaddr *)&four : (struct sockaddr *)&six,
		    v4 ? sizeof(four) : sizeof(six)) < 0)
		err = -errno;
	if (!err && what && !strcmp(what, "loopback")) {
		if (send(fd, &byte, 1, 0) < 0)
			err = -errno;
		nanosleep(&moment, NULL);
		if (!err && recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno != EAGAIN)
			err = -errno;
	}
	close(fd);
	return err;
}

void resolvers_check(struct finding *f)
{
	static const char remedy[] =
		"put 'nameserver ADDRESS' into /etc/resolv.conf, or give cells one with --dns";
	FILE *file = fopen("/etc/resolv.conf", "re");
	char line[512], addr[128], first[128] = "", bad[128] = "";
	unsigned n = 0;
	int err = 0;
	struct ip a;

	while (file && fgets(line, sizeof(line), file)) {
		int r;

		if (sscanf(line, " nameserver %127s", addr) != 1 || !ip_parse(addr, &a))
			continue;
		if (!n++)
			strcpy(first, addr);
		r = server_try(&a);
		if (r && !err) {
			err = r;
			strcpy(bad, addr);
		}
	}
	if (file)
		fclose(file);
	if (!n)
		found(f, WARN, remedy, "no name server: cells with a network cannot look up names");
	else if (err)
		found(f, WARN, remedy, "the name server %s cannot be reached: %s", bad,
		      strerror(-err));
	else if (n > 1)
		found(f, OK, "", "name servers: %s and %u more", first, n - 1);
	else
		found(f, OK, "", "name server: %s", first);
}

/* How many certificates are in it; -1: it cannot be read, by gates as well. */
static int certificates_count(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512];
	struct stat st;
	int n = 0;

	if (!file)
		return -1;
	/* A gate that root started has another uid. */
	if (fstat(fileno(file), &st) < 0 || (!geteuid() && !(st.st_mode & S_IROTH)))
		n = -1;
	while (n >= 0 && fgets(line, sizeof(line), file))
		n += !strncmp(line, "-----BEGIN CERTIFICATE-----", 27);
	fclose(file);
	return n;
}

void bundle_check(struct finding *f)
{
	/* As src/gate/tls.c looks for them. */
	static const char *const places[] = { "/etc/ssl/certs/ca-certificates.crt",
					      "/etc/pki/tls/certs/ca-bundle.crt",
					      "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem" };
	const char *path = getenv("SSL_CERT_FILE");
	int n = path ? certificates_count(path) : -1;

	for (unsigned i = 0; !path && n < 0 && i < ARRAY_LEN(places); i++) {
		n = certificates_count(places[i]);
		if (n >= 0)
			path = places[i];
	}
	if (n > 0)
		found(f, OK, "", "%d CA certificates in %.200s", n, path);
	else
		found(f, WARN,
		      "install the package ca-certificates, or set SSL_CERT_FILE to a file that "
		      "everybody may read",
		      "no CA certificates%s%.200s: cells cannot use rules about requests over TLS",
		      path ? " in " : "", path ? path : "");
}

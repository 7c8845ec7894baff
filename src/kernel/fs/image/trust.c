/* See trust.h. What an image has is anybody's, and only read as far as it must be.
 *
 * A keystore of Java ("JKS") is a magic number, a version, the number of its entries, the entries,
 * and a SHA-1 of a password, a phrase and all of it. For certificates this protects nothing, and
 * every Java has the same password, but tools check it. An entry is added before the digest. The
 * newer form, PKCS #12, is left alone. */
#include "kernel/fs/image/trust.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/sha1.h"
#include "kernel/platform/cell.h"

#define CA_DER_MAX 4096
#define JKS_MAGIC 0xfeedfeedu
#define JKS_HEAD 12
#define JKS_ENTRY_MORE 64 /* of an entry, without its certificate */

static size_t bundle_complete(char *buf, size_t len, size_t size)
{
	size_t n = strlen(cell.spec.ca);

	if (size < len || size - len < n + 1)
		return 0;
	if (len && buf[len - 1] != '\n')
		buf[len++] = '\n';
	memcpy(buf + len, cell.spec.ca, n);
	return len + n;
}

/* The CA's certificate in binary; 0: that does not work out. */
static size_t ca_der(uint8_t *to)
{
	char text[CA_DER_MAX];
	const char *p = strchr(cell.spec.ca, '\n');
	size_t n = 0;
	ssize_t len;

	for (; p && *p && *p != '-'; p++)
		if (*p != '\n') {
			if (n == sizeof(text))
				return 0;
			text[n++] = *p;
		}
	len = base64_decode(to, text, n);
	return len > 0 ? (size_t)len : 0;
}

static uint32_t be32_get(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static char *be_put(char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = bytes; i-- > 0; v >>= 8)
		p[i] = (char)v;
	return p + bytes;
}

static char *utf_put(char *p, const char *text)
{
	size_t n = strlen(text);

	p = be_put(p, n, 2);
	memcpy(p, text, n);
	return p + n;
}

static void jks_digest(const char *data, size_t n, uint8_t ret[SHA1_SIZE])
{
	static const char password[] = "changeit", phrase[] = "Mighty Aphrodite";
	struct sha1 s;

	sha1_init(&s);
	for (const char *c = password; *c; c++)
		sha1_add(&s, (char[]){ 0, *c }, 2);
	sha1_add(&s, phrase, sizeof(phrase) - 1);
	sha1_add(&s, data, n);
	sha1_end(&s, ret);
}

static size_t keystore_complete(char *buf, size_t len, size_t size)
{
	uint8_t der[CA_DER_MAX], digest[SHA1_SIZE];
	size_t n = ca_der(der);
	char *p;

	if (!n || len < JKS_HEAD + SHA1_SIZE || size < len || size - len < n + JKS_ENTRY_MORE ||
	    be32_get(buf) != JKS_MAGIC || be32_get(buf + 4) != 2 ||
	    be32_get(buf + 8) > INT32_MAX - 1)
		return 0;
	be_put(buf + 8, be32_get(buf + 8) + 1u, 4);
	p = be_put(buf + len - SHA1_SIZE, 2, 4); /* a certificate that is trusted */
	p = utf_put(p, "vivarium-cell-ca");
	p = be_put(p, (uint64_t)(cell.boot_real / 1000000), 8);
	p = utf_put(p, "X.509");
	p = be_put(p, n, 4);
	memcpy(p, der, n);
	p += n;
	jks_digest(buf, (size_t)(p - buf), digest);
	memcpy(p, digest, sizeof(digest));
	return (size_t)(p - buf) + sizeof(digest);
}

const struct trust_file trust_files[TRUST_KINDS] = {
	[TRUST_BUNDLE] = { "viv-bundle.pem",
			   { "etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine, Arch */
			     "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora */
			     "etc/pki/tls/certs/ca-bundle.crt", "etc/ssl/ca-bundle.pem", /* SUSE */
			     "etc/ssl/cert.pem" },
			   bundle_complete },
	[TRUST_KEYSTORE] = { "viv-cacerts",
			     { "etc/ssl/certs/java/cacerts", /* Debian */
			       "etc/pki/ca-trust/extracted/java/cacerts", /* Fedora */
			       "opt/java/openjdk/lib/security/cacerts", /* Temurin's images */
			       "usr/local/openjdk-17/lib/security/cacerts" },
			     keystore_complete },
};

size_t trust_room(void)
{
	return strlen(cell.spec.ca) + JKS_ENTRY_MORE;
}

int trust_make_bundle(char *buf, size_t size)
{
	return cell.spec.ca ? (int)bundle_complete(buf, 0, size) : -1;
}

int trust_make_keystore(char *buf, size_t size)
{
	if (!cell.spec.ca || size < JKS_HEAD + SHA1_SIZE)
		return -1;
	memset(buf, 0, JKS_HEAD + SHA1_SIZE);
	be_put(be_put(buf, JKS_MAGIC, 4), 2, 4);
	return (int)keystore_complete(buf, JKS_HEAD + SHA1_SIZE, size);
}

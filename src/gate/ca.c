/* See ca.h. */
#include "gate/ca.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/buf.h"
#include "policy/address.h"

#define DAY 86400L
#define CA_DAYS 3650L
#define LEAF_DAYS 30L /* a new one is made after half of them */
#define DER_MAX 4096
#define NAME_MAX_DNS 254

static X509 *ca_cert;
static EVP_PKEY *ca_key, *leaf_key;
static struct leaf {
	char name[NAME_MAX_DNS];
	time_t made;
	X509 *cert; /* NULL: free */
} leaves[CA_LEAVES];
static unsigned next_leaf;

static bool extension_add(X509 *c, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *x;
	bool ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, c, NULL, NULL, 0);
	x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = x && X509_add_ext(c, x, -1);
	X509_EXTENSION_free(x);
	return ok;
}

/* What all certificates have; the caller adds extensions and signs it. */
static X509 *cert_new(EVP_PKEY *key, const char *name, X509_NAME *issuer, long days)
{
	X509 *c = X509_new();
	uint64_t serial;
	X509_NAME *n;

	if (!c)
		return NULL;
	n = X509_get_subject_name(c);
	/* A common name has 64 bytes at most; a long name is among the alternative names only. */
	if (RAND_bytes((uint8_t *)&serial, sizeof(serial)) != 1 || !X509_set_version(c, 2) ||
	    !ASN1_INTEGER_set_uint64(X509_get_serialNumber(c), serial >> 1) ||
	    !X509_gmtime_adj(X509_getm_notBefore(c), -DAY) ||
	    !X509_gmtime_adj(X509_getm_notAfter(c), days * DAY) || !X509_set_pubkey(c, key) ||
	    !X509_NAME_add_entry_by_txt(n, "CN", MBSTRING_ASC,
					(const uint8_t *)(strlen(name) > 64 ? "host" : name), -1,
					-1, 0) ||
	    !X509_set_issuer_name(c, issuer ? issuer : n)) {
		X509_free(c);
		return NULL;
	}
	return c;
}

static bool base64_print(const uint8_t *p, int n, char after)
{
	char text[BASE64_SIZE(DER_MAX)];

	if (n <= 0 || n > DER_MAX)
		return false;
	base64_encode(text, p, (size_t)n);
	return fwrite(text, BASE64_SIZE((size_t)n), 1, stdout) == 1 && putchar(after) == after;
}

int ca_make(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *c = key ? cert_new(key, "Vivarium cell CA", NULL, CA_DAYS) : NULL;
	uint8_t *cert = NULL, *secret = NULL;
	int ncert, nsecret;

	if (!c || !extension_add(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
	    !extension_add(c, c, NID_key_usage, "critical,keyCertSign,cRLSign") ||
	    !extension_add(c, c, NID_subject_key_identifier, "hash") ||
	    !X509_sign(c, key, EVP_sha256()))
		return 1;
	ncert = i2d_X509(c, &cert);
	nsecret = i2d_PrivateKey(key, &secret);
	return base64_print(cert, ncert, ' ') && base64_print(secret, nsecret, '\n') &&
			       fflush(stdout) == 0
		       ? 0
		       : 1;
}

/* ---- in use ---- */

int ca_load(const char *cert, const char *key, struct err *e)
{
	uint8_t der[DER_MAX];
	const uint8_t *p = der;
	ssize_t n;

	if (ca_cert)
		return 0;
	if (strlen(cert) > sizeof(der) || strlen(key) > sizeof(der))
		return err_set(e, ERR_FAILED, "the cell's CA is too large");
	n = base64_decode(der, cert, strlen(cert));
	ca_cert = n > 0 ? d2i_X509(NULL, &p, n) : NULL;
	n = base64_decode(der, key, strlen(key));
	p = der;
	ca_key = n > 0 ? d2i_AutoPrivateKey(NULL, &p, n) : NULL;
	OPENSSL_cleanse(der, sizeof(der));
	leaf_key = EVP_EC_gen("P-256");
	if (ca_cert && ca_key && leaf_key && X509_check_private_key(ca_cert, ca_key) == 1)
		return 0;
	X509_free(ca_cert);
	ca_cert = NULL;
	return err_set(e, ERR_FAILED, "the cell's CA cannot be read");
}

bool ca_is_loaded(void)
{
	return ca_cert != NULL;
}

static X509 *leaf_make(const char *name)
{
	struct ip a;
	char san[NAME_MAX_DNS + 8];
	X509 *c = cert_new(leaf_key, name, X509_get_subject_name(ca_cert), LEAF_DAYS);

	/* Names are of letters, digits, '-', '_' and '.' (dns.c): none of them means anything in
	 * the value of an extension. */
	if (snprintf(san, sizeof(san), "%s:%s", ip_parse(name, &a) ? "IP" : "DNS", name) >=
		    (int)sizeof(san) ||
	    strpbrk(name, ",;@\n") || !c || !extension_add(c, ca_cert, NID_subject_alt_name, san) ||
	    !extension_add(c, ca_cert, NID_basic_constraints, "critical,CA:FALSE") ||
	    !extension_add(c, ca_cert, NID_key_usage, "critical,digitalSignature") ||
	    !extension_add(c, ca_cert, NID_ext_key_usage, "serverAuth") ||
	    !extension_add(c, ca_cert, NID_subject_key_identifier, "hash") ||
	    !extension_add(c, ca_cert, NID_authority_key_identifier, "keyid:always") ||
	    !X509_sign(c, ca_key, EVP_sha256())) {
		X509_free(c);
		return NULL;
	}
	return c;
}

int ca_use(SSL *ssl, const char *name, struct err *e)
{
	time_t now = time(NULL);
	struct leaf *l = NULL;

	for (unsigned i = 0; i < CA_LEAVES && !l; i++)
		if (leaves[i].cert && !strcmp(leaves[i].name, name))
			l = &leaves[i];
	if (!l)
		l = &leaves[next_leaf++ % CA_LEAVES];
	else if (now - l->made < LEAF_DAYS / 2 * DAY)
		goto use;
	X509_free(l->cert);
	l->cert = ca_cert && strlen(name) < sizeof(l->name) ? leaf_make(name) : NULL;
	if (!l->cert)
		return err_set(e, ERR_FAILED, "cannot make a certificate for %s", name);
	strcpy(l->name, name);
	l->made = now;
use:
	if (SSL_use_certificate(ssl, l->cert) != 1 || SSL_use_PrivateKey(ssl, leaf_key) != 1)
		return err_set(e, ERR_FAILED, "cannot use the certificate for %s", name);
	return 0;
}

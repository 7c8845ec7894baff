/* See key.h. */
#include "journal/key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/hash.h"

#define KEY_NAME "journal.key"
#define PLAIN_TEXT 64 /* digits of base 64 of an Ed25519 key in PKCS #8 */
#define NEXT_NAME ".journal.key.next"

static int openssl_failed(struct err *e, const char *what)
{
	char why[256];

	ERR_error_string_n(ERR_get_error(), why, sizeof(why));
	ERR_clear_error();
	return err_set(e, ERR_FAILED, "cannot %s the journals' key: %s", what, why);
}

static int public_fill(struct journal_key *k, struct err *e)
{
	uint8_t hash[JOURNAL_HASH];
	size_t n = sizeof(k->public);

	if (EVP_PKEY_get_raw_public_key(k->pkey, k->public, &n) != 1 || n != sizeof(k->public))
		return openssl_failed(e, "use");
	hash_bytes(k->public, sizeof(k->public), hash);
	memcpy(k->id, hash, sizeof(k->id));
	return 0;
}

/* As pem_write() writes it, which is read without the decoders of OpenSSL: they take longer to
 * start than sealing a small journal does. NULL: it has another form. */
static EVP_PKEY *pem_read_plain(int fd)
{
	static const char begin[] = "-----BEGIN PRIVATE KEY-----\n";
	static const uint8_t head[] = { 0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
					0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20 };
	uint8_t text[sizeof(begin) - 1 + PLAIN_TEXT], der[PLAIN_TEXT / 4 * 3];
	EVP_PKEY *key = NULL;

	if (pread(fd, text, sizeof(text), 0) == (ssize_t)sizeof(text) &&
	    !memcmp(text, begin, sizeof(begin) - 1) &&
	    EVP_DecodeBlock(der, text + sizeof(begin) - 1, PLAIN_TEXT) == (int)sizeof(der) &&
	    !memcmp(der, head, sizeof(head)))
		key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, der + sizeof(head),
						   sizeof(der) - sizeof(head));
	OPENSSL_cleanse(text, sizeof(text));
	OPENSSL_cleanse(der, sizeof(der));
	return key;
}

/* 0, or -1 with errno ENOENT or another error in e. */
static int key_read(struct journal_key *k, int journals, const char *name, struct err *e)
{
	int fd = openat(journals, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	FILE *f;

	if (fd < 0) {
		int err = errno;

		err_set(e, err == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			"cannot open the journals' key " KEY_NAME ": %s",
			err == ELOOP ? "it is a symbolic link" : strerror(err));
		return -1;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & 077) {
		close(fd);
		return err_set(e, ERR_DENIED,
			       "the journals' key " KEY_NAME
			       " is not a file that only you can read" REMEDY
			       "if others could read it, remove it: the next journal makes a "
			       "new one; else 'chmod 600' it");
	}
	k->pkey = pem_read_plain(fd);
	if (k->pkey) {
		close(fd);
		return public_fill(k, e);
	}
	f = fdopen(fd, "re");
	if (!f) {
		close(fd);
		return err_set(e, ERR_FAILED, "cannot read the journals' key: %s", strerror(errno));
	}
	k->pkey = PEM_read_PrivateKey(f, NULL, NULL, NULL);
	fclose(f);
	if (!k->pkey || !EVP_PKEY_is_a(k->pkey, "ED25519"))
		return err_set(e, ERR_FAILED,
			       "the journals' key " KEY_NAME " is not an Ed25519 key" REMEDY
			       "restore it from a backup, or remove it: blocks that are signed by "
			       "another key are reported by 'viv journal verify'");
	return public_fill(k, e);
}

static int pem_write(int fd, void *pkey)
{
	FILE *f = fdopen(fd, "we");
	int good;

	if (!f) {
		close(fd);
		return -1;
	}
	good = PEM_write_PrivateKey(f, pkey, NULL, NULL, 0, NULL, NULL) == 1 && !fflush(f) &&
	       !fsync(fd);
	return fclose(f) || !good ? -1 : 0;
}

/* Under another name first: whoever finds the key finds all of it. Of two that make one at the same
 * time, the first wins. */
static int key_make(int journals, const char *as, struct err *e)
{
	EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	char name[64];
	int fd, rc = -1, err;

	if (!pkey)
		return openssl_failed(e, "make");
	snprintf(name, sizeof(name), "." KEY_NAME ".%d", (int)getpid());
	unlinkat(journals, name, 0); /* of a process of that number that was killed */
	fd = openat(journals, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		err_set(e, ERR_FAILED, "cannot make the journals' key: %s", strerror(errno));
		goto out;
	}
	if (pem_write(fd, pkey) < 0) {
		err_set(e, ERR_FAILED, "cannot write the journals' key: %s", strerror(errno));
		goto out_unlink;
	}
	rc = linkat(journals, name, journals, as, 0);
	err = errno;
	if (rc < 0 && err == EEXIST)
		rc = 0;
	if (rc < 0)
		err_set(e, ERR_FAILED, "cannot make the journals' key: %s", strerror(err));
	fsync(journals);
out_unlink:
	unlinkat(journals, name, 0);
out:
	EVP_PKEY_free(pkey);
	return rc;
}

/* The key of this name, which is made if there is none. */
static int key_made(struct journal_key *k, int journals, const char *name, struct err *e)
{
	memset(k, 0, sizeof(*k));
	if (key_make(journals, name, e) < 0)
		return -1;
	if (key_read(k, journals, name, e) < 0) {
		key_close(k);
		return -1;
	}
	return 0;
}

int key_open(struct journal_key *k, int journals, bool make, struct err *e)
{
	memset(k, 0, sizeof(*k));
	if (!key_read(k, journals, KEY_NAME, e))
		return 0;
	key_close(k);
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	if (make)
		return key_made(k, journals, KEY_NAME, e);
	err_remedy(e, "the first journal of a cell makes it; 'viv journal key' does so, too");
	return -1;
}

int key_next(struct journal_key *k, int journals, struct err *e)
{
	return key_made(k, journals, NEXT_NAME, e);
}

int key_take_place(int journals, struct err *e)
{
	if (renameat(journals, NEXT_NAME, journals, KEY_NAME) < 0 || fsync(journals) < 0)
		return err_set(e, ERR_FAILED, "cannot replace the journals' key: %s",
			       strerror(errno));
	return 0;
}

int key_public(struct journal_key *k, const uint8_t public[JOURNAL_PUBLIC], struct err *e)
{
	memset(k, 0, sizeof(*k));
	k->pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public, JOURNAL_PUBLIC);
	if (!k->pkey)
		return openssl_failed(e, "use");
	if (public_fill(k, e) < 0) {
		key_close(k);
		return -1;
	}
	return 0;
}

void key_close(struct journal_key *k)
{
	EVP_PKEY_free(k->pkey);
	k->pkey = NULL;
}

int key_sign_bytes(const struct journal_key *k, const void *data, size_t n,
		   uint8_t out[JOURNAL_SIGNATURE], struct err *e)
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	uint8_t hash[JOURNAL_HASH];
	size_t len = JOURNAL_SIGNATURE;
	bool good;

	hash_bytes(data, n, hash);
	good = c && EVP_DigestSignInit(c, NULL, NULL, NULL, k->pkey) == 1 &&
	       EVP_DigestSign(c, out, &len, hash, sizeof(hash)) == 1 && len == JOURNAL_SIGNATURE;
	EVP_MD_CTX_free(c);
	return good ? 0 : openssl_failed(e, "sign with");
}

bool key_verify_bytes(const struct journal_key *k, const void *data, size_t n,
		      const uint8_t signature[JOURNAL_SIGNATURE])
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	uint8_t hash[JOURNAL_HASH];
	bool good;

	hash_bytes(data, n, hash);
	good = c && EVP_DigestVerifyInit(c, NULL, NULL, NULL, k->pkey) == 1 &&
	       EVP_DigestVerify(c, signature, JOURNAL_SIGNATURE, hash, sizeof(hash)) == 1;
	EVP_MD_CTX_free(c);
	ERR_clear_error();
	return good;
}

int key_sign(const struct journal_key *k, struct journal_block *b, struct err *e)
{
	memcpy(b->key, k->id, sizeof(b->key));
	return key_sign_bytes(k, &b->head, sizeof(b->head), b->signature, e);
}

bool key_verify(const struct journal_key *k, const struct journal_block *b)
{
	return key_verify_bytes(k, &b->head, sizeof(b->head), b->signature);
}

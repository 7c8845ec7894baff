/* See key.h. */
#include "journal/key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/hash.h"

#define KEY_NAME "journal.key"

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

/* 0, or -1 with errno ENOENT or another error in e. */
static int key_read(struct journal_key *k, int journals, struct err *e)
{
	int fd = openat(journals, KEY_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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
static int key_make(int journals, struct err *e)
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
	rc = linkat(journals, name, journals, KEY_NAME, 0);
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

int key_open(struct journal_key *k, int journals, bool make, struct err *e)
{
	memset(k, 0, sizeof(*k));
	if (!key_read(k, journals, e))
		return 0;
	key_close(k);
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	if (!make) {
		err_remedy(e, "the first journal of a cell makes it; 'viv journal key' does so, "
			      "too");
		return -1;
	}
	if (key_make(journals, e) < 0)
		return -1;
	if (key_read(k, journals, e) < 0) {
		key_close(k);
		return -1;
	}
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

int key_sign(const struct journal_key *k, struct journal_block *b, struct err *e)
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	uint8_t hash[JOURNAL_HASH];
	size_t n = sizeof(b->signature);
	bool good;

	head_hash(&b->head, hash);
	memcpy(b->key, k->id, sizeof(b->key));
	good = c && EVP_DigestSignInit(c, NULL, NULL, NULL, k->pkey) == 1 &&
	       EVP_DigestSign(c, b->signature, &n, hash, sizeof(hash)) == 1 &&
	       n == sizeof(b->signature);
	EVP_MD_CTX_free(c);
	return good ? 0 : openssl_failed(e, "sign with");
}

bool key_verify(const struct journal_key *k, const struct journal_block *b)
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	uint8_t hash[JOURNAL_HASH];
	bool good;

	head_hash(&b->head, hash);
	good = c && EVP_DigestVerifyInit(c, NULL, NULL, NULL, k->pkey) == 1 &&
	       EVP_DigestVerify(c, b->signature, sizeof(b->signature), hash, sizeof(hash)) == 1;
	EVP_MD_CTX_free(c);
	ERR_clear_error();
	return good;
}

/* See secrets.h: the encryption of secrets at rest.
 *
 * A file is MAGIC, a nonce, the ciphertext and its tag; the secret's name is authenticated with it,
 * so that files cannot change places. The key, 32 random bytes, is in $XDG_CONFIG_HOME/vivarium (or
 * ~/.config/vivarium, or /etc/vivarium), made when the first secret is: not in the state directory,
 * which is what gets copied, backed up and mounted. VIV_SECRETS_KEY names another file, such as a
 * credential of systemd. A key of the kernel's keyring does not outlive a restart of the host. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/secrets/secrets.h"

#define MAGIC "vivsec1\n"
#define MAGIC_LEN 8
#define NONCE_LEN 12
#define TAG_LEN 16
#define KEY_LEN 32

static int key_path(char *path, size_t size, bool make, struct err *e)
{
	const char *own = getenv("VIV_SECRETS_KEY"), *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char dir[4000];
	int n;

	if (own && *own)
		return snprintf(path, size, "%s", own) < (int)size
			       ? 0
			       : err_set(e, ERR_FAILED, "the path in VIV_SECRETS_KEY is too long");
	if (config && *config == '/')
		n = snprintf(dir, sizeof(dir), "%s", config);
	else if (home && *home == '/')
		n = snprintf(dir, sizeof(dir), "%s/.config", home);
	else
		n = snprintf(dir, sizeof(dir), "/etc");
	if (n >= (int)sizeof(dir) ||
	    snprintf(path, size, "%s/vivarium/secrets.key", dir) >= (int)size)
		return err_set(e, ERR_FAILED, "the path in XDG_CONFIG_HOME is too long");
	if (!make)
		return 0;
	(void)mkdir(dir, 0700);
	snprintf(path, size, "%s/vivarium", dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(e, ERR_FAILED, "cannot make '%s': %s", path, strerror(errno));
	snprintf(path, size, "%s/vivarium/secrets.key", dir);
	return 0;
}

/* Nobody else may know it, or it is none. */
static int key_check(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != KEY_LEN)
		return err_set(e, ERR_FAILED, "'%s' is not a key of %d bytes", path, KEY_LEN);
	if (st.st_mode & 077 || (st.st_uid != geteuid() && st.st_uid))
		return err_set(e, ERR_FAILED,
			       "others may read the key '%s'" REMEDY "chmod 600 '%s'", path, path);
	return 0;
}

/* Made whole or not at all: of two at once, both take the one that was first. */
static int key_make(const char *path, struct err *e)
{
	uint8_t key[KEY_LEN];
	char draft[4200];
	int fd, ret = -1;

	snprintf(draft, sizeof(draft), "%s.%d", path, (int)getpid());
	fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && RAND_bytes(key, sizeof(key)) == 1 &&
	    write(fd, key, sizeof(key)) == sizeof(key) && fsync(fd) == 0 &&
	    (link(draft, path) == 0 || errno == EEXIST))
		ret = 0;
	else
		err_note(e, ERR_FAILED, "cannot make the key '%s': %s", path, strerror(errno));
	if (fd >= 0) {
		close(fd);
		unlink(draft);
	}
	explicit_bzero(key, sizeof(key));
	return ret;
}

static int key_read(uint8_t key[KEY_LEN], bool make, struct err *e)
{
	char path[4096];
	int fd, ret = -1;

	if (key_path(path, sizeof(path), make, e) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno == ENOENT && make) {
		if (key_make(path, e) < 0)
			return -1;
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (fd < 0)
		return err_set(e, ERR_FAILED,
			       "cannot open the key of the secrets, '%s': %s" REMEDY
			       "without it they cannot be read; 'viv secret set' sets them again",
			       path, strerror(errno));
	if (key_check(fd, path, e) == 0) {
		ret = read(fd, key, KEY_LEN) == KEY_LEN ? 0 : -1;
		if (ret < 0)
			err_note(e, ERR_FAILED, "cannot read '%s'", path);
	}
	close(fd);
	return ret;
}

/* Both ways; the tag is written or checked. */
static bool gcm(bool seal, const uint8_t *key, const uint8_t *nonce, const char *name,
		const uint8_t *in, size_t n, uint8_t *out, uint8_t *tag)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int some = 0;
	bool good =
		c && n < INT32_MAX &&
		EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, key, nonce, seal) == 1 &&
		EVP_CipherUpdate(c, NULL, &some, (const uint8_t *)name, (int)strlen(name)) == 1 &&
		EVP_CipherUpdate(c, out, &some, in, (int)n) == 1 &&
		(seal || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, TAG_LEN, tag) == 1) &&
		EVP_CipherFinal_ex(c, out + some, &some) == 1 &&
		(!seal || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, TAG_LEN, tag) == 1);

	EVP_CIPHER_CTX_free(c);
	return good;
}

int secret_seal(const char *name, const char *text, size_t n, struct buf *to, struct err *e)
{
	uint8_t key[KEY_LEN], *p;
	bool good;

	if (key_read(key, true, e) < 0)
		return -1;
	buf_add(to, MAGIC, MAGIC_LEN);
	p = buf_more(to, NONCE_LEN + n + TAG_LEN);
	good = RAND_bytes(p, NONCE_LEN) == 1 &&
	       gcm(true, key, p, name, (const uint8_t *)text, n, p + NONCE_LEN, p + NONCE_LEN + n);
	explicit_bzero(key, sizeof(key));
	return good ? 0 : err_set(e, ERR_FAILED, "cannot encrypt secret '%s'", name);
}

int secret_unseal(const char *name, const void *data, size_t n, struct buf *to, struct err *e)
{
	const uint8_t *p = data;
	uint8_t key[KEY_LEN], tag[TAG_LEN];
	bool good;

	if (n < MAGIC_LEN + NONCE_LEN + TAG_LEN || memcmp(p, MAGIC, MAGIC_LEN))
		return err_set(e, ERR_FAILED, "secret '%s' is damaged", name);
	if (key_read(key, false, e) < 0)
		return -1;
	p += MAGIC_LEN;
	n -= MAGIC_LEN + NONCE_LEN + TAG_LEN;
	memcpy(tag, p + NONCE_LEN + n, TAG_LEN);
	buf_more(to, n + 1);
	to->len--;
	good = gcm(false, key, p, name, p + NONCE_LEN, n, to->p, tag);
	explicit_bzero(key, sizeof(key));
	if (good)
		return 0;
	explicit_bzero(to->p, to->len);
	return err_set(
		e, ERR_FAILED,
		"secret '%s' cannot be decrypted: it is damaged, or was encrypted with another "
		"key" REMEDY "'viv secret set %s' sets it again",
		name, name);
}

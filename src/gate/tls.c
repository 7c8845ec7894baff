/* See tls.h.
 *
 * A read takes what the socket has, up to WIRE_SIZE, and then every record of it: one system call
 * for all of them, and one answer to a TCP server instead of one for each record. The bytes are in
 * memory that all ends share, so that an end that is idle has none. What cannot be used at once, as
 * there are too many records or TLS has to send first, is kept in the end. */
#include "gate/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/ca.h"
#include "policy/address.h"

#define BUNDLE_MAX (8u << 20)
#define CERTS_MAX 65536 /* bytes of the certificates that a server may send */
#define KEEP_MAX 16384 /* bytes of a buffer that is kept while it is empty */
#define RECORDS 256 /* that are used at once: a peer's may be of one byte each */

static const char *const bundles[] = { "/etc/ssl/certs/ca-certificates.crt",
				       "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
				       "/etc/ssl/ca-bundle.pem" };
static int trusted[2] = { -1, -1 }; /* the host's bundle, and the operator's */
static bool started;
static SSL_CTX *client_ctx, *server_ctx;
static uint8_t wire[WIRE_SIZE];
static const uint8_t *wire_p; /* what is left of it, for wire_of */
static size_t wire_n;
static const struct end *wire_of; /* NULL: no read is under way */

/* ---- which servers are believed ---- */

int trust_open(const char *path, bool bundle, struct err *e)
{
	int *to = &trusted[bundle ? 0 : 1];

	if (started || *to >= 0)
		return 0;
	*to = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (*to < 0)
		return err_set(e, ERR_FAILED, "cannot open %s: %s", path, strerror(errno));
	return 0;
}

void tls_start(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(bundles) && trusted[0] < 0; i++)
		trusted[0] = open(bundles[i], O_RDONLY | O_CLOEXEC | O_NOCTTY);
	started = true;
}

/* #syscalls: pread64 */
static void trust_load(X509_STORE *store, int fd)
{
	struct buf text = { 0 };
	ssize_t got = 1;
	X509 *c;
	BIO *b;

	while (fd >= 0 && got > 0 && text.len < BUNDLE_MAX) {
		size_t len = text.len;

		got = pread(fd, buf_more(&text, 65536), 65536, (off_t)len);
		text.len = len + (got > 0 ? (size_t)got : 0);
	}
	b = BIO_new_mem_buf(text.p, (int)text.len);
	while (b && (c = PEM_read_bio_X509(b, NULL, NULL, NULL))) {
		X509_STORE_add_cert(store, c);
		X509_free(c);
	}
	BIO_free(b);
	buf_free(&text);
	ERR_clear_error();
}

static SSL_CTX *context_new(const SSL_METHOD *m)
{
	SSL_CTX *c = SSL_CTX_new(m);

	if (!c || !SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION))
		return NULL;
	SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				    SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_max_cert_list(c, CERTS_MAX);
	return c;
}

static SSL_CTX *client_context(void)
{
	if (client_ctx)
		return client_ctx;
	client_ctx = context_new(TLS_client_method());
	if (!client_ctx)
		return NULL;
	for (unsigned i = 0; i < ARRAY_LEN(trusted); i++)
		trust_load(SSL_CTX_get_cert_store(client_ctx), trusted[i]);
	/* An operator may trust a server's own certificate, as with curl. */
	X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(client_ctx), X509_V_FLAG_PARTIAL_CHAIN);
	SSL_CTX_set_verify(client_ctx, SSL_VERIFY_PEER, NULL);
	return client_ctx;
}

/* ---- what OpenSSL reads from and writes to ---- */

/* From wire while end_read() runs; in a handshake from the socket, and no more than OpenSSL wants.
 * #syscalls: recvfrom */
static int end_bio_read(BIO *b, char *p, size_t n, size_t *ret)
{
	struct end *s = BIO_get_data(b);
	ssize_t got;

	BIO_clear_retry_flags(b);
	if (wire_of == s) {
		got = (ssize_t)MIN(n, wire_n);
		memcpy(p, wire_p, (size_t)got);
		wire_p += got;
		wire_n -= (size_t)got;
		if (!got && !s->cut)
			BIO_set_retry_read(b);
	} else {
		got = recv(s->w.fd, p, n, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			BIO_set_retry_read(b);
		s->cut |= got == 0;
	}
	*ret = got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* #syscalls: sendto */
static int end_bio_write(BIO *b, const char *p, size_t n, size_t *ret)
{
	struct end *s = BIO_get_data(b);
	ssize_t done = send(s->w.fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);

	BIO_clear_retry_flags(b);
	if (done < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_write(b);
	*ret = done > 0 ? (size_t)done : 0;
	return done > 0;
}

static long end_bio_ctrl(BIO *b, int cmd, long num, void *p)
{
	const struct end *s = BIO_get_data(b);

	(void)num;
	(void)p;
	/* OpenSSL tells a cut from a failure by it. */
	if (cmd == BIO_CTRL_EOF)
		return s->cut;
	return cmd == BIO_CTRL_FLUSH;
}

static bool bio_begin(struct end *s)
{
	static BIO_METHOD *method;
	BIO *b;

	if (!method) {
		method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "end");
		if (!method || !BIO_meth_set_read_ex(method, end_bio_read) ||
		    !BIO_meth_set_write_ex(method, end_bio_write) ||
		    !BIO_meth_set_ctrl(method, end_bio_ctrl))
			return false;
	}
	b = s->ssl ? BIO_new(method) : NULL;
	if (!b)
		return false;
	BIO_set_data(b, s);
	BIO_set_init(b, 1);
	SSL_set_bio(s->ssl, b, b);
	return true;
}

/* ---- beginning ---- */

int end_tls_client(struct end *s, const char *name, bool http2, struct err *e)
{
	static const uint8_t both[] = "\x02h2\x08http/1.1", one[] = "\x08http/1.1";
	SSL_CTX *ctx = client_context();
	struct ip a;

	s->ssl = ctx ? SSL_new(ctx) : NULL;
	if (!bio_begin(s) || (http2 ? SSL_set_alpn_protos(s->ssl, both, sizeof(both) - 1)
				    : SSL_set_alpn_protos(s->ssl, one, sizeof(one) - 1)))
		return err_set(e, ERR_FAILED, "cannot begin TLS");
	if (ip_parse(name, &a)
		    ? !X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s->ssl), name)
		    : !SSL_set1_host(s->ssl, name) || !SSL_set_tlsext_host_name(s->ssl, name))
		return err_set(e, ERR_FAILED, "cannot begin TLS for %s", name);
	SSL_set_hostflags(s->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	SSL_set_connect_state(s->ssl);
	return 0;
}

static int protocol_choose(SSL *ssl, const uint8_t **ret, uint8_t *ret_n, const uint8_t *in,
			   unsigned n, void *arg)
{
	const struct end *s = SSL_get_app_data(ssl);

	(void)arg;
	/* The list is well formed: OpenSSL has looked at it. */
	for (unsigned i = 0; i < n; i += 1u + in[i]) {
		bool h2 = in[i] == 2 && !memcmp(in + i + 1, "h2", 2);
		bool h1 = in[i] == 8 && !memcmp(in + i + 1, "http/1.1", 8);

		if ((h2 && s->offer != '1') || (h1 && s->offer != 'h')) {
			*ret = in + i + 1;
			*ret_n = in[i];
			return SSL_TLSEXT_ERR_OK;
		}
	}
	return s->offer == 'h' ? SSL_TLSEXT_ERR_ALERT_FATAL : SSL_TLSEXT_ERR_NOACK;
}

int end_tls_server(struct end *s, const char *name, struct err *e)
{
	if (!server_ctx) {
		server_ctx = context_new(TLS_server_method());
		if (server_ctx) {
			SSL_CTX_set_num_tickets(server_ctx, 0);
			SSL_CTX_set_alpn_select_cb(server_ctx, protocol_choose, NULL);
		}
	}
	s->ssl = server_ctx ? SSL_new(server_ctx) : NULL;
	if (!bio_begin(s))
		return err_set(e, ERR_FAILED, "cannot begin TLS");
	SSL_set_app_data(s->ssl, s);
	SSL_set_accept_state(s->ssl);
	return ca_use(s->ssl, name, e);
}

bool end_is_http2(const struct end *s)
{
	const uint8_t *p = NULL;
	unsigned n = 0;

	if (s->ssl)
		SSL_get0_alpn_selected(s->ssl, &p, &n);
	return n == 2;
}

int end_handshake(struct end *s, struct err *e)
{
	long verified;
	int r, why;

	ERR_clear_error();
	r = SSL_do_handshake(s->ssl);
	s->wants_write = false;
	if (r == 1)
		return 1;
	why = SSL_get_error(s->ssl, r);
	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
		s->wants_write = why == SSL_ERROR_WANT_WRITE;
		return 0;
	}
	verified = SSL_get_verify_result(s->ssl);
	if (verified != X509_V_OK)
		err_set(e, ERR_DENIED, "its certificate cannot be verified: %s",
			X509_verify_cert_error_string(verified));
	else if (ERR_peek_error())
		err_set(e, ERR_FAILED, "TLS failed: %s", ERR_reason_error_string(ERR_peek_error()));
	else
		err_set(e, ERR_FAILED, "the connection ended before TLS was set up");
	ERR_clear_error();
	return -1;
}

/* ---- bytes ---- */

/* #syscalls: recvfrom */
static size_t socket_read(struct end *s, uint8_t *p, size_t n)
{
	ssize_t got = recv(s->w.fd, p, n, MSG_DONTWAIT);

	/* If there is more, or if it comes, the loop says so. */
	s->blocked = got > 0 && (size_t)got < n;
	if (got > 0)
		return (size_t)got;
	if (got == 0)
		s->eof = s->clean = true;
	else if (errno == EAGAIN || errno == EINTR)
		s->blocked = true;
	else
		s->broken = s->eof = true;
	return 0;
}

static size_t record_read(struct end *s, uint8_t *p, size_t n)
{
	size_t got = 0;
	int r;

	ERR_clear_error();
	r = SSL_read_ex(s->ssl, p, n, &got);
	if (r == 1)
		return got;
	switch (SSL_get_error(s->ssl, r)) {
	case SSL_ERROR_WANT_WRITE:
		s->wants_write = true;
		/* fallthrough */
	case SSL_ERROR_WANT_READ:
		s->blocked = true;
		break;
	case SSL_ERROR_ZERO_RETURN:
		s->eof = s->clean = true;
		break;
	default:
		/* Also a cut: bytes may be missing. What is sent may still arrive. */
		s->eof = true;
		s->broken = SSL_get_error(s->ssl, r) != SSL_ERROR_SSL;
	}
	ERR_clear_error();
	return 0;
}

/* What is in wire: true if the socket may have more. */
static bool wire_fill(struct end *s)
{
	wire_p = wire;
	if (s->rest.len) {
		wire_n = s->rest.len;
		memcpy(wire, s->rest.p, wire_n);
		buf_free(&s->rest);
		return true;
	}
	wire_n = socket_read(s, wire, sizeof(wire));
	s->cut = s->eof && !s->broken;
	s->eof = s->broken;
	s->clean = false;
	return !s->blocked;
}

size_t end_read(struct end *s, uint8_t *p, size_t n)
{
	size_t got = 0;
	bool more;

	s->blocked = s->wants_write = false;
	if (s->eof || s->w.fd < 0)
		return 0;
	if (!s->ssl)
		return socket_read(s, p, n);
	more = wire_fill(s);
	s->blocked = false;
	wire_of = s;
	for (unsigned i = 0; i < RECORDS && got < n && !s->blocked && !s->eof; i++)
		got += record_read(s, p + got, n - got);
	wire_of = NULL;
	if (wire_n && !s->eof)
		buf_add(&s->rest, wire_p, wire_n);
	if (more && !s->wants_write)
		s->blocked = false;
	return got;
}

/* #syscalls: sendto */
static ssize_t piece_send(struct end *s, const uint8_t *p, size_t n)
{
	size_t sent = 0;
	ssize_t r;
	int why;

	if (!s->ssl) {
		r = send(s->w.fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		return r < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : r;
	}
	ERR_clear_error();
	r = SSL_write_ex(s->ssl, p, n, &sent);
	if (r == 1)
		return (ssize_t)sent;
	why = SSL_get_error(s->ssl, (int)r);
	ERR_clear_error();
	return why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ ? 0 : -1;
}

static bool end_takes(const struct end *s)
{
	return !s->stuck && !s->broken && !s->shut && s->w.fd >= 0;
}

/* How many bytes were sent. 0: see stuck, broken. */
static size_t piece_try(struct end *s, const uint8_t *p, size_t n)
{
	ssize_t done = piece_send(s, p, n);

	s->stuck = done == 0;
	s->broken |= done < 0;
	return done > 0 ? (size_t)done : 0;
}

void end_flush(struct end *s, bool all)
{
	while (end_takes(s) && end_waiting(s) && (all || end_waiting(s) >= RECORD_MAX))
		s->out_at += piece_try(s, s->out.p + s->out_at, end_waiting(s));
	if (end_waiting(s) && !s->broken && !s->shut && s->w.fd >= 0) {
		/* A reader that never takes all would let it grow without end. */
		if (s->out_at > s->out.len / 2)
			end_drop(&s->out, s->out_at), s->out_at = 0;
		return;
	}
	s->out_at = s->out.len = 0;
	if (s->out.cap > KEEP_MAX)
		buf_free(&s->out);
}

void end_send(struct end *s, const uint8_t *p, size_t n)
{
	size_t begun = end_waiting(s) % RECORD_MAX;
	size_t fits = begun ? MIN(n, RECORD_MAX - begun) : 0;

	end_put(s, p, fits);
	p += fits;
	n -= fits;
	end_flush(s, false);
	while (end_takes(s) && !end_waiting(s) && n >= RECORD_MAX) {
		size_t done = piece_try(s, p, n);

		p += done;
		n -= done;
	}
	end_put(s, p, n);
}

/* #syscalls: shutdown */
void end_shut(struct end *s)
{
	if (s->shut || s->w.fd < 0)
		return;
	s->shut = true;
	if (s->ssl && SSL_is_init_finished(s->ssl) && !s->broken)
		SSL_shutdown(s->ssl);
	ERR_clear_error();
	shutdown(s->w.fd, SHUT_WR);
}

void end_drop(struct buf *b, size_t n)
{
	b->len -= n;
	if (b->len)
		memmove(b->p, b->p + n, b->len);
	else if (b->cap > KEEP_MAX)
		buf_free(b);
}

void end_fini(struct end *s)
{
	SSL_free(s->ssl);
	s->ssl = NULL;
	watch_close(&s->w);
	buf_free(&s->rest);
	buf_free(&s->in);
	buf_free(&s->out);
}

/* The documents of an OCI layout: the configuration, the manifest and the index that lead to its
 * one layer, and docker's manifest. */
#ifndef VIV_IMPORT_OCIDOCS_H
#define VIV_IMPORT_OCIDOCS_H

#include "base/base.h"
#include "store/store.h"

#define OCI_TIME "1980-01-02T00:00:00Z"

struct blob {
	char hash[HASH_TEXT];
	uint64_t size;
};

struct oci_text {
	char *p;
	size_t len;
	struct blob blob;
};

/* What leads to the layer. */
struct oci_documents {
	struct oci_text config, manifest, index, docker;
};

/* ref: the image's name in there; NULL: it has none. */
void oci_documents_make(const struct image *i, const char *ref, const struct blob *layer,
			struct oci_documents *d);
void oci_documents_free(struct oci_documents *d);

#endif

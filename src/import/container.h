/* Container images: OCI layouts (a directory or an archive of one) and what 'docker save'
 * writes. */
#ifndef VIV_IMPORT_CONTAINER_H
#define VIV_IMPORT_CONTAINER_H

#include "import/import.h"

struct archive;
struct archive_entry;

/* Whether the directory is an OCI layout. */
bool layout_is(int dir);
/* Imports one. ref: which image of several, by its name; may be NULL. docker: what 'docker save'
 * writes, unpacked. */
int import_layout(struct import *im, int dir, const char *ref, bool docker, struct err *e);

/* Whether an archive whose first file has this name holds a container image and not a root. */
bool container_is(const char *name);
/* Unpacks the rest of an open archive, from an entry on, into the work directory, and imports
 * it. */
int import_container(struct import *im, struct archive *a, struct archive_entry *first,
		     const char *ref, struct err *e);

/* The files of an image in parts, by name (parts.c). */
struct parts {
	int dir;
	bool flat; /* unpacked by us: a file for each name, by number */
	struct buf names; /* struct part, when flat */
	struct buf text;
};
int parts_unpack(struct parts *p, struct import *im, struct archive *a, struct archive_entry *first,
		 struct err *e);
/* A descriptor; -1 with e. */
int parts_open(struct parts *p, const char *name, struct err *e);
bool parts_have(struct parts *p, const char *name);
void parts_fini(struct parts *p);

#endif

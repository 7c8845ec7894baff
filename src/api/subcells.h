/* Cells that make cells; see subcells.c. */
#ifndef VIV_API_SUBCELLS_H
#define VIV_API_SUBCELLS_H

#include "daemon/cells/make.h"
#include "daemon/state/daemon.h"

/* A child of a cell, as that cell would make it by POST /v1/cells, for a project (plan.h). Takes
 * spec. fn is called once, later. */
void subcell_make(struct daemon *d, const char *parent, const char *name, json_t *spec, made_fn fn,
		  void *arg);
/* Could the cell whose rules in force these are have a child of this image, and one with these
 * settings? They are not changed. How many it has is not looked at. */
struct grants;
bool subcell_image_is_allowed(const struct grants *g, const char *image);
int must_check subcell_check(const struct cell *parent, const struct grants *g, const json_t *spec,
			     struct err *f);
/* At the start: answers to its questions come here. */
void subcells_open(struct daemon *d);

#endif

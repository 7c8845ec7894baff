/* Room that is kept back on a disk, so that things can still be removed when it is full: a file of
 * zeros beside what is to be removed, which is made while there is plenty, and given up when
 * somebody has to write a few records in order to remove something. */
#ifndef VIV_STORE_ROOM_H
#define VIV_STORE_ROOM_H

#include "base/base.h"

/* Keeps room back in a directory, if that is not done and there is plenty. Not to be able to is no
 * failure. */
void room_keep(int dir);
/* Gives it up, if the file system of dir is nearly full. */
void room_give(int dir);

#endif

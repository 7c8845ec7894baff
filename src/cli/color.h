/* Colours, on terminals only and where NO_COLOR is not set. */
#ifndef VIV_CLI_COLOR_H
#define VIV_CLI_COLOR_H

#include <stdio.h>

enum color { COLOR_NONE, COLOR_GOOD, COLOR_WARN, COLOR_BAD, COLOR_FAINT };

/* What turns a colour on, and off again; "" where there are none. */
const char *color_on(FILE *to, enum color c);
const char *color_off(FILE *to, enum color c);
/* Of a cell's state. */
enum color color_state(const char *state);

#endif

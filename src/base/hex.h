/* Hexadecimal digits in texts that are anybody's. */
#ifndef VIV_BASE_HEX_H
#define VIV_BASE_HEX_H

/* The value of a digit; -1: it is none. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif

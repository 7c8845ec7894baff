/* The host's readiness, for the kernel's loop. */
#ifndef VIV_HOST_EPOLL_H
#define VIV_HOST_EPOLL_H

#include "base/base.h"

int host_epoll_new(void);
/* One-shot interest; adds the descriptor at first. -EPERM: always ready (a regular file). */
int host_epoll_arm(int ep, int fd, uint32_t events, void *tag, bool added);
/* Lasting interest in every change; adds the descriptor. */
int host_epoll_edge(int ep, int fd, uint32_t events, void *tag);
void host_epoll_del(int ep, int fd);
/* Up to n tags and their events, without waiting. The count. */
int host_epoll_take(int ep, void **tags, uint32_t *events, int n);

#endif

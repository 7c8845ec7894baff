/* /proc/PID/net and /proc/PID/ns: the headers of the tables, with the loopback device and no
 * sockets; and the namespaces, which are the same for every process of a cell. */
#include "kernel/fs/proc/proc_priv.h"

static const char dev_text[] =
	"Inter-|   Receive                                                |  Transmit\n"
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
	"drop "
	"fifo colls carrier compressed\n"
	"    lo:       0       0    0    0    0     0          0         0        0       0    0   "
	" 0    "
	"0     0       0          0\n";

static const char route_text[] =
	"Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
	"                                                       \n";

#define SOCKET_COLUMNS                                                                        \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  " \
	"timeout "

static const char tcp_text[] =
	SOCKET_COLUMNS "inode                                                     \n";
static const char udp_text[] = "   sl  local_address rem_address   st tx_queue rx_queue tr "
			       "tm->when retrnsmt   uid  timeout "
			       "inode ref pointer drops             \n";

static const char tcp6_text[] = "  sl  local_address                         remote_address        "
				"                st tx_queue "
				"rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
static const char udp6_text[] =
	"  sl  local_address                         remote_address                        st "
	"tx_queue "
	"rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n";

static const char arp_text[] =
	"IP address       HW type     Flags       HW address            Mask     Device\n";

static const char sockstat_text[] = "sockets: used 0\nTCP: inuse 0 orphan 0 tw 0 alloc 0 mem 0\n"
				    "UDP: inuse 0 mem 0\nUDPLITE: inuse 0\nRAW: inuse 0\n"
				    "FRAG: inuse 0 memory 0\n";

const struct pnode net_nodes[] = {
	P_TEXT("arp", 0444, arp_text),
	P_TEXT("dev", 0444, dev_text),
	P_TEXT("if_inet6", 0444, "00000000000000000000000000000001 01 80 10 80       lo\n"),
	P_TEXT("ipv6_route", 0444, ""),
	P_TEXT("packet", 0444, "sk       RefCnt Type Proto  Iface R Rmem   User   Inode\n"),
	P_TEXT("raw", 0444, udp_text),
	P_TEXT("route", 0444, route_text),
	P_TEXT("sockstat", 0444, sockstat_text),
	P_TEXT("tcp", 0444, tcp_text),
	P_TEXT("tcp6", 0444, tcp6_text),
	P_TEXT("udp", 0444, udp_text),
	P_TEXT("udp6", 0444, udp6_text),
	P_TEXT("unix", 0444, "Num       RefCount Protocol Flags    Type St Inode Path\n"),
	{ 0 },
};

const struct pnode ns_nodes[] = {
	P_LINK("cgroup", "cgroup:[4026531835]"),
	P_LINK("ipc", "ipc:[4026531839]"),
	P_LINK("mnt", "mnt:[4026531840]"),
	P_LINK("net", "net:[4026531992]"),
	P_LINK("pid", "pid:[4026531836]"),
	P_LINK("pid_for_children", "pid:[4026531836]"),
	P_LINK("time", "time:[4026531834]"),
	P_LINK("time_for_children", "time:[4026531834]"),
	P_LINK("user", "user:[4026531837]"),
	P_LINK("uts", "uts:[4026531838]"),
	{ 0 },
};

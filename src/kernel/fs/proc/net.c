/* /proc/PID/net: the headers of the tables, whose lines the sockets' own code gives (proc.h). */
#include "kernel/fs/proc/proc_priv.h"

void (*proc_net_show)(enum proc_net_table table, struct textbuf *b) SEALED;

static const char dev_text[] =
	"Inter-|   Receive                                                |  Transmit\n"
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
	"drop "
	"fifo colls carrier compressed\n";
static const char dev_lo_text[] = "    lo:       0       0    0    0    0     0          0         "
				  "0        0       0    0    0    "
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

static const char unix_text[] = "Num       RefCount Protocol Flags    Type St Inode Path\n";
static const char netlink_text[] =
	"sk               Eth Pid        Groups   Rmem     Wmem     Dump  "
	"Locks    Drops    Inode\n";

/* Nothing of it happens where nothing gets lost. Programs look for names, of which newer kernels
 * have more. */
static const char netstat_text[] =
	"TcpExt: SyncookiesSent SyncookiesRecv SyncookiesFailed EmbryonicRsts PruneCalled "
	"OutOfWindowIcmps TW DelayedACKs ListenOverflows ListenDrops TCPHPHits TCPPureAcks "
	"TCPLostRetransmit TCPFastRetrans TCPSlowStartRetrans TCPTimeouts TCPBacklogDrop "
	"TCPAbortOnData TCPAbortOnClose TCPAbortOnMemory TCPAbortOnTimeout TCPMemoryPressures "
	"TCPOFOQueue TCPSynRetrans TCPOrigDataSent TCPKeepAlive\n"
	"TcpExt: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
	"IpExt: InNoRoutes InTruncatedPkts InMcastPkts OutMcastPkts InBcastPkts OutBcastPkts "
	"InOctets "
	"OutOctets InMcastOctets OutMcastOctets InBcastOctets OutBcastOctets InCsumErrors\n"
	"IpExt: 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

/* The header, and the lines when there are sockets at all. */
static int show_table(struct textbuf *b, const char *head, enum proc_net_table table,
		      const char *none)
{
	if (!b->at)
		text_puts(b, head);
	if (proc_net_show)
		proc_net_show(table, b);
	else
		text_puts(b, none);
	return 0;
}

#define TABLE(fn, head, table, none)                                        \
	static int fn(struct pinode *pi, struct task *t, struct textbuf *b) \
	{                                                                   \
		(void)pi, (void)t;                                          \
		return show_table(b, head, table, none);                    \
	}
TABLE(show_tcp, tcp_text, PROC_NET_TCP, "")
TABLE(show_tcp6, tcp6_text, PROC_NET_TCP6, "")
TABLE(show_udp, udp_text, PROC_NET_UDP, "")
TABLE(show_udp6, udp6_text, PROC_NET_UDP6, "")
TABLE(show_unix, unix_text, PROC_NET_UNIX, "")
TABLE(show_netlink, netlink_text, PROC_NET_NETLINK, "")
TABLE(show_sockstat, "", PROC_NET_SOCKSTAT, sockstat_text)
TABLE(show_dev, dev_text, PROC_NET_DEV, dev_lo_text)
TABLE(show_route, route_text, PROC_NET_ROUTE, "")
TABLE(show_route6, "", PROC_NET_ROUTE6, "")
TABLE(show_inet6, "", PROC_NET_INET6, "")
TABLE(show_snmp, "", PROC_NET_SNMP, "")
TABLE(show_arp, arp_text, PROC_NET_ARP, "")

const struct pnode net_nodes[] = {
	P_FILE("arp", 0444, show_arp),
	P_FILE("dev", 0444, show_dev),
	P_FILE("if_inet6", 0444, show_inet6),
	P_FILE("ipv6_route", 0444, show_route6),
	P_FILE("netlink", 0444, show_netlink),
	P_TEXT("netstat", 0444, netstat_text),
	P_TEXT("packet", 0444, "sk       RefCnt Type Proto  Iface R Rmem   User   Inode\n"),
	P_TEXT("raw", 0444, udp_text),
	P_FILE("route", 0444, show_route),
	P_FILE("snmp", 0444, show_snmp),
	P_FILE("sockstat", 0444, show_sockstat),
	P_FILE("tcp", 0444, show_tcp),
	P_FILE("tcp6", 0444, show_tcp6),
	P_FILE("udp", 0444, show_udp),
	P_FILE("udp6", 0444, show_udp6),
	P_FILE("unix", 0444, show_unix),
	{ 0 },
};

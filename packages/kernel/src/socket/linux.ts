/**
 * The constants of Linux's socket interface that we use, equal on every 64-bit processor that Node runs on.
 */
export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const AF_NETLINK = 16;
export const AF_PACKET = 17;

/** Where the address begins in `sockaddr_in` and in `sockaddr_in6` (see `addresses.ts`). */
export const IPV4_AT = 4;
export const IPV6_AT = 8;

export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

export const NETLINK_NETFILTER = 12;
export const SOL_NETLINK = 270;
export const NETLINK_CAP_ACK = 10;

export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_SNDBUF = 7;
export const SO_RCVBUF = 8;
export const SO_REUSEPORT = 15;
export const SO_PEERCRED = 17;
export const SO_RCVTIMEO = 20;
export const SO_ATTACH_FILTER = 26;
export const SO_DETACH_FILTER = 27;
export const SO_ATTACH_REUSEPORT_CBPF = 51;
export const SO_MEMINFO = 55;

export const IPPROTO_IP = 0;
export const IP_PKTINFO = 8;
export const IP_RECVERR = 11;
export const IPPROTO_TCP = 6;
export const TCP_INFO = 11;
export const TCP_QUICKACK = 12;
export const IPPROTO_UDP = 17;
/** States of a connection, as `tcpi_state` has them. */
export const TCP_ESTABLISHED = 1;
export const TCP_SYN_SENT = 2;
export const TCP_NODELAY = 1;
export const UDP_SEGMENT = 103;
export const IPPROTO_IPV6 = 41;
export const IPV6_RECVERR = 25;
export const IPV6_V6ONLY = 26;
export const IPV6_RECVPKTINFO = 49;

export const ETH_P_ALL = 3;

export const MSG_TRUNC = 0x20;
export const MSG_DONTWAIT = 0x40;
export const MSG_ERRQUEUE = 0x2000;
export const MSG_NOSIGNAL = 0x4000;
export const MSG_WAITFORONE = 0x10000;

export const POLLIN = 1;

export const EPOLL_CLOEXEC = 0o2000000;
export const EPOLL_CTL_ADD = 1;
export const EPOLLIN = 1;

export const EPERM = 1;
export const ENOENT = 2;
export const EINTR = 4;
export const EIO = 5;
export const EAGAIN = 11;
export const EACCES = 13;
export const EEXIST = 17;
export const EINVAL = 22;
export const ENFILE = 23;
export const EMFILE = 24;
export const EPIPE = 32;
export const ENOSYS = 38;
export const ENOTEMPTY = 39;
export const EMSGSIZE = 90;
export const EOPNOTSUPP = 95;
export const EADDRINUSE = 98;
export const EADDRNOTAVAIL = 99;
export const ENOBUFS = 105;
export const ECONNRESET = 104;
export const ECONNREFUSED = 111;
export const EINPROGRESS = 115;

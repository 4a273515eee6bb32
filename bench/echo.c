/*
 * The floor: the cost of only receiving and sending packets.
 *
 * Takes up to 64 packets with one recvmmsg, marks each as a response, sends all with one sendmmsg. A DNS server in any
 * language costs at least this per query.
 *
 * usage: echo PORT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { PACKETS = 64, PACKET_OCTETS = 512, RECEIVE_BUFFER_OCTETS = 4 << 20 };

static char octets[PACKETS][PACKET_OCTETS];
static struct mmsghdr headers[PACKETS];
static struct iovec pieces[PACKETS];
static struct sockaddr_in clients[PACKETS];

static int open_socket(int port)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int yes = 1, buffer = RECEIVE_BUFFER_OCTETS;
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
	if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
		perror("bind");
		exit(1);
	}
	return fd;
}

/* The kernel wrote lengths where it had read the room. */
static void make_ready(void)
{
	for (int i = 0; i < PACKETS; i++) {
		pieces[i] = (struct iovec){ .iov_base = octets[i], .iov_len = PACKET_OCTETS };
		headers[i].msg_hdr = (struct msghdr){
			.msg_name = &clients[i],
			.msg_namelen = sizeof clients[i],
			.msg_iov = &pieces[i],
			.msg_iovlen = 1,
		};
	}
}

static void mark_as_response(int i)
{
	octets[i][2] |= 0x84; /* QR, AA */
	octets[i][3] = 0x03;  /* NXDOMAIN */
	pieces[i].iov_len = headers[i].msg_len;
}

int main(int count, char **arguments)
{
	if (count != 2) {
		fprintf(stderr, "usage: echo PORT\n");
		return 2;
	}
	int fd = open_socket(atoi(arguments[1]));
	for (;;) {
		make_ready();
		int received = recvmmsg(fd, headers, PACKETS, MSG_WAITFORONE, 0);
		for (int i = 0; i < received; i++)
			mark_as_response(i);
		for (int sent = 0; sent < received;) {
			int more = sendmmsg(fd, headers + sent, received - sent, 0);
			/* What cannot be sent (a query from port 0) is skipped. */
			sent += more > 0 ? more : 1;
		}
	}
}

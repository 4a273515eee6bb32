/*
 * Looks a name up as old programs in pods do, the nslookup of early busyboxes among them: by the C library's resolver, with a
 * server put in the place of that of /etc/resolv.conf. The server's own name is asked for first, from its address.
 *
 *     c-library SERVER PORT ADDRESS NAME      with LOCALDOMAIN and RES_OPTIONS as in the resolv.conf of a pod
 *
 * Prints the server's name and each address. Exits with 1 where the name has none, with 2 where the server is silent.
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, hstrerror(h_errno));
	return h_errno == TRY_AGAIN ? 2 : 1;
}

/* Prints the data of each record of the answer that is of this type. */
static void print(const unsigned char *answer, int length, int type)
{
	char text[NS_MAXDNAME];
	ns_msg message;
	ns_rr record;

	if (ns_initparse(answer, length, &message) != 0)
		return;
	for (int index = 0; index < ns_msg_count(message, ns_s_an); index++) {
		if (ns_parserr(&message, ns_s_an, index, &record) != 0 || (int)ns_rr_type(record) != type)
			continue;
		if (type == ns_t_a)
			inet_ntop(AF_INET, ns_rr_rdata(record), text, sizeof text);
		else if (dn_expand(answer, answer + length, ns_rr_rdata(record), text, sizeof text) < 0)
			continue;
		puts(text);
	}
}

int main(int count, char **words)
{
	unsigned char answer[NS_MAXMSG];
	char reverse[64];
	struct in_addr server;
	int length;

	if (count != 5 || res_init() != 0 || inet_pton(AF_INET, words[3], &server) != 1)
		return 3;
	_res.nscount = 1;
	_res.nsaddr_list[0].sin_family = AF_INET;
	_res.nsaddr_list[0].sin_port = htons(atoi(words[2]));
	inet_pton(AF_INET, words[1], &_res.nsaddr_list[0].sin_addr);

	const unsigned char *octets = (const unsigned char *)&server;
	snprintf(reverse, sizeof reverse, "%d.%d.%d.%d.in-addr.arpa", octets[3], octets[2], octets[1], octets[0]);
	length = res_query(reverse, ns_c_in, ns_t_ptr, answer, sizeof answer);
	if (length < 0)
		return fail(reverse);
	print(answer, length, ns_t_ptr);

	length = res_search(words[4], ns_c_in, ns_t_a, answer, sizeof answer);
	if (length < 0)
		return fail(words[4]);
	print(answer, length, ns_t_a);
	return 0;
}

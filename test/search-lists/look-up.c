/*
 * Looks a name up as programs do, by getaddrinfo of the C library that it is built with:
 *
 *     look-up NAME
 */
#include <netdb.h>
#include <stddef.h>
#include <sys/socket.h>

int main(int count, char **words)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;

	return count == 2 && getaddrinfo(words[1], NULL, &hints, &found) == 0 ? 0 : 1;
}

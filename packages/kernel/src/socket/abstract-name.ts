/**
 * Addresses of Unix sockets in the abstract namespace, which all releases of Node.js understand alike.
 *
 * A name has all octets of its address. Node.js before 22 fills up the address with zeros, later ones take the name as it is: they meet if
 * the name is as long as it can be.
 */

/** Octets of `sun_path`. */
const NAME_OCTETS = 108;

/** @param name of at most 107 ASCII characters @returns the path for `node:net` */
export function abstractPath(name: string): string {
  return `\0${name}`.padEnd(NAME_OCTETS, '\0');
}

/** The message of an error of a socket, with an abstract name as people write it: Node.js repeats the path, with its zeros. */
export function showAbstractName(message: string): string {
  return message.replace('\0', '@').replaceAll('\0', '');
}

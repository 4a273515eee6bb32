/**
 * Errors of the system, in the words of Go's library: the logs of CoreDNS have them, and people search for them.
 */

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EADDRINUSE', 'address already in use'],
  ['EADDRNOTAVAIL', 'cannot assign requested address'],
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset by peer'],
  ['EHOSTUNREACH', 'no route to host'],
  ['EISDIR', 'is a directory'],
  ['ENETUNREACH', 'network is unreachable'],
  ['ENOENT', 'no such file or directory'],
  ['ENOTDIR', 'not a directory'],
  ['EPERM', 'operation not permitted'],
  ['EPIPE', 'broken pipe'],
]);

/** The code of an error of the system, such as `ENOENT`; undefined: it is another error. */
export function findErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** What a code means: `connection refused`; undefined: Go has no words for it here. */
export function findMeaning(code: string | undefined): string | undefined {
  return code === undefined ? undefined : MEANINGS.get(code);
}

/** What an error means: its code if there are no words for it, and the text of an error without a code. */
export function describeSystemError(error: unknown): string {
  const code = findErrorCode(error);
  return findMeaning(code) ?? code ?? String(error);
}

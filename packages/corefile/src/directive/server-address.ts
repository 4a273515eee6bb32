/**
 * Addresses of other name servers.
 */
import type { SocketAddress } from '@portolan/kernel/socket/addresses.ts';
import type { DirectiveCursor } from './directive-cursor.ts';
import { isAddress, splitAddress } from './go-values.ts';

const PORT = 53;
const MAX_PORT = 65_535;

/** An address with a port, or with that of DNS. @throws DirectiveError in CoreDNS's words */
export function readServerAddress(cursor: DirectiveCursor, word: string, remedy: string): SocketAddress {
  const split = splitAddress(word);
  const [address, text] = split.kind === 'good' ? [split.value.host, split.value.port] : [word, ''];
  const port = text === '' ? PORT : Number(text);
  const isPort = Number.isInteger(port) && port > 0 && port <= MAX_PORT;
  if (!isPort || !isAddress(address.replace(/%.*$/, '')))
    throw cursor.bareError(`must specify an IP address: \`${address}'`, remedy);
  return { address, port };
}

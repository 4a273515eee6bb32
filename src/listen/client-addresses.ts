/**
 * The text of clients' addresses, formatted once for many questions of the same client.
 *
 * A fixed-size table of recent clients: a client replaces another one with the same hash.
 */
import { clientOf } from '../socket/envelope.ts';

const PLACES = 1024;
/** Where the address begins in a socket address, after the family and the port. */
const ADDRESS_START = 4;
const ADDRESS_END = 28;

export class ClientAddresses {
  readonly #addresses = Array.from({ length: PLACES }, () => new Uint8Array(ADDRESS_END));
  readonly #names: string[] = Array.from({ length: PLACES }, () => '');

  /** @param envelope memory that begins with an envelope */
  find(envelope: Uint8Array): string {
    let hash = 0;
    for (let at = ADDRESS_START; at < ADDRESS_END; at++)
      hash = Math.imul(hash ^ (envelope[at] ?? 0), 0x01000193);
    const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
    const name = this.#names[place] ?? '';
    const known = this.#addresses[place];
    if (name !== '' && known !== undefined && isSame(known, envelope)) return name;
    const { address } = clientOf(envelope);
    this.#names[place] = address;
    known?.set(envelope.subarray(0, ADDRESS_END));
    return address;
  }
}

function isSame(known: Uint8Array, envelope: Uint8Array): boolean {
  // The family is in the first two octets.
  if (known[0] !== envelope[0]) return false;
  for (let at = ADDRESS_START; at < ADDRESS_END; at++) if (known[at] !== envelope[at]) return false;
  return true;
}

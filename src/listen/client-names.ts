/**
 * The text of clients' addresses, which is made once for many questions of the same client.
 *
 * A fixed table of the clients seen last: a client takes the place of another one with the same hash.
 */
import { clientOf } from '../socket/envelope.ts';

const PLACES = 1024;
/** Octets of a socket address that the address is in, the family and the port left out. */
const ADDRESS_START = 4;
const ADDRESS_END = 28;

export class ClientNames {
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

/**
 * Where the clients of a cluster are: the zone and the node of an address, by ranges that nodes have. Each range is an entry
 * of its own, so that a node that comes or goes costs its ranges.
 */
import { isMappedAddress } from '@portolan/dns/address.ts';
import type { OctetRange } from '@portolan/dns/range-map.ts';
import { AF_INET, IPV4_AT, IPV6_AT } from '../socket/linux.ts';
import type { KeyOctets } from '../table/composer.ts';
import { padded } from '../table/layout.ts';
import type { TableViews } from '../table/memory.ts';
import type { RecordSpace } from '../table/record-space.ts';
import { CLIENT_PLACES, RANGE, RECORD_KIND } from './layout.ts';
import type { RecordFinder } from './record-finder.ts';

/** The words of a zone and a node, 0: none is known. */
export interface PlaceWords {
  readonly zone: number;
  readonly node: number;
}

const IPV4_OCTETS = 4;
const IPV6_OCTETS = 16;
/** Octets of a socket address before those that map an address of IPv4 (RFC 4291 section 2.5.5.2) end. */
const MAPPED_AT = IPV6_AT + 12;

/** The writer's side. */
export class ClientPlaces {
  readonly #space: RecordSpace;
  /** How many ranges have a prefix of this length. */
  readonly #lengths: readonly [ipv4: number[], ipv6: number[]] = [
    new Array<number>(33).fill(0),
    new Array<number>(129).fill(0),
  ];
  readonly #entries = new Set<number>();
  /** The place of all clients. */
  #ofAll: PlaceWords | undefined;
  #block = 0;
  #shown = '';

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  /** The octet of the block that readers start at, 0 while nothing is known. */
  get block(): number {
    return this.#block;
  }

  /** Places all clients at once; undefined: by their addresses. Call `renew` then, as after all changes. */
  placeAll(place: PlaceWords | undefined): void {
    this.#ofAll = place;
  }

  /** Places a range of clients. @throws TableFullError, and leaves the range as it was */
  place(range: OctetRange, { zone, node }: PlaceWords): void {
    const space = this.#space;
    const key = toRangeKey(range);
    const known = space.find(RECORD_KIND.RANGE, key, RANGE.KEY);
    const entry = known === 0 ? space.add(RECORD_KIND.RANGE, key, RANGE.KEY) : known;
    space.store(entry + RANGE.ZONE, zone);
    space.store(entry + RANGE.NODE, node);
    if (known !== 0) return;
    this.#entries.add(entry);
    this.#countLength(range, 1);
  }

  /** Forgets a range. */
  forget(range: OctetRange): void {
    const entry = this.#space.find(RECORD_KIND.RANGE, toRangeKey(range), RANGE.KEY);
    if (entry === 0) return;
    this.#remove(entry);
    this.#countLength(range, -1);
  }

  /**
   * Makes the block again if it has to change.
   *
   * @param show shows readers the new one
   * @throws TableFullError, and keeps the former one
   */
  renew(show: () => void): void {
    const [ipv4 = [], ipv6 = []] = this.#lengths.map(longestFirst);
    const { zone, node } = this.#ofAll ?? { zone: 0, node: 0 };
    const isEmpty = this.#ofAll === undefined && ipv4.length + ipv6.length === 0;
    const text = isEmpty ? '' : `${zone} ${node} ${ipv4.join()} ${ipv6.join()}`;
    if (text === this.#shown) return;
    const former = this.#block;
    this.#block = isEmpty ? 0 : this.#write(zone, node, ipv4, ipv6);
    try {
      show();
    } catch (error) {
      this.#retire(this.#block);
      this.#block = former;
      throw error;
    }
    this.#shown = text;
    this.#retire(former);
  }

  /** Forgets all ranges; no reader looks for them any more. */
  clear(): void {
    for (const entry of [...this.#entries]) this.#remove(entry);
    for (const counts of this.#lengths) counts.fill(0);
  }

  #write(zone: number, node: number, ipv4: readonly number[], ipv6: readonly number[]): number {
    const size = CLIENT_PLACES.LENGTHS + padded(ipv4.length + ipv6.length);
    const block = this.#space.take(size);
    const { atoms, octets } = this.#space.views;
    atoms[(block + CLIENT_PLACES.SIZE) >> 2] = size;
    atoms[(block + CLIENT_PLACES.ZONE) >> 2] = zone;
    atoms[(block + CLIENT_PLACES.NODE) >> 2] = node;
    atoms[(block + CLIENT_PLACES.IPV4) >> 2] = ipv4.length;
    atoms[(block + CLIENT_PLACES.IPV6) >> 2] = ipv6.length;
    octets.set([...ipv4, ...ipv6], block + CLIENT_PLACES.LENGTHS);
    return block;
  }

  #retire(block: number): void {
    if (block !== 0) this.#space.retire(block, this.#space.views.atoms[block >> 2] ?? 0);
  }

  #remove(entry: number): void {
    this.#entries.delete(entry);
    this.#space.remove(entry);
  }

  #countLength({ octets, prefix }: OctetRange, more: number): void {
    const counts = this.#lengths[octets.length === IPV4_OCTETS ? 0 : 1];
    counts[prefix] = (counts[prefix] ?? 0) + more;
  }
}

/** The lengths of prefixes that are counted. */
const longestFirst = (counts: readonly number[]): readonly number[] =>
  counts.flatMap((count, length) => (count > 0 ? length : [])).reverse();

const toRangeKey = ({ octets, prefix }: OctetRange): Uint8Array => Uint8Array.of(...octets, prefix);

/** The reader's side. */
export class ClientPlaceFinder {
  readonly #views: TableViews;
  readonly #finder: RecordFinder;
  readonly #key = new RangeKey();
  /** What was found last. */
  zone = 0;
  node = 0;

  /** @param finder that searches the publication with the ranges */
  constructor(views: TableViews, finder: RecordFinder) {
    this.#views = views;
    this.#finder = finder;
  }

  /**
   * Finds the place of a client.
   *
   * @param places the octet of the block of `ClientPlaces`
   * @param octets with the socket address of the client from `client` on
   */
  find(places: number, octets: Uint8Array, client: number): void {
    const { atoms } = this.#views;
    this.zone = atoms[(places + CLIENT_PLACES.ZONE) >> 2] ?? 0;
    this.node = atoms[(places + CLIENT_PLACES.NODE) >> 2] ?? 0;
    if (this.zone !== 0 || this.node !== 0) return;
    const ipv4 = atoms[(places + CLIENT_PLACES.IPV4) >> 2] ?? 0;
    const lengths = places + CLIENT_PLACES.LENGTHS;
    if (octets[client] === AF_INET) this.#findIn(octets, client + IPV4_AT, IPV4_OCTETS, lengths, ipv4);
    else if (isMappedAddress(octets, client + IPV6_AT))
      this.#findIn(octets, client + MAPPED_AT, IPV4_OCTETS, lengths, ipv4);
    else {
      const ipv6 = atoms[(places + CLIENT_PLACES.IPV6) >> 2] ?? 0;
      this.#findIn(octets, client + IPV6_AT, IPV6_OCTETS, lengths + ipv4, ipv6);
    }
  }

  #findIn(octets: Uint8Array, at: number, length: number, lengths: number, count: number): void {
    const { atoms } = this.#views;
    const key = this.#key;
    key.load(octets, at, length);
    for (let index = 0; index < count; index++) {
      // The longest come first, so each key is what is left of the one before.
      key.shorten(this.#views.octets[lengths + index] ?? 0, length);
      const entry = this.#finder.find(RECORD_KIND.RANGE, key, 0, length + 1, RANGE.KEY);
      if (entry === 0) continue;
      this.zone = atoms[(entry + RANGE.ZONE) >> 2] ?? 0;
      this.node = atoms[(entry + RANGE.NODE) >> 2] ?? 0;
      return;
    }
  }
}

/** The octets of a range and its prefix, as a key. */
class RangeKey implements KeyOctets {
  readonly #octets = new Uint8Array(IPV6_OCTETS + 8);
  readonly #view = new DataView(this.#octets.buffer);

  wordAt(at: number): number {
    return this.#view.getInt32(at, true);
  }

  load(octets: Uint8Array, at: number, length: number): void {
    for (let index = 0; index < length; index++) this.#octets[index] = octets[at + index] ?? 0;
  }

  shorten(prefix: number, length: number): void {
    const own = this.#octets;
    const first = prefix >> 3;
    if (first < length) own[first] = (own[first] ?? 0) & (0xff00 >> (prefix & 7));
    for (let index = first + 1; index < length; index++) own[index] = 0;
    own[length] = prefix;
  }
}

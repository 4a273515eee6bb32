/**
 * A digest of all services of a cluster: the sum of a hash of each. The order in which they came does not matter, so two servers with
 * the same services have the same digest.
 */
import type { TableViews } from '../table/memory.ts';
import { PORT, PROTOCOL_MASK, SERVICE, SERVICE_RECORD } from './layout.ts';
import { nextPort } from './service-fields.ts';

const SEEDS = [0x2545f491, 0x6c8e9cf5] as const;
const BUCKETS = 256;
/** The bits of a port's application protocol in the octet of its protocol. */
const APP_PROTOCOL_MASK = 0xff & ~PROTOCOL_MASK;

/** The two labels of a service's entry, in wire form. */
export function serviceKeyAt({ atoms, octets }: TableViews, entry: number): Uint8Array {
  const length = (atoms[(entry + 4) >> 2] ?? 0) & 0xff;
  return octets.subarray(entry + SERVICE.KEY, entry + SERVICE.KEY + length);
}

/** Hashes services one at a time. It allocates nothing. */
export class ServiceHasher {
  readonly #views: TableViews;
  /** 32 bits each. */
  low = 0;
  high = 0;

  constructor(views: TableViews) {
    this.#views = views;
  }

  /**
   * Hashes the name and the data of a service, without the application protocols of its ports: whether records have them depends on
   * the settings of a server.
   *
   * @param record octet of its record
   */
  hash(key: Uint8Array, record: number): void {
    const { octets, words } = this.#views;
    let [low, high]: [number, number] = [hashKey(key, SEEDS[0]), hashKey(key, SEEDS[1])];
    const head = words[record >> 2] ?? 0;
    let port = record + SERVICE_RECORD.ADDRESSES + ((head >>> 8) & 0xff) * 4 + ((head >>> 16) & 0xff) * 16;
    let ports = words[(record + SERVICE_RECORD.PORTS) >> 2] ?? 0;
    const first = record >> 2;
    const end = (record + (words[(record + SERVICE_RECORD.SIZE) >> 2] ?? 0)) >> 2;
    for (let at = first; at < end; at++) {
      let word = words[at] ?? 0;
      const protocol = port + PORT.PROTOCOL;
      if (ports > 0 && protocol >> 2 === at) {
        word &= ~(APP_PROTOCOL_MASK << ((protocol & 3) * 8));
        port = nextPort(octets, port);
        ports--;
      }
      low = mix(low, word);
      high = mix(high, word);
    }
    this.low = finish(low);
    this.high = finish(high);
  }

  get text(): string {
    return digestText(this.low, this.high);
  }
}

/** Servers that have a service have it in the same of 256 buckets, whatever its data. */
export function computeBucket(key: Uint8Array): number {
  return finish(hashKey(key, SEEDS[0])) & (BUCKETS - 1);
}

export class ServiceDigest {
  #low = 0;
  #high = 0;

  add({ low, high }: Pick<ServiceHasher, 'low' | 'high'>): void {
    this.#low = (this.#low + low) | 0;
    this.#high = (this.#high + high) | 0;
  }

  subtract({ low, high }: Pick<ServiceHasher, 'low' | 'high'>): void {
    this.#low = (this.#low - low) | 0;
    this.#high = (this.#high - high) | 0;
  }

  /** 16 hexadecimal digits. */
  get text(): string {
    return digestText(this.#low, this.#high);
  }
}

export function makeBuckets(): readonly ServiceDigest[] {
  return Array.from({ length: BUCKETS }, () => new ServiceDigest());
}

function digestText(low: number, high: number): string {
  return [high, low].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function hashKey(key: Uint8Array, seed: number): number {
  let hash: number = seed;
  for (let at = 0; at < key.length; at++) hash = mix(hash, key[at] ?? 0);
  return hash;
}

/** As in MurmurHash3. */
function mix(hash: number, word: number): number {
  const scrambled = Math.imul(word, 0xcc9e2d51);
  const turned = hash ^ Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593);
  return (Math.imul((turned << 13) | (turned >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return second ^ (second >>> 16);
}

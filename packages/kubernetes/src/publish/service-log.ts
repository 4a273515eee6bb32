/**
 * Which services of a cluster appeared or disappeared, and when; and the digest of the present ones, with its latest values. Its memory is
 * bounded: 4,096 changes of names take less than 600 KiB.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { ServiceObserver } from '@portolan/kernel/records/record-writer.ts';
import { ServiceDigest, ServiceHasher } from '@portolan/kernel/records/service-digest.ts';
import type { TableViews } from '@portolan/kernel/table/memory.ts';

/** A service that came or went. */
export interface ServiceChange {
  /** Milliseconds since 1970: when this server learned of it. */
  readonly at: number;
  readonly namespace: string;
  readonly name: string;
  readonly change: 'came' | 'went';
}

/** Learns of changes once the objects were listed, as they happen. */
export interface ServiceFollower {
  /** `changed`: another address, port or target. */
  serviceChanged(namespace: string, name: string, change: ServiceChange['change'] | 'changed'): void;
  /** @param before ready endpoints until now; the service may not exist */
  readyChanged(namespace: string, name: string, before: number, now: number): void;
}

/** A digest that was in force until `age` milliseconds ago. */
export interface FormerDigest {
  readonly digest: string;
  readonly age: number;
}

const MAX_CHANGES = 4_096;
/** Octets of two labels with their lengths. */
const KEY_OCTETS = 128;
const MAX_FORMER = 64;
const CAME = 1;
const WENT = 2;

export interface ServiceLogOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Whether changes are news: the services were listed once. */
  readonly isListed: () => boolean;
  /** The same for endpoints. */
  readonly areEndpointsListed: () => boolean;
}

export class ServiceLog implements ServiceObserver {
  readonly #options: ServiceLogOptions;
  readonly #hasher: ServiceHasher;
  readonly #digest = new ServiceDigest();
  /** Oldest first. */
  readonly #former: { digest: string; until: number }[] = [];
  readonly #times = new Float64Array(MAX_CHANGES);
  readonly #kinds = new Uint8Array(MAX_CHANGES);
  readonly #lengths = new Uint8Array(MAX_CHANGES);
  readonly #keys = new Uint8Array(MAX_CHANGES * KEY_OCTETS);
  /** Changes ever noted. */
  #count = 0;
  #follower: ServiceFollower | undefined;

  constructor(views: TableViews, options: ServiceLogOptions) {
    this.#options = options;
    this.#hasher = new ServiceHasher(views);
  }

  observeService(key: Uint8Array, before: number, after: number): void {
    const isNews = this.#options.isListed();
    if (isNews) this.#keepDigest();
    if (before !== 0) {
      this.#hasher.hash(key, before);
      this.#digest.subtract(this.#hasher);
    }
    if (after !== 0) {
      this.#hasher.hash(key, after);
      this.#digest.add(this.#hasher);
    }
    if (isNews && (before === 0) !== (after === 0)) this.#note(key, after === 0 ? WENT : CAME);
    if (!isNews || this.#follower === undefined) return;
    const { namespace, name } = namesOfKey(key);
    this.#follower.serviceChanged(namespace, name, before === 0 ? 'came' : after === 0 ? 'went' : 'changed');
  }

  observeReady(key: Uint8Array, before: number, now: number): void {
    if (this.#follower === undefined || !this.#options.areEndpointsListed()) return;
    const { namespace, name } = namesOfKey(key);
    this.#follower.readyChanged(namespace, name, before, now);
  }

  /** Calls back from now on. There is one follower; undefined ends it. */
  follow(follower: ServiceFollower | undefined): void {
    this.#follower = follower;
  }

  /** Of the names and the data of all services. */
  get digest(): string {
    return this.#digest.text;
  }

  /** The values that it had before, the latest first. */
  get formerDigests(): readonly FormerDigest[] {
    const now = this.#options.clock.monotonic();
    return this.#former.map(({ digest, until }) => ({ digest, age: now - until })).reverse();
  }

  /** The latest first. */
  *changes(): Iterable<ServiceChange> {
    for (let number = this.#count - 1; number >= this.#oldest; number--) {
      const place = number % MAX_CHANGES;
      const { name, namespace } = this.#namesAt(place);
      const change = this.#kinds[place] === CAME ? 'came' : 'went';
      yield { at: this.#times[place] ?? 0, namespace, name, change };
    }
  }

  /** When a service went, if that is the latest that is known of it: milliseconds since 1970. */
  goneSince(key: Uint8Array): number | undefined {
    for (let number = this.#count - 1; number >= this.#oldest; number--) {
      const place = number % MAX_CHANGES;
      if (!this.#isAt(place, key)) continue;
      return this.#kinds[place] === WENT ? this.#times[place] : undefined;
    }
    return undefined;
  }

  get #oldest(): number {
    return Math.max(0, this.#count - MAX_CHANGES);
  }

  #keepDigest(): void {
    const { clock } = this.#options;
    this.#former.push({ digest: this.#digest.text, until: clock.monotonic() });
    if (this.#former.length > MAX_FORMER) this.#former.shift();
  }

  #note(key: Uint8Array, kind: number): void {
    const place = this.#count % MAX_CHANGES;
    this.#times[place] = this.#options.clock.now();
    this.#kinds[place] = kind;
    this.#lengths[place] = key.length;
    this.#keys.set(key, place * KEY_OCTETS);
    this.#count += 1;
  }

  #isAt(place: number, key: Uint8Array): boolean {
    if (this.#lengths[place] !== key.length) return false;
    const from = place * KEY_OCTETS;
    for (let at = key.length - 1; at >= 0; at--) if (this.#keys[from + at] !== key[at]) return false;
    return true;
  }

  #namesAt(place: number): { readonly name: string; readonly namespace: string } {
    const from = place * KEY_OCTETS;
    return namesOfKey(this.#keys.subarray(from, from + (this.#lengths[place] ?? 0)));
  }
}

/** @param key two labels in wire form */
function namesOfKey(key: Uint8Array): { readonly name: string; readonly namespace: string } {
  const end = 1 + (key[0] ?? 0);
  const text = (from: number, to: number) => Buffer.from(key.subarray(from, to)).toString('latin1');
  return { name: text(1, end), namespace: text(end + 1, key.length) };
}

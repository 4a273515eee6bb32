/**
 * One `k8s_gateway` of a server block: its answers.
 */
import { type Context, isWithin, type Next, type Query, type Reply, type Rr } from '@portolan/plugin';
import { FollowedObjects, type Found } from './followed-objects.ts';
import { HostAddresses } from './host-addresses.ts';
import type { GatewayOptions } from './options.ts';

const TYPE = { A: 1, NS: 2, SOA: 6, TXT: 16, AAAA: 28 } as const;
/** Types whose answer says whether a name exists. For others, the original always says that it does. */
const DENIABLE: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.TXT];
/** Seconds: of SOA and NS, and of the addresses of name servers. */
const APEX_TTL = 60;
const SOA_TIMES = '12345 7200 1800 86400 60';
/** Milliseconds that the start waits for lists. Until then, names are answered SERVFAIL. */
const START_WAIT = 5_000;
const MAX_STRING = 255;

/** Records of a name, with names of load balancers resolved. */
interface Resolved {
  readonly addresses: readonly string[];
  readonly texts: readonly string[];
  /** Whether it depends on more than the cluster. */
  readonly isResolved: boolean;
}

const NOTHING: Resolved = { addresses: [], texts: [], isResolved: false };

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #context: Context;
  readonly #objects: FollowedObjects;
  readonly #hosts: HostAddresses;
  #listed: () => void = () => {};

  constructor(options: GatewayOptions, context: Context, hosts = new HostAddresses()) {
    this.#options = options;
    this.#context = context;
    this.#hosts = hosts;
    this.#objects = new FollowedObjects(options, context, () => {
      context.changed();
      if (this.#objects.isListed) this.#listed();
    });
  }

  get isListed(): boolean {
    return this.#objects.isListed;
  }

  async start(signal: AbortSignal): Promise<void> {
    const { unknownResources, resources } = this.#options;
    if (unknownResources.length > 0)
      this.#context.log.warn(`resources left out, because they are unknown: ${unknownResources.join(' ')}`);
    this.#context.log.info(`following ${resources.join(' ')}`);
    await this.#objects.start();
    await this.#waitUntilListed(signal);
  }

  stop(): void {
    this.#hosts.stop();
  }

  async handle(query: Query, next: Next): Promise<Reply> {
    const { zones, fallthrough } = this.#options;
    const zone = zones
      .filter((each) => isWithin(query.name, each))
      .reduce<string | undefined>(
        (best, each) => (best === undefined || each.length > best.length ? each : best),
        undefined,
      );
    if (zone === undefined) return await next(query);
    if (!this.isListed)
      return { kind: 'rcode', rcode: 2, reason: 'plugin/k8s_gateway: Could not sync required resources' };
    const place = new PlacedQuestion(query, zone, this.#options);
    if (place.isOfServer) return await this.#answerServer(place);
    const found = this.#find(place);
    if (found === undefined && fallthrough.some((each) => isWithin(query.name, each)))
      return await next(query);
    return await this.#answer(place, found === undefined ? NOTHING : await this.#resolve(found));
  }

  async #waitUntilListed(signal: AbortSignal): Promise<void> {
    if (this.isListed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, START_WAIT);
      this.#listed = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', this.#listed, { once: true });
    });
  }

  #find({ below, whole }: PlacedQuestion): Found | undefined {
    const own = this.#objects.find(below === '' ? [whole] : [whole, below]);
    if (own !== undefined || below === '') return own;
    return this.#objects.find([whole, below].map(asWildcard));
  }

  async #resolve({ addresses, hosts, texts }: Found): Promise<Resolved> {
    // A name of ours would lead back to here.
    const foreign = hosts.filter((host) => !this.#options.zones.some((zone) => isWithin(`${host}.`, zone)));
    const resolved = await Promise.all(foreign.map((host) => this.#hosts.of(host)));
    return {
      addresses: [...new Set([...addresses, ...resolved.flat()])],
      ...{ texts, isResolved: hosts.length > 0 },
    };
  }

  async #answer(place: PlacedQuestion, found: Resolved): Promise<Reply> {
    const { type } = place.query;
    const keep = found.isResolved ? 'never' : 'until-changed';
    if (type === TYPE.SOA) return { kind: 'records', records: [place.soa], keep };
    if (type === TYPE.NS && place.isApex) return await this.#answerServers(place);
    const records = place.records(found, this.#options.ttl);
    if (records.length > 0) return { kind: 'records', records, keep };
    const hasOther = found.addresses.length + found.texts.length > 0;
    const exists =
      place.isApex ||
      place.isAboveServer ||
      hasOther ||
      !DENIABLE.includes(type) ||
      this.#objects.hasBelow([place.whole, place.below]);
    return { kind: 'denied', exists, soa: place.soa, keep };
  }

  /** The name of this server, below the zone. */
  async #answerServer(place: PlacedQuestion): Promise<Reply> {
    const { apex } = this.#options;
    const isItself = place.below === apex;
    const found = isItself ? await this.#addressesOf(apex) : NOTHING;
    const records = place.records({ ...found, texts: [] }, APEX_TTL);
    const keep = found.isResolved ? 'never' : 'until-changed';
    if (records.length > 0) return { kind: 'records', records, keep };
    return { kind: 'denied', exists: isItself, soa: place.soa, keep };
  }

  /** NS of a zone, with the addresses of both servers. */
  async #answerServers(place: PlacedQuestion): Promise<Reply> {
    const { apex, secondary } = this.#options;
    const names = secondary === undefined ? [apex] : [apex, secondary];
    const records = names.map((name) => place.record(place.zone, TYPE.NS, APEX_TTL, `${name}.${place.zone}`));
    const found = await Promise.all(names.map((name) => this.#addressesOf(name)));
    const extra = found.flatMap(({ addresses }, index) =>
      addresses.map((address) =>
        place.record(`${names[index] ?? apex}.${place.zone}`, typeOf(address), APEX_TTL, address),
      ),
    );
    const keep = found.some(({ isResolved }) => isResolved) ? 'never' : 'until-changed';
    return { kind: 'records', records, extra, keep };
  }

  async #addressesOf(name: string): Promise<Resolved> {
    const found = this.#objects.find([name]);
    return found === undefined ? NOTHING : await this.#resolve(found);
  }
}

/** A question, and where its name is in a zone. */
class PlacedQuestion {
  readonly query: Query;
  /** With the capitals of the question. */
  readonly zone: string;
  readonly soa: Rr;
  /** The name in lower case, without the dot at its end. */
  readonly whole: string;
  /** The labels before the zone, without the dot at their end. */
  readonly below: string;
  readonly #apex: string;

  constructor(query: Query, zone: string, { apex }: GatewayOptions) {
    this.query = query;
    this.zone = query.name.slice(query.name.length - zone.length);
    this.whole = query.name.toLowerCase().slice(0, -1);
    this.below = query.name.toLowerCase().slice(0, -zone.length).replace(/\.$/, '');
    this.#apex = apex;
    const rest = this.zone === '.' ? '' : this.zone;
    const server = `${apex}.${rest}`;
    this.soa = this.record(this.zone, TYPE.SOA, APEX_TTL, `${server} hostmaster.${server} ${SOA_TIMES}`);
  }

  get isApex(): boolean {
    return this.below === '';
  }

  /** Whether the name is that of the server, or below it. */
  get isOfServer(): boolean {
    return this.below === this.#apex || this.below.endsWith(`.${this.#apex}`);
  }

  get isAboveServer(): boolean {
    return this.#apex.endsWith(`.${this.below}`);
  }

  /** The records that the question asks for. */
  records({ addresses, texts }: Omit<Resolved, 'isResolved'>, ttl: number): readonly Rr[] {
    const { name, type } = this.query;
    if (type === TYPE.TXT) return texts.map((text) => this.record(name, type, ttl, quote(text)));
    if (type !== TYPE.A && type !== TYPE.AAAA) return [];
    const fitting = addresses.filter((address) => typeOf(address) === type);
    return fitting.map((address) => this.record(name, type, ttl, address));
  }

  record(name: string, type: number, ttl: number, data: string): Rr {
    return { name, type, ttl, data };
  }
}

const typeOf = (address: string): number => (address.includes(':') ? TYPE.AAAA : TYPE.A);

/** `*` in place of the first label. */
function asWildcard(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '*' : `*${name.slice(dot)}`;
}

/** Strings of a TXT record, as in a zone file: each has 255 octets at most. */
function quote(text: string): string {
  const octets = Buffer.from(text);
  const pieces: string[] = [];
  for (let start = 0; start === 0 || start < octets.length; start += MAX_STRING) {
    const piece = [...octets.subarray(start, start + MAX_STRING)];
    pieces.push(`"${piece.map((octet) => `\\${String(octet).padStart(3, '0')}`).join('')}"`);
  }
  return pieces.join(' ');
}

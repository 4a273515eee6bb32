/**
 * One `k8s_gateway` of a server block: its answers.
 */
import {
  type AbsoluteName,
  type Answer,
  CLASS,
  type Context,
  isWithin,
  type NameKey,
  type Next,
  type Query,
  type RecordData,
  type ResourceRecord,
  STORED_ANSWERS,
  TYPE,
  toKey,
  toName,
} from '@portolan/plugin';
import { FollowedObjects, type Found } from './followed-objects.ts';
import { HostAddresses } from './host-addresses.ts';
import type { GatewayOptions } from './options.ts';

/** Types whose answer says whether a name exists. For others, the original always says that it does. */
const DENIABLE: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.TXT];
/** Seconds: of SOA and NS, and of the addresses of name servers. */
const APEX_TTL = 60;
const SOA_NUMBERS = { serial: 12_345, refresh: 7_200, retry: 1_800, expire: 86_400, minimum: 60 } as const;
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
    const stored = context.use(STORED_ANSWERS);
    this.#objects = new FollowedObjects(options, context, () => {
      stored.drop();
      if (this.#objects.isListed) this.#listed();
    });
  }

  get isListed(): boolean {
    return this.#objects.isListed;
  }

  async start(): Promise<void> {
    const { unknownResources, resources } = this.#options;
    if (unknownResources.length > 0)
      this.#context.log.warn(
        `plugin/k8s_gateway: resources left out, because they are unknown: ${unknownResources.join(' ')}`,
      );
    this.#context.log.info(`plugin/k8s_gateway: following ${resources.join(' ')}`);
    await this.#objects.start();
    await this.#waitUntilListed();
  }

  /** Waits for lists no longer. */
  proceed(): void {
    this.#listed();
  }

  stop(): void {
    this.#hosts.stop();
  }

  async handle(query: Query, next: Next): Promise<Answer> {
    const { zones, fallthrough } = this.#options;
    const zone = zones
      .filter((each) => isWithin(query.key, each))
      .reduce<NameKey | undefined>(
        (best, each) => (best === undefined || each.length > best.length ? each : best),
        undefined,
      );
    if (zone === undefined) return await next(query);
    if (!this.isListed)
      return { kind: 'servfail', reason: 'plugin/k8s_gateway: Could not sync required resources' };
    const place = new PlacedQuestion(query, zone, this.#options);
    if (place.isOfServer) return await this.#answerServer(place);
    const found = this.#find(place);
    if (found === undefined && fallthrough.some((each) => isWithin(query.key, each)))
      return await next(query);
    return await this.#answer(place, found === undefined ? NOTHING : await this.#resolve(found));
  }

  async #waitUntilListed(): Promise<void> {
    if (this.isListed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, START_WAIT);
      this.#listed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #find({ below, whole }: PlacedQuestion): Found | undefined {
    const own = this.#objects.find(below === '' ? [whole] : [whole, below]);
    if (own !== undefined || below === '') return own;
    return this.#objects.find([whole, below].map(asWildcard));
  }

  async #resolve({ addresses, hosts, texts }: Found): Promise<Resolved> {
    // A name of these zones would lead back to here.
    const foreign = hosts.filter((host) => !this.#options.zones.some((zone) => isWithin(toKey(host), zone)));
    const resolved = await Promise.all(foreign.map((host) => this.#hosts.of(host)));
    return {
      addresses: [...new Set([...addresses, ...resolved.flat()])],
      texts,
      isResolved: hosts.length > 0,
    };
  }

  async #answer(place: PlacedQuestion, found: Resolved): Promise<Answer> {
    const { type } = place.query.question;
    if (found.isResolved) place.query.forbidStoring();
    if (type === TYPE.SOA) return answerWith([place.soa]);
    if (type === TYPE.NS && place.isApex) return await this.#answerServers(place);
    const records = place.records(found, this.#options.ttl);
    if (records.length > 0) return answerWith(records);
    const hasOther = found.addresses.length + found.texts.length > 0;
    const exists =
      place.isApex ||
      place.isAboveServer ||
      hasOther ||
      !DENIABLE.includes(type) ||
      this.#objects.hasBelow([place.whole, place.below]);
    return place.deny(exists);
  }

  /** The name of this server, below the zone. */
  async #answerServer(place: PlacedQuestion): Promise<Answer> {
    const { apex } = this.#options;
    const isItself = place.below === apex;
    const found = isItself ? await this.#resolveName(apex) : NOTHING;
    if (found.isResolved) place.query.forbidStoring();
    const records = place.records({ ...found, texts: [] }, APEX_TTL);
    return records.length > 0 ? answerWith(records) : place.deny(isItself);
  }

  /** NS of a zone, with the addresses of both servers. */
  async #answerServers(place: PlacedQuestion): Promise<Answer> {
    const { apex, secondary } = this.#options;
    const names = secondary === undefined ? [apex] : [apex, secondary];
    const servers = names.map((name) => toName(`${name}.${place.zone}`));
    const records = servers.map((target) => toRecord(place.zone, APEX_TTL, { kind: 'NS', target }));
    const found = await Promise.all(names.map((name) => this.#resolveName(name)));
    const additionals = found.flatMap(({ addresses }, index) =>
      addresses.map((address) => toRecord(servers[index] ?? place.zone, APEX_TTL, toAddressData(address))),
    );
    if (found.some(({ isResolved }) => isResolved)) place.query.forbidStoring();
    return answerWith(records, additionals);
  }

  async #resolveName(name: string): Promise<Resolved> {
    const found = this.#objects.find([name]);
    return found === undefined ? NOTHING : await this.#resolve(found);
  }
}

/** A question, and where its name is in a zone. */
class PlacedQuestion {
  readonly query: Query;
  /** With the capitals of the question. */
  readonly zone: AbsoluteName;
  readonly soa: ResourceRecord;
  /** The name in lower case, without the dot at its end. */
  readonly whole: string;
  /** The labels before the zone, without the dot at their end. */
  readonly below: string;
  readonly #apex: string;

  constructor(query: Query, zone: NameKey, { apex }: GatewayOptions) {
    const { name } = query.question;
    this.query = query;
    this.zone = toName(name.slice(name.length - zone.length));
    this.whole = query.key.slice(0, -1);
    this.below = query.key.slice(0, -zone.length).replace(/\.$/, '');
    this.#apex = apex;
    const rest = this.zone === '.' ? '' : this.zone;
    this.soa = toRecord(this.zone, APEX_TTL, {
      kind: 'SOA',
      primary: toName(`${apex}.${rest}`),
      mailbox: toName(`hostmaster.${apex}.${rest}`),
      ...SOA_NUMBERS,
    });
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
  records({ addresses, texts }: Omit<Resolved, 'isResolved'>, ttl: number): readonly ResourceRecord[] {
    const { name, type } = this.query.question;
    if (type === TYPE.TXT)
      return texts.map((text) => toRecord(name, ttl, { kind: 'TXT', strings: cut(text) }));
    return addresses
      .map(toAddressData)
      .filter(({ kind }) => TYPE[kind] === type)
      .map((data) => toRecord(name, ttl, data));
  }

  deny(exists: boolean): Answer {
    return { kind: exists ? 'nodata' : 'nxdomain', aliases: [], soa: this.soa, authoritative: true };
  }
}

function toRecord(name: AbsoluteName, ttl: number, data: RecordData): ResourceRecord {
  return { name, class: CLASS.IN, ttl, data };
}

function answerWith(records: readonly ResourceRecord[], additionals: readonly ResourceRecord[] = []): Answer {
  return { kind: 'records', records, additionals, authoritative: true };
}

function toAddressData(address: string): Extract<RecordData, { kind: 'A' | 'AAAA' }> {
  return { kind: address.includes(':') ? 'AAAA' : 'A', address };
}

/** `*` in place of the first label. */
function asWildcard(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '*' : `*${name.slice(dot)}`;
}

/** The strings of a TXT record: each has 255 octets at most. */
function cut(text: string): readonly Uint8Array[] {
  const octets = Buffer.from(text);
  const pieces: Uint8Array[] = [];
  for (let start = 0; start === 0 || start < octets.length; start += MAX_STRING)
    pieces.push(octets.subarray(start, start + MAX_STRING));
  return pieces;
}

/**
 * Serves the zone `resolver.arpa` (RFC 9462 section 6.4, RFC 6303): SVCB records for our encrypted listeners at `_dns.resolver.arpa`, and
 * nothing else.
 *
 * A client that cannot use what a record says has no DNS. So a listener has none unless clients without a certificate of their own may use
 * it, its certificate is valid now, and one of its names has addresses that clients can look up here.
 */
import { readFileSync } from 'node:fs';
import { parseAddress } from '@portolan/dns/address.ts';
import { isWithin, parseKey } from '@portolan/dns/name.ts';
import type { ServiceParameter } from '@portolan/dns/service-binding-records.ts';
import { type AbsoluteName, CLASS, type RecordData, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler } from '@portolan/kernel/chain/handler.ts';
import { namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import { isLoopback } from '@portolan/kernel/listen/local-addresses.ts';
import { readFileSignature } from '@portolan/sources/resolv/file-times.ts';
import { type CertificateNames, readCertificateNames } from './certificate-names.ts';
import type { DiscoveryOptions, EncryptedListener } from './options.ts';

export interface DiscoveryDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly lookUp: Chain;
}

const ZONE = parseKey('resolver.arpa.');
const DESIGNATED = parseKey('_dns.resolver.arpa.');
/** Seconds. Addresses and certificates change. */
const TTL = 60;
/** Milliseconds, as `tls` looks at the files. */
const CHECK_MILLISECONDS = 10_000;
/** Addresses of a family that a record names. */
const MAX_HINTS = 8;

/** RFC 9460 section 14.3.2, RFC 9461. */
const KEY = { alpn: 1, port: 3, ipv4hint: 4, ipv6hint: 6, dohpath: 7 } as const;
/** What RFC 8484 section 4.1 calls the URI template, as our listeners take it. */
const DOH_PATH = '/dns-query{?dns}';
const ALPN = { tls: 'dot', https: 'h2' } as const;

/** A name with its addresses. */
interface KnownHost {
  readonly name: AbsoluteName;
  /** Address records, and the aliases before them. */
  readonly records: readonly ResourceRecord[];
}

interface Designated {
  readonly listener: EncryptedListener;
  signature: string;
  names: CertificateNames;
}

export class Discovery implements Plugin {
  readonly handler: Handler;
  readonly #dependencies: DiscoveryDependencies;
  readonly #wanted: AbsoluteName | undefined;
  readonly #designated: readonly Designated[];
  #timer: Timer | undefined;
  #isStopped = false;
  /** Names without addresses, of the last answer. */
  #unknown: readonly AbsoluteName[] = [];

  constructor({ name, listeners }: DiscoveryOptions, dependencies: DiscoveryDependencies) {
    this.#dependencies = dependencies;
    this.#wanted = name;
    this.#designated = [...listeners]
      .sort((one, other) => PRIORITIES[one.scheme] - PRIORITIES[other.scheme])
      .map((listener) => ({ listener, signature: '', names: NOT_READ }));
    this.handler = {
      name: 'discovery',
      role: 'other',
      answers: 'unchanged',
      questions: namesWithin(new Set([ZONE])),
      handle: (query, next) => (isWithin(query.key, ZONE) ? this.#answer(query) : next(query)),
    };
  }

  async start(): Promise<void> {
    for (const each of this.#designated) await this.#look(each);
    for (const { listener, names } of this.#designated)
      if (names.kind === 'nameless')
        this.#dependencies.log.warn(
          `plugin/portolan: discovery: clients do not learn of ${listener.server}: ${names.fault}`,
        );
    if (this.#designated.length > 0) this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  inspect(): PluginInspection {
    return { denial: { plugin: 'discovery', reason: this.#describe() } };
  }

  /** Why a client learns of no listener, or of not all. */
  #describe(): string {
    if (this.#designated.length === 0)
      return 'the server has no encrypted listener for the names of this block';
    const faults = this.#designated.flatMap(({ listener, names }) => {
      const fault = this.#findFault(names);
      return fault === undefined ? [] : `${listener.server}: ${fault}`;
    });
    const unknown = this.#unknown.map((name) => `no server block has an address for ${name}`);
    return [...faults, ...unknown].join('; ');
  }

  #findFault(names: CertificateNames): string | undefined {
    if (names.kind === 'nameless') return names.fault;
    const now = this.#dependencies.clock.now();
    if (now < names.from) return 'its certificate is not valid yet';
    return now < names.until ? undefined : 'its certificate has expired';
  }

  #lookLater(): void {
    if (this.#isStopped) return;
    this.#timer = this.#dependencies.clock.after(CHECK_MILLISECONDS, () => void this.#lookAtAll());
  }

  async #lookAtAll(): Promise<void> {
    for (const each of this.#designated) await this.#look(each);
    this.#lookLater();
  }

  /** Reads the certificate of a listener, if its file has changed. The listener keeps the former one while it cannot be read. */
  async #look(each: Designated): Promise<void> {
    const { certificate, clientAuthentication } = each.listener.tls;
    if (clientAuthentication === 'require' || clientAuthentication === 'require_and_verify') {
      each.names = { kind: 'nameless', fault: 'it is only for clients with a certificate' };
      return;
    }
    const signature = await readFileSignature([certificate]);
    if (signature === each.signature) return;
    try {
      each.names = readCertificateNames(readFileSync(certificate), this.#wanted);
      each.signature = signature;
    } catch (error) {
      if (each.names === NOT_READ) each.names = { kind: 'nameless', fault: describeError(error) };
    }
  }

  #answer(query: Query): Answer | Promise<Answer> {
    const { key, question } = query;
    if (key === DESIGNATED && question.type === TYPE.SVCB) return this.#designate(query);
    if (key === ZONE && question.type === TYPE.SOA) return toAnswer([makeSoa()]);
    if (key === ZONE && question.type === TYPE.NS)
      return toAnswer([makeRecord(question.name, { kind: 'NS', target: ZONE })]);
    return NODATA;
  }

  async #designate(query: Query): Promise<Answer> {
    // Certificates expire.
    query.forbidStoring();
    const targets = new Map<AbsoluteName, KnownHost | undefined>();
    const found: ResourceRecord[] = [];
    for (const { listener, names } of this.#designated) {
      if (names.kind === 'nameless' || this.#findFault(names) !== undefined) continue;
      const target = await this.#findTarget(query, names.names, targets);
      if (target !== undefined && mayReach(listener, target))
        found.push(makeDesignation(query.question.name, listener, target));
    }
    this.#unknown = found.length > 0 ? [] : [...targets.keys()];
    const additionals = [...targets.values()].flatMap((target) => target?.records ?? []);
    return found.length === 0 ? NODATA : toAnswer(found, additionals);
  }

  /** @param known those that were looked up for this query */
  async #findTarget(
    query: Query,
    names: readonly AbsoluteName[],
    known: Map<AbsoluteName, KnownHost | undefined>,
  ): Promise<KnownHost | undefined> {
    for (const name of names) {
      if (!known.has(name)) known.set(name, await this.#lookUp(query, name));
      const target = known.get(name);
      if (target !== undefined) return target;
    }
    return undefined;
  }

  async #lookUp(query: Query, name: AbsoluteName): Promise<KnownHost | undefined> {
    const records: ResourceRecord[] = [];
    for (const type of [TYPE.A, TYPE.AAAA]) {
      const further = query.furtherQuery({ name, type, class: CLASS.IN });
      const answer = further === undefined ? undefined : await this.#dependencies.lookUp(further);
      if (answer === undefined || answer.kind === 'drop') continue;
      const { answers } = toWholeAnswer(answer);
      if (answers.some(isAddress)) records.push(...answers);
    }
    return records.length === 0 ? undefined : { name, records };
  }
}

const PRIORITIES = { tls: 1, https: 2 } as const;
const NOT_READ: CertificateNames = { kind: 'nameless', fault: 'its certificate is not read yet' };

/** Clients elsewhere do not reach a listener on loopback. */
function mayReach({ address }: EncryptedListener, { records }: KnownHost): boolean {
  return !isLoopback(address) || records.some(({ data }) => 'address' in data && data.address === address);
}

function makeDesignation(
  owner: AbsoluteName,
  { scheme, port }: EncryptedListener,
  { name, records }: KnownHost,
): ResourceRecord {
  const parameters: ServiceParameter[] = [
    { key: KEY.alpn, value: Buffer.from(`${String.fromCharCode(ALPN[scheme].length)}${ALPN[scheme]}`) },
    { key: KEY.port, value: Uint8Array.of(port >> 8, port & 0xff) },
    ...makeHints(KEY.ipv4hint, records, 'A'),
    ...makeHints(KEY.ipv6hint, records, 'AAAA'),
    ...(scheme === 'https' ? [{ key: KEY.dohpath, value: Buffer.from(DOH_PATH) }] : []),
  ];
  const data = { kind: 'SVCB', priority: PRIORITIES[scheme], target: name, parameters } as const;
  return makeRecord(owner, data, Math.min(TTL, ...records.map(({ ttl }) => ttl)));
}

function makeHints(
  key: number,
  records: readonly ResourceRecord[],
  kind: 'A' | 'AAAA',
): readonly ServiceParameter[] {
  const addresses = records.flatMap(({ data }) =>
    data.kind === kind ? (parseAddress(data.address) ?? []) : [],
  );
  return addresses.length === 0 ? [] : [{ key, value: Buffer.concat(addresses.slice(0, MAX_HINTS)) }];
}

function isAddress({ data }: ResourceRecord): boolean {
  return data.kind === 'A' || data.kind === 'AAAA';
}

function toAnswer(records: readonly ResourceRecord[], additionals: readonly ResourceRecord[] = []): Answer {
  return { kind: 'records', records, additionals, authoritative: true };
}

function makeRecord(name: AbsoluteName, data: RecordData, ttl = TTL): ResourceRecord {
  return { name, class: CLASS.IN, ttl, data };
}

/** RFC 6303 section 3. */
function makeSoa(): ResourceRecord {
  return makeRecord(ZONE, {
    kind: 'SOA',
    primary: ZONE,
    mailbox: parseKey('nobody.invalid.'),
    serial: 1,
    refresh: 3600,
    retry: 1200,
    expire: 604_800,
    minimum: TTL,
  });
}

const NODATA: Answer = { kind: 'nodata', aliases: [], soa: makeSoa(), authoritative: true };

/**
 * The evaluation of one question by the rules of SkyDNS or CoreDNS, and the dependencies of its answer.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { countLabels, isWithin, joinName, splitLabels, toKey } from '@portolan/dns/name.ts';
import { type AbsoluteName, CLASS, type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { nameOfPath, type Selection, type Service, type ServiceLookup } from '../names/services.ts';

export type ServiceAnswer =
  | {
      readonly kind: 'records';
      readonly records: readonly ResourceRecord[];
      readonly additionals: readonly ResourceRecord[];
    }
  | { readonly kind: 'nodata' | 'nxdomain' }
  | { readonly kind: 'servfail'; readonly reason: string };

/** A name outside the zones, and the needed type. */
export interface OutsideQuestion {
  readonly name: AbsoluteName;
  readonly type: number;
}

/** Answers from other servers: the records, empty for a negative answer. Undefined: not known. */
export type OutsideAnswers = (question: OutsideQuestion) => OutsideAnswer | undefined;

export interface OutsideAnswer {
  readonly rcode: number;
  readonly records: readonly ResourceRecord[];
}

/** A name has no keys, or a bad one. */
export class NameFailure extends Error {
  override readonly name = 'NameFailure';
  readonly failure: 'missing' | 'bad';

  constructor(failure: 'missing' | 'bad') {
    super(failure);
    this.failure = failure;
  }
}

/** Octets of a character string (RFC 1035 section 3.3). */
const MAX_STRING = 255;
const BACKSLASH = 0x5c;

const NOTHING_OUTSIDE: OutsideAnswers = () => undefined;

export class Evaluation {
  readonly #names: ServiceLookup;
  readonly #outside: OutsideAnswers;
  /** Outside names whose records the answer lacks. */
  readonly wanted: OutsideQuestion[] = [];
  /** Whether the answer depends on keys of other names. */
  usesOthers = false;
  /** Whether a TTL in the answer depends on the time. */
  isTimed = false;

  constructor(names: ServiceLookup, outside: OutsideAnswers = NOTHING_OUTSIDE) {
    this.#names = names;
    this.#outside = outside;
  }

  /** @throws NameFailure */
  services(name: AbsoluteName, selection: Selection): readonly Service[] {
    const found = this.#names.find(name, selection, () => {
      this.isTimed = true;
    });
    if (found.kind !== 'found') throw new NameFailure(found.kind);
    return found.services;
  }

  /** The answer of other servers for a name that is not ours. Undefined: not known yet. */
  outside(name: AbsoluteName, type: number): OutsideAnswer | undefined {
    const answer = this.#outside({ name, type });
    if (answer === undefined) this.wanted.push({ name, type });
    return answer;
  }
}

/** The address record of a service under a name. @returns undefined if its host is not an address of the family */
export function addressRecord(
  service: Service,
  owner: AbsoluteName,
  family: 4 | 6,
): ResourceRecord | undefined {
  const { host, ttl } = service;
  if (host.kind !== 'address' || host.family !== family) return undefined;
  const address = formatAddress(host.octets);
  const data = { kind: family === 4 ? 'A' : 'AAAA', address } as const;
  return { name: owner, class: CLASS.IN, ttl, data };
}

export function anyAddressRecord(service: Service, owner: AbsoluteName): ResourceRecord | undefined {
  return addressRecord(service, owner, 4) ?? addressRecord(service, owner, 6);
}

export function aliasRecord({ ttl }: Service, owner: AbsoluteName, target: AbsoluteName): ResourceRecord {
  return { name: owner, class: CLASS.IN, ttl, data: { kind: 'CNAME', target } };
}

export function serviceRecord(
  service: Service,
  owner: AbsoluteName,
  target: AbsoluteName,
  weight: number,
): ResourceRecord {
  const priority = service.priority & 0xffff;
  const port = service.port & 0xffff;
  const data = { kind: 'SRV', priority, weight, port, target } as const;
  return { name: owner, class: CLASS.IN, ttl: service.ttl, data };
}

export function mailRecord(
  { priority, ttl }: Service,
  owner: AbsoluteName,
  exchange: AbsoluteName,
): ResourceRecord {
  return { name: owner, class: CLASS.IN, ttl, data: { kind: 'MX', preference: priority & 0xffff, exchange } };
}

/** The addresses of a name that is not ours. */
export function outsideAddresses(evaluation: Evaluation, name: AbsoluteName): readonly ResourceRecord[] {
  const ipv4 = evaluation.outside(name, TYPE.A)?.records ?? [];
  const ipv6 = evaluation.outside(name, TYPE.AAAA)?.records ?? [];
  return [...ipv4, ...ipv6.filter(({ data }) => data.kind !== 'CNAME')];
}

/** Records of another name of the zones; empty if its keys are missing or bad. */
export function othersRecords(
  evaluation: Evaluation,
  read: () => readonly ResourceRecord[],
): readonly ResourceRecord[] {
  evaluation.usesOthers = true;
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NameFailure)) throw error;
    return [];
  }
}

/** A text in pieces of 255 octets; after a multiple of 255 octets an empty piece follows. Unescapes the pieces. */
export function textRecord({ text, ttl }: Service, owner: AbsoluteName): ResourceRecord {
  const octets = Buffer.from(text, 'utf8');
  const strings: Uint8Array[] = [];
  for (let start = 0; start <= octets.length; start += MAX_STRING)
    strings.push(readEscapes(octets.subarray(start, start + MAX_STRING)));
  return { name: owner, class: CLASS.IN, ttl, data: { kind: 'TXT', strings } };
}

/** `\DDD` and `\X` as in zone files (RFC 1035 section 5.1). */
function readEscapes(octets: Buffer): Uint8Array {
  if (!octets.includes(BACKSLASH)) return octets;
  const read: number[] = [];
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at] ?? 0;
    if (octet !== BACKSLASH) {
      read.push(octet);
      continue;
    }
    const digits = /^\d{3}/.exec(octets.toString('latin1', at + 1, at + 4))?.[0];
    if (digits !== undefined) read.push(Number(digits) & 0xff);
    else if (at + 1 < octets.length) read.push(octets[at + 1] ?? 0);
    at += digits === undefined ? 1 : 3;
  }
  return Uint8Array.from(read);
}

/** The target name of a service: its host, or the name of its key if the host is an address. */
export function targetName(service: Service): AbsoluteName | undefined {
  const { host, name, path } = service;
  return host.kind === 'name' ? host.name : (name ?? nameOfPath(path));
}

/** The name without its first `count` labels. A count of all its labels or more removes none. */
export function stripLabels(name: AbsoluteName, count: number): AbsoluteName {
  if (count <= 0 || count >= countLabels(name)) return name;
  // A name without its first labels is a name.
  return `${splitLabels(name).slice(count).join('.')}.` as AbsoluteName;
}

/** The weight of each service: its share of the sum of its priority, in percent. */
export function computeWeights(services: readonly Service[], min: number): (service: Service) => number {
  const sums = new Map<number, number>();
  for (const { priority, weight } of services)
    sums.set(priority, (sums.get(priority) ?? 0) + (weight === 0 ? 100 : weight));
  return ({ priority, weight }) => {
    const share = (100 / (sums.get(priority) ?? 0)) * (weight === 0 ? 100 : weight);
    const floor = Math.floor(share);
    // As a conversion to 16 bits: NaN and infinity become 0.
    return Math.max(min, Number.isFinite(floor) ? floor & 0xffff : 0);
  };
}

/**
 * The services of one group: the group of the shortest key. Services without a group belong to all groups. If the shortest keys
 * disagree, all services count.
 */
export function selectGroup(services: readonly Service[]): readonly Service[] {
  const [first] = services;
  if (first === undefined || services.length === 1) return services;
  let { group } = first;
  let shortest = first.path.length;
  const lengths = new Array<number>(services.length).fill(-1);
  for (const [index, service] of services.entries()) {
    lengths[index] = service.path.length;
    if (service.path.length >= shortest) continue;
    if (service.group === '') break;
    shortest = service.path.length;
    group = service.group;
  }
  if (group === '') return services;
  const disagrees = (service: Service, index: number) =>
    service.group !== '' && service.group !== group && lengths[index] === shortest;
  if (services.some(disagrees)) return services;
  return services.filter((service) => service.group === '' || service.group === group);
}

export function isAtOrBelow(name: AbsoluteName, ancestor: AbsoluteName): boolean {
  return isWithin(toKey(name), toKey(ancestor));
}

/** A special name of a zone, used for its SOA record and its name servers. */
export function specialName(label: 'apex' | 'ns', zone: NameKey): AbsoluteName {
  return joinName(label, joinName('dns', zone));
}

/** Runs a rule. A name without keys is NXDOMAIN, a bad value SERVFAIL. */
export function evaluate(run: () => ServiceAnswer): ServiceAnswer {
  try {
    const answer = run();
    return answer.kind === 'records' && answer.records.length === 0 ? { kind: 'nodata' } : answer;
  } catch (error) {
    if (!(error instanceof NameFailure)) throw error;
    if (error.failure === 'missing') return { kind: 'nxdomain' };
    return { kind: 'servfail', reason: 'the value of a key is no record' };
  }
}

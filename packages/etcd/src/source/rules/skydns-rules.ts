/**
 * Answers by the rules of SkyDNS.
 *
 * Where its two backends differ, or its answers are wrong, the rules here are the sensible ones: keys are parts of a path, a name
 * without keys does not exist, leases limit TTLs. docs/reference/etcd.md lists the differences.
 */
import { toKey } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { Service } from '../names/services.ts';
import {
  addressRecord,
  aliasRecord,
  anyAddressRecord,
  computeWeights,
  type Evaluation,
  evaluate,
  isAtOrBelow,
  mailRecord,
  NameFailure,
  othersRecords,
  outsideAddresses,
  type ServiceAnswer,
  selectGroup,
  serviceRecord,
  specialName,
  stripLabels,
  targetName,
  textRecord,
} from './evaluation.ts';

export interface SkyDnsRules {
  /** Seconds: maximum TTL of an answer with several records. */
  readonly ttl: number;
}

interface Zoned {
  readonly evaluation: Evaluation;
  readonly zone: NameKey;
}

type WantedAddresses = 'A' | 'AAAA' | 'both';

const MAX_ALIASES = 7;

/** @param name of a question within the zone, in its original case; any type except SOA */
export function answerAsSkyDns(
  evaluation: Evaluation,
  zone: NameKey,
  { name, type }: { readonly name: AbsoluteName; readonly type: number },
  { ttl }: SkyDnsRules,
): ServiceAnswer {
  const zoned = { evaluation, zone };
  const answer = evaluate(() => {
    switch (type) {
      case TYPE.A:
        return { kind: 'records', records: follow(zoned, name, 'A', []), additionals: [] };
      case TYPE.AAAA:
        return { kind: 'records', records: follow(zoned, name, 'AAAA', []), additionals: [] };
      case TYPE.TXT:
        return answerText(zoned, name);
      case TYPE.SRV:
        return answerServices(zoned, name);
      case TYPE.MX:
        return answerMail(zoned, name);
      case TYPE.CNAME:
        return answerAlias(zoned, name);
      case TYPE.NS:
        if (toKey(name) === zone) return answerNameServers(zoned, name);
        break;
    }
    selectServices(zoned, name);
    return { kind: 'nodata' };
  });
  return withOneTtl(withoutDuplicates(answer), ttl);
}

/** Answers for a reverse name of an address: only from the key of exactly that name. */
export function answerReverseAsSkyDns(
  evaluation: Evaluation,
  { name }: { readonly name: AbsoluteName },
): ServiceAnswer {
  return evaluate(() => {
    const [service] = evaluation.services(toKey(name), 'exact');
    const { host, ttl } = service ?? {};
    if (host?.kind !== 'name' || ttl === undefined) return { kind: 'nxdomain' };
    const data = { kind: 'PTR', target: host.name } as const;
    return { kind: 'records', records: [{ name, class: CLASS.IN, ttl, data }], additionals: [] };
  });
}

function selectServices({ evaluation }: Zoned, name: AbsoluteName): readonly Service[] {
  return selectGroup(evaluation.services(toKey(name), 'all'));
}

function follow(
  zoned: Zoned,
  name: AbsoluteName,
  family: WantedAddresses,
  aliases: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  return selectServices(zoned, name).flatMap((service) => {
    if (service.host.kind === 'name') return followAlias(zoned, service, name, family, aliases);
    const ipv4 = family === 'AAAA' ? undefined : addressRecord(service, name, 4);
    const ipv6 = family === 'A' ? undefined : addressRecord(service, name, 6);
    return ipv4 ?? ipv6 ?? [];
  });
}

function followAlias(
  zoned: Zoned,
  service: Service,
  name: AbsoluteName,
  family: WantedAddresses,
  aliases: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  const { evaluation, zone } = zoned;
  if (service.host.kind !== 'name' || toKey(service.host.name) === toKey(name)) return [];
  const target = service.host.name;
  const alias = aliasRecord(service, name, target);
  const isKnown = aliases.some(({ data }) => data.kind === 'CNAME' && data.target === target);
  if (aliases.length > MAX_ALIASES || isKnown) return [];
  evaluation.usesOthers = true;
  try {
    const records = follow(zoned, target, family, [...aliases, alias]);
    return records.length === 0 ? [] : [alias, ...records];
  } catch (error) {
    if (!(error instanceof NameFailure)) throw error;
  }
  if (isAtOrBelow(target, zone)) return [];
  const answer = evaluation.outside(target, family === 'AAAA' ? TYPE.AAAA : TYPE.A);
  return answer?.rcode === RCODE.NOERROR ? [alias, ...answer.records] : [];
}

function answerText(zoned: Zoned, name: AbsoluteName): ServiceAnswer {
  const services = selectServices(zoned, name).filter(({ text }) => text !== '');
  return { kind: 'records', records: services.map((service) => textRecord(service, name)), additionals: [] };
}

function answerAlias({ evaluation }: Zoned, name: AbsoluteName): ServiceAnswer {
  // Throws if the name does not exist. A name with keys only below it exists, and is not an alias.
  evaluation.services(toKey(name), 'all');
  try {
    const [service] = evaluation.services(toKey(name), 'exact');
    if (service?.host.kind !== 'name') return { kind: 'nodata' };
    return { kind: 'records', records: [aliasRecord(service, name, service.host.name)], additionals: [] };
  } catch (error) {
    if (error instanceof NameFailure && error.failure === 'missing') return { kind: 'nodata' };
    throw error;
  }
}

function answerServices(zoned: Zoned, name: AbsoluteName): ServiceAnswer {
  const services = selectServices(zoned, name);
  const computeWeight = computeWeights(services, 0);
  const records: ResourceRecord[] = [];
  const targets = new SkyDnsTargets(zoned);
  for (const service of services) {
    const whole = targetName(service);
    if (service.host.kind === 'none' || whole === undefined) continue;
    const target = stripLabels(whole, service.targetStrip);
    records.push(serviceRecord(service, name, target, computeWeight(service)));
    targets.add(service, target, target);
  }
  return { kind: 'records', records, additionals: targets.additionals };
}

/** Ignores groups. */
function answerMail(zoned: Zoned, name: AbsoluteName): ServiceAnswer {
  const records: ResourceRecord[] = [];
  const targets = new SkyDnsTargets(zoned);
  for (const service of zoned.evaluation.services(toKey(name), 'all')) {
    const whole = targetName(service);
    if (!service.mail || service.host.kind === 'none' || whole === undefined) continue;
    const exchange = stripLabels(whole, service.targetStrip);
    records.push(mailRecord(service, name, exchange));
    targets.add(service, exchange, service.host.kind === 'name' ? exchange : whole);
  }
  return { kind: 'records', records, additionals: targets.additionals };
}

/** Collects the addresses of targets, of both families. */
class SkyDnsTargets {
  readonly additionals: ResourceRecord[] = [];
  readonly #zoned: Zoned;
  readonly #lookedUp = new Set<AbsoluteName>();

  constructor(zoned: Zoned) {
    this.#zoned = zoned;
  }

  /** @param owner of the address of a service that has one */
  add(service: Service, target: AbsoluteName, owner: AbsoluteName): void {
    const record = anyAddressRecord(service, owner);
    if (record !== undefined) this.additionals.push(record);
    else if (!this.#lookedUp.has(target)) this.#lookUp(target);
  }

  #lookUp(target: AbsoluteName): void {
    const { evaluation, zone } = this.#zoned;
    this.#lookedUp.add(target);
    const records = isAtOrBelow(target, zone)
      ? othersRecords(evaluation, () => follow(this.#zoned, target, 'both', []))
      : outsideAddresses(evaluation, target);
    this.additionals.push(...records);
  }
}

function answerNameServers(zoned: Zoned, name: AbsoluteName): ServiceAnswer {
  const records: ResourceRecord[] = [];
  const additionals: ResourceRecord[] = [];
  for (const service of selectServices(zoned, specialName('ns', zoned.zone))) {
    const target = targetName(service);
    if (target === undefined) continue;
    // A name server without an address in its key makes the whole answer empty.
    const address = anyAddressRecord(service, target);
    if (address === undefined) return { kind: 'nodata' };
    records.push({ name, class: CLASS.IN, ttl: service.ttl, data: { kind: 'NS', target } });
    additionals.push(address);
  }
  return { kind: 'records', records, additionals };
}

/** Keeps one alias per name, the last, and removes duplicate records. */
function withoutDuplicates(answer: ServiceAnswer): ServiceAnswer {
  if (answer.kind !== 'records') return answer;
  return { ...answer, records: unique(answer.records), additionals: unique(answer.additionals) };
}

function unique(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
  if (records.length < 2) return records;
  const byKey = new Map<string, ResourceRecord>();
  for (const record of records) {
    const { name, data } = record;
    byKey.set(data.kind === 'CNAME' ? `${name} CNAME` : `${name} ${JSON.stringify(data)}`, record);
  }
  return byKey.size === records.length ? records : [...byKey.values()];
}

/** Gives all records of an answer with several the lowest TTL among them. */
function withOneTtl(answer: ServiceAnswer, max: number): ServiceAnswer {
  if (answer.kind !== 'records' || answer.records.length < 2) return answer;
  const ttl = Math.min(max, ...answer.records.map((record) => record.ttl));
  return { ...answer, records: answer.records.map((record) => ({ ...record, ttl })) };
}

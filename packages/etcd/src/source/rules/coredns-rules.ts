/**
 * Answers by the rules of CoreDNS's plugin `etcd`.
 */
import { toKey } from '@portolan/dns/name.ts';
import { type AbsoluteName, CLASS, type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Selection, Service } from '../names/services.ts';
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

export interface CoreDnsRules {
  /**
   * Whether a record with a text and a host name is also an alias. CoreDNS serves only the text, and loses the CNAME records
   * that external-dns writes.
   */
  readonly aliasesBesideText: boolean;
}

/** One more alias than this is followed. */
const MAX_ALIASES = 10;

type FollowedType = typeof TYPE.A | typeof TYPE.AAAA | typeof TYPE.TXT;

interface ZonedByRules {
  readonly evaluation: Evaluation;
  readonly zone: NameKey;
  readonly rules: CoreDnsRules;
}

/**
 * @param name of a question within the zone, in its original case; any type except SOA
 */
export function answerAsCoreDns(
  evaluation: Evaluation,
  zone: NameKey,
  { name, type }: { readonly name: AbsoluteName; readonly type: number },
  rules: CoreDnsRules,
): ServiceAnswer {
  const zoned = { evaluation, zone, rules };
  return evaluate(() => {
    switch (type) {
      case TYPE.A:
      case TYPE.AAAA:
      case TYPE.TXT:
        return { kind: 'records', records: follow(zoned, name, type, []), additionals: [] };
      case TYPE.SRV:
        return answerServices(zoned, name);
      case TYPE.MX:
        return answerMail(zoned, name);
      case TYPE.CNAME:
        return answerAlias(zoned, name);
      case TYPE.PTR:
        return answerPointer(zoned, name);
      case TYPE.NS:
        if (toKey(name) === zone) return answerNameServers(zoned, name);
        break;
    }
    // Throws if the name does not exist.
    addressServices(zoned, name);
    return { kind: 'nodata' };
  });
}

function selectServices(
  { evaluation }: ZonedByRules,
  name: AbsoluteName,
  type: number,
  selection: Selection = 'below-or-exact',
) {
  const services = evaluation.services(toKey(name), selection);
  return selectGroup(
    services.filter(({ hostText, text }) => hostText !== '' || (type === TYPE.TXT && text !== '')),
  );
}

/** The services of the apex are under a special name; without that, all of the zone count. */
function addressServices(zoned: ZonedByRules, name: AbsoluteName, type: number = TYPE.A): readonly Service[] {
  if (toKey(name) !== zoned.zone) return selectServices(zoned, name, type);
  try {
    return selectServices(zoned, specialName('apex', zoned.zone), type);
  } catch (error) {
    if (!(error instanceof NameFailure) || error.failure === 'bad') throw error;
    return selectServices(zoned, name, type);
  }
}

/** The records of a type, with aliases followed. @param aliases followed so far */
function follow(
  zoned: ZonedByRules,
  name: AbsoluteName,
  type: FollowedType,
  aliases: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  const services = type === TYPE.TXT ? selectServices(zoned, name, type) : addressServices(zoned, name, type);
  const records: ResourceRecord[] = [];
  const seen = new Set<string>();
  for (const service of services) {
    const key = type === TYPE.TXT ? service.text : service.hostText;
    const record = ownRecord(service, name, type);
    if (record !== undefined) {
      if (!seen.has(key)) records.push(record);
      seen.add(key);
    } else records.push(...followAlias(zoned, service, name, type, aliases));
  }
  return records;
}

function ownRecord(service: Service, name: AbsoluteName, type: FollowedType) {
  if (type === TYPE.A) return addressRecord(service, name, 4);
  if (type === TYPE.AAAA) return addressRecord(service, name, 6);
  const { host, text } = service;
  return host.kind !== 'address' && text !== '' ? textRecord(service, name) : undefined;
}

/** Whether the host of a service is a name to follow. */
function isAlias({ rules }: ZonedByRules, { host, text }: Service): boolean {
  return host.kind === 'name' && (text === '' || rules.aliasesBesideText);
}

function followAlias(
  zoned: ZonedByRules,
  service: Service,
  name: AbsoluteName,
  type: FollowedType,
  aliases: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  const { evaluation, zone } = zoned;
  const { host } = service;
  // A target below the name would be an alias of itself, since the name includes all keys below it.
  if (host.kind !== 'name' || !isAlias(zoned, service) || isAtOrBelow(host.name, name)) return [];
  const alias = aliasRecord(service, name, host.name);
  if (aliases.length > MAX_ALIASES || leadsTo(aliases, host.name)) return [];
  if (!isAtOrBelow(host.name, zone)) {
    const answer = evaluation.outside(host.name, type);
    return answer === undefined ? [] : [alias, ...answer.records];
  }
  const records = othersRecords(evaluation, () => follow(zoned, host.name, type, [...aliases, alias]));
  return records.length === 0 ? [] : [alias, ...records];
}

function leadsTo(aliases: readonly ResourceRecord[], target: AbsoluteName): boolean {
  return aliases.some(({ data }) => data.kind === 'CNAME' && data.target === target);
}

function answerServices(zoned: ZonedByRules, name: AbsoluteName): ServiceAnswer {
  const services = selectServices(zoned, name, TYPE.SRV);
  const computeWeight = computeWeights(services, 1);
  const records: ResourceRecord[] = [];
  const targets = new CoreDnsTargets(zoned);
  for (const service of services) {
    if (service.port === -1) continue;
    const target = findTarget(zoned, service);
    if (target === undefined) continue;
    const isNew = service.host.kind === 'name' || targets.isNew(target, service.port & 0xffff);
    if (isNew) records.push(serviceRecord(service, name, target, computeWeight(service)));
    targets.add(service, target, target);
  }
  return { kind: 'records', records, additionals: targets.additionals };
}

function answerMail(zoned: ZonedByRules, name: AbsoluteName): ServiceAnswer {
  const services = selectServices(zoned, name, TYPE.MX);
  const records: ResourceRecord[] = [];
  const targets = new CoreDnsTargets(zoned);
  for (const service of services) {
    if (!service.mail) continue;
    const exchange = findTarget(zoned, service);
    const whole = targetName(service);
    if (exchange === undefined || whole === undefined) continue;
    const isNew = service.host.kind === 'name' || targets.isNew(exchange, service.priority & 0xffff);
    if (isNew) records.push(mailRecord(service, name, exchange));
    targets.add(service, exchange, service.host.kind === 'name' ? exchange : whole);
  }
  return { kind: 'records', records, additionals: targets.additionals };
}

/** The target of a service; undefined without a usable host. */
function findTarget(zoned: ZonedByRules, service: Service): AbsoluteName | undefined {
  if (service.host.kind === 'none' || (service.host.kind === 'name' && !isAlias(zoned, service)))
    return undefined;
  const name = targetName(service);
  return name && stripLabels(name, service.targetStrip);
}

/** Collects the addresses of targets without duplicates. */
class CoreDnsTargets {
  readonly additionals: ResourceRecord[] = [];
  readonly #zoned: ZonedByRules;
  readonly #lookedUp = new Set<AbsoluteName>();
  readonly #records = new Set<string>();

  constructor(zoned: ZonedByRules) {
    this.#zoned = zoned;
  }

  /** Whether a target is new with this port or preference. */
  isNew(target: AbsoluteName, number: number): boolean {
    return this.#isNew(`${number} ${target}`);
  }

  /** @param owner of the address of a service that has one */
  add(service: Service, target: AbsoluteName, owner: AbsoluteName): void {
    if (service.host.kind === 'name') this.#lookUp(target);
    else if (this.#isNew(`address ${owner} ${service.hostText}`)) {
      const record = anyAddressRecord(service, owner);
      if (record !== undefined) this.additionals.push(record);
    }
  }

  #isNew(key: string): boolean {
    const isNew = !this.#records.has(key);
    this.#records.add(key);
    return isNew;
  }

  #lookUp(target: AbsoluteName): void {
    const { evaluation, zone } = this.#zoned;
    if (this.#lookedUp.has(target)) return;
    this.#lookedUp.add(target);
    const records = isAtOrBelow(target, zone)
      ? othersRecords(evaluation, () => follow(this.#zoned, target, TYPE.A, []))
      : outsideAddresses(evaluation, target);
    this.additionals.push(...records);
  }
}

function answerAlias(zoned: ZonedByRules, name: AbsoluteName): ServiceAnswer {
  const [service] = selectServices(zoned, name, TYPE.CNAME, 'exact');
  const { host } = service ?? {};
  if (service === undefined || host?.kind !== 'name') return { kind: 'nodata' };
  return { kind: 'records', records: [aliasRecord(service, name, host.name)], additionals: [] };
}

function answerPointer(zoned: ZonedByRules, name: AbsoluteName): ServiceAnswer {
  const records: ResourceRecord[] = [];
  for (const { host, ttl } of selectServices(zoned, name, TYPE.PTR, 'exact'))
    if (host.kind === 'name')
      records.push({ name, class: CLASS.IN, ttl, data: { kind: 'PTR', target: host.name } });
  return { kind: 'records', records, additionals: [] };
}

function answerNameServers(zoned: ZonedByRules, name: AbsoluteName): ServiceAnswer {
  const records: ResourceRecord[] = [];
  const additionals: ResourceRecord[] = [];
  const seen = new Set<AbsoluteName>();
  for (const service of selectServices(zoned, specialName('ns', zoned.zone), TYPE.NS)) {
    if (service.host.kind !== 'address') {
      // A service with a text is not a name server.
      if (service.text !== '') continue;
      return { kind: 'servfail', reason: `a name server must be given by its address: ${service.hostText}` };
    }
    const whole = targetName(service);
    if (whole === undefined) continue;
    const target = stripLabels(whole, service.targetStrip);
    const address = anyAddressRecord(service, target);
    if (address !== undefined) additionals.push(address);
    if (seen.has(target)) continue;
    seen.add(target);
    records.push({ name, class: CLASS.IN, ttl: service.ttl, data: { kind: 'NS', target } });
  }
  return { kind: 'records', records, additionals };
}

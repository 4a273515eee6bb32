/**
 * An external zone: its apex, its name server, and all its records for transfers.
 */
import { isWithin, labelsBelow, parseName } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  type NameKey,
  type Question,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { StartOfAuthority } from '@portolan/kernel/zone/zone.ts';
import { canonicalAddresses } from '../../names/endpoints.ts';
import type { NamespacedName } from '../../records/record-views.ts';
import type { ExposedCluster } from '../kubernetes/kubernetes-plugin.ts';
import {
  addressRecord,
  addressRecords,
  aliasRecords,
  type ExternalTtls,
  makeRecord,
  serviceRecords,
} from './external-records.ts';
import type { K8sExternalOptions } from './options.ts';
import type { ServiceFinder } from './reached-services.ts';

const REFRESH = 7200;
const RETRY = 1800;
const EXPIRE = 86_400;
const NAMESERVER = 'ns1';

export interface ExternalZoneParts {
  readonly options: Pick<K8sExternalOptions, 'apex' | 'hasEndpoints'>;
  readonly ttls: ExternalTtls;
  readonly exposed: ExposedCluster;
  readonly finder: ServiceFinder;
  /** The serial number now. */
  readonly serial: () => number;
}

export class ExternalZone {
  readonly origin: NameKey;
  readonly #parts: ExternalZoneParts;
  /** `dns` below the zone. */
  readonly #apex: NameKey;
  readonly #nameserver: AbsoluteName;

  /** @throws NameError if the name of the name server is too long */
  constructor(origin: NameKey, parts: ExternalZoneParts) {
    this.origin = origin;
    this.#parts = parts;
    const below = origin === '.' ? '' : origin;
    // Labels in lower case before a zone.
    this.#apex = parseName(`${parts.options.apex}.${below}`) as string as NameKey;
    this.#nameserver = parseName(`${NAMESERVER}.${this.#apex}`);
  }

  get soa(): ResourceRecord {
    const { ttls, serial } = this.#parts;
    const data: StartOfAuthority = {
      kind: 'SOA',
      primary: this.#nameserver,
      mailbox: parseName(`hostmaster.${this.#apex}`),
      serial: serial(),
      refresh: REFRESH,
      retry: RETRY,
      expire: EXPIRE,
      minimum: ttls.own,
    };
    return makeRecord(this.origin, ttls.own, data);
  }

  /** The labels of a name below the zone. @param name in it */
  listRelativeLabels(name: NameKey): readonly string[] {
    return labelsBelow(name, this.origin);
  }

  /** Answers for the zone's own name and those of its name server; undefined: the name is of the cluster. */
  answerOwn(key: NameKey, question: Question): Answer | undefined {
    if (key === this.origin) return this.#answerApex(question);
    if (!isWithin(key, this.#apex)) return undefined;
    if (key === this.#apex) return this.denial('nodata');
    if (key !== (this.#nameserver as string)) return this.denial('nxdomain');
    const kind = question.type === TYPE.A ? 'A' : 'AAAA';
    const records = this.#addresses(question.name).filter(({ data }) => data.kind === kind);
    const isAddress = question.type === TYPE.A || question.type === TYPE.AAAA;
    return isAddress && records.length > 0 ? answerWith(records) : this.denial('nodata');
  }

  denial(kind: 'nodata' | 'nxdomain'): Answer {
    return { kind, aliases: [], soa: this.soa, authoritative: true };
  }

  /** All records but the SOA record. A change meanwhile has a later serial number, so that secondary servers ask again. */
  *records(): Iterable<ResourceRecord> {
    const { finder, ttls } = this.#parts;
    yield this.#nameserverRecord(this.origin);
    yield* this.#addresses(this.#nameserver);
    for (const labels of finder.names()) {
      const found = finder.find(labels);
      if (found.kind !== 'found') continue;
      const name = parseName(`${labels.join('.')}.${this.origin === '.' ? '' : this.origin}`);
      const isOfPort = labels[0]?.startsWith('_') === true;
      const aliases = isOfPort ? [] : aliasRecords(name, found.ports, ttls, false);
      yield* aliases;
      // An alias has no other records (RFC 2181 section 10.1).
      if (aliases.length > 0) continue;
      if (!isOfPort)
        for (const kind of ['A', 'AAAA'] as const) yield* addressRecords(name, found.ports, kind, ttls);
      yield* serviceRecords(name, this.origin, found.ports, ttls).records;
    }
  }

  #answerApex({ name, type }: Question): Answer {
    if (type === TYPE.SOA) return answerWith([this.soa]);
    if (type !== TYPE.NS) return this.denial('nodata');
    return answerWith([this.#nameserverRecord(name)], this.#addresses(this.#nameserver));
  }

  #nameserverRecord(name: AbsoluteName): ResourceRecord {
    return makeRecord(name, this.#parts.ttls.own, { kind: 'NS', target: this.#nameserver });
  }

  /** How the services with this server as endpoint are reached; without any, the addresses of this machine. */
  #addresses(name: AbsoluteName): readonly ResourceRecord[] {
    const { exposed, ttls } = this.#parts;
    const own = canonicalAddresses(exposed.ownAddresses);
    const services = own.flatMap((address) => exposed.cluster.contents.servicesAt(address));
    const found = services.length === 0 ? own : services.flatMap((service) => this.#listAddresses(service));
    return [...new Set(found)].map((address) => addressRecord(name, ttls.own, address));
  }

  #listAddresses({ namespace, name }: NamespacedName): readonly string[] {
    const { exposed, options } = this.#parts;
    const { contents } = exposed.cluster;
    if (options.hasEndpoints && contents.service(namespace, name)?.address.kind === 'headless')
      return contents.readyEndpoints(namespace, name).map(({ address }) => address);
    const hosts = exposed.services.findHosts(namespace, name);
    return hosts.flatMap((host) => (host.kind === 'address' ? host.address : []));
  }
}

export function answerWith(
  records: readonly ResourceRecord[],
  additionals: readonly ResourceRecord[] = [],
  truncated = false,
): Answer {
  return { kind: 'records', records, additionals, authoritative: true, truncated };
}

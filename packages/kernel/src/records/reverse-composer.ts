/**
 * PTR records: the names of an address. The names of services whose own address it is count before those of endpoints.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { COMPOSED, type KeyOctets, type Sought } from '../table/composer.ts';
import type { TableViews } from '../table/memory.ts';
import type { ComposerContext } from './composer-context.ts';
import { type EndpointMatcher, EndpointSearch } from './endpoint-search.ts';
import type { EndpointWriter } from './endpoint-writer.ts';
import { MADE_LABEL } from './endpoint-writer.ts';
import {
  ADDRESS,
  CLUSTER_FLAG,
  INDEXED,
  NAME_OUTCOME,
  NO_SLOT,
  OWNERS,
  RECORD_KIND,
  SECTION,
  SERVICE_FLAG,
  SERVICE_KIND,
} from './layout.ts';
import type { RecordFinder } from './record-finder.ts';
import { areEqual, ServiceFields } from './service-fields.ts';

/** Owners of one address that are looked at. */
export const MAX_OWNERS = 64;
const IPV4_LABELS = 6;
const IPV6_LABELS = 34;
const IN_ADDR = Buffer.from('\x07in-addr\x04arpa\x00', 'latin1');
const IP6 = Buffer.from('\x03ip6\x04arpa\x00', 'latin1');

/** The octets of an address, as a key. */
export class AddressKey implements KeyOctets {
  readonly octets = new Uint8Array(24);
  readonly #view = new DataView(this.octets.buffer);
  /** 4 or 16; 0: no address. */
  length = 0;

  wordAt(at: number): number {
    return this.#view.getInt32(at, true);
  }

  /** The IPv4 address as a signed number. */
  get ipv4(): number {
    return this.#view.getInt32(0);
  }

  /** Reads the address that a name of the reverse tree is made of. @returns whether it is one of a whole address */
  read(sought: Sought): boolean {
    const { name, labels, labelStarts } = sought;
    this.length = 0;
    if (labels === IPV4_LABELS) {
      const from = labelStarts[4] ?? 0;
      if (!areEqual(name, from, IN_ADDR, 0, IN_ADDR.length)) return false;
      for (let index = 0; index < 4; index++) {
        const value = readOctet(name, labelStarts[index] ?? 0);
        if (value < 0) return false;
        this.octets[3 - index] = value;
      }
      this.length = 4;
      return true;
    }
    if (labels !== IPV6_LABELS || !areEqual(name, labelStarts[32] ?? 0, IP6, 0, IP6.length)) return false;
    for (let index = 0; index < 32; index++) {
      const at = labelStarts[index] ?? 0;
      const value = name[at] === 1 ? readDigit(name[at + 1] ?? 0) : -1;
      if (value < 0) return false;
      const octet = 15 - (index >> 1);
      const before = index & 1 ? (this.octets[octet] ?? 0) : 0;
      this.octets[octet] = index & 1 ? before | (value << 4) : value;
    }
    this.length = 16;
    return true;
  }
}

/** A decimal octet without leading zeros, or -1. @param at where its label begins, with its length */
function readOctet(name: Uint8Array, at: number): number {
  const length = name[at] ?? 0;
  if (length < 1 || length > 3 || (length > 1 && name[at + 1] === 0x30)) return -1;
  let value = 0;
  for (let index = 1; index <= length; index++) {
    const digit = (name[at + index] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value <= 255 ? value : -1;
}

/** A hexadecimal digit in lower case, or -1. */
function readDigit(octet: number): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30;
  return octet >= 0x61 && octet <= 0x66 ? octet - 0x61 + 10 : -1;
}

export class ReverseComposer implements EndpointMatcher {
  readonly #views: TableViews;
  readonly #context: ComposerContext;
  readonly #endpoints: EndpointWriter;
  readonly #finder: RecordFinder;
  readonly #service: ServiceFields;
  readonly #search: EndpointSearch;
  readonly address = new AddressKey();

  constructor(context: ComposerContext, endpoints: EndpointWriter, finder: RecordFinder) {
    this.#views = context.views;
    this.#context = context;
    this.#endpoints = endpoints;
    this.#finder = finder;
    this.#service = new ServiceFields(context.views);
    this.#search = new EndpointSearch(context.views, context.walk, this);
  }

  /** Answers for the name of the address in `address`. */
  compose(): number {
    const { atoms } = this.#views;
    const key = this.address;
    const entry = this.#finder.find(RECORD_KIND.ADDRESS, key, 0, key.length, ADDRESS.KEY);
    if (entry === 0) return COMPOSED.NEXT;
    const owner = atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0;
    if (owner === 0) return COMPOSED.NEXT;
    const list = owner < 0 ? -owner : 0;
    const count = list === 0 ? 1 : Math.min(MAX_OWNERS, atoms[(list + OWNERS.COUNT) >> 2] ?? 0);
    const context = this.#context;
    context.outcome = NAME_OUTCOME.reverse;
    const { composition } = context;
    const services = atoms[(entry + ADDRESS.OWN) >> 2] === 0 ? 0 : count;
    for (let index = 0; index < services && !composition.isCut; index++)
      this.#addService(list === 0 ? owner : (atoms[((list + OWNERS.ENTRIES) >> 2) + index] ?? 0));
    if (composition.answers === 0 && !composition.isCut) {
      const hint = list === 0 ? (atoms[(entry + ADDRESS.SLOT) >> 2] ?? NO_SLOT) : NO_SLOT;
      for (let index = 0; index < count && !composition.isCut; index++) {
        const service = list === 0 ? owner : (atoms[((list + OWNERS.ENTRIES) >> 2) + index] ?? 0);
        if (!this.#addEndpoints(service, hint)) return COMPOSED.ASK;
      }
    }
    if (composition.answers === 0 && !composition.isCut) return COMPOSED.NEXT;
    const isShown = context.sought.type === TYPE.PTR && !context.lacks(CLUSTER_FLAG.WITHOUT_PTR);
    return isShown ? COMPOSED.RECORDS : COMPOSED.NODATA;
  }

  /** Adds the name of a service, if the address is its own. */
  #addService(entry: number): void {
    const service = this.#service;
    const key = this.address;
    service.load(entry);
    if (service.kind !== SERVICE_KIND.CLUSTER) return;
    const isOwn = key.length === 4 ? service.hasAddress(key.ipv4) : service.hasLongAddress(key.octets, 0);
    if (!isOwn) return;
    const { composition } = this.#context;
    if (composition.addPointer(this.#context.nameLength(service))) this.#context.appendName(service);
  }

  /** Adds the names of a service's endpoints. @returns false if only the chain can tell them */
  #addEndpoints(entry: number, hint: number): boolean {
    const service = this.#service;
    const context = this.#context;
    const { walk } = context;
    service.load(entry);
    const isKubeDns = context.isKubeDns;
    if (!service.isNamed(context.flags) || service.kind === SERVICE_KIND.EXTERNAL) return true;
    if (isKubeDns && service.kind !== SERVICE_KIND.HEADLESS) return true;
    if ((service.flags & SERVICE_FLAG.OVERLAPS) !== 0) return false;
    const key = this.address;
    const search = this.#search;
    search.begin(entry, this.#finder.hashKey(key, 0, key.length, INDEXED.ADDRESS));
    if (walk.isIndexed) {
      if (search.next()) this.#addEndpoint(service, search.section, search.endpoint);
      return true;
    }
    if (walk.beginAt(entry, hint) && this.#addFound(service)) return true;
    walk.begin(entry);
    this.#addFound(service);
    return true;
  }

  /** Adds the name of the endpoint with the address, among the sections that are left. @returns whether there was one */
  #addFound(service: ServiceFields): boolean {
    const { walk } = this.#context;
    while (walk.next()) {
      const { section } = walk;
      const endpoint = this.#endpoints.find(section, this.address);
      if (endpoint < 0) continue;
      this.#addEndpoint(service, section, endpoint);
      return true;
    }
    return false;
  }

  /** Whether an endpoint has the address. */
  matches(section: number, endpoint: number): boolean {
    const key = this.address;
    const isIpv4 = this.#endpoints.isIpv4(section);
    if (isIpv4 !== (key.length === 4)) return false;
    if (isIpv4) return this.#endpoints.ipv4(section, endpoint) === key.ipv4;
    return areEqual(this.#views.octets, section + SECTION.ADDRESSES + endpoint * 16, key.octets, 0, 16);
  }

  #addEndpoint(service: ServiceFields, section: number, endpoint: number): void {
    const endpoints = this.#endpoints;
    const word = endpoints.labelWord(section, endpoint);
    const hasHostname = word !== 0 && (word & MADE_LABEL) === 0;
    if (!this.#context.isKubeDns || hasHostname) endpoints.addPointer(service, section, endpoint);
  }
}

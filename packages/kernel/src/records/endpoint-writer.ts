/**
 * Writes endpoints of a service as records: their addresses, the names that SRV and PTR records lead to.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { COMPOSED } from '../table/composer.ts';
import type { ComposerContext } from './composer-context.ts';
import type { EndpointPreference } from './endpoint-preference.ts';
import { writeHashLabel } from './hash-label.ts';
import { SECTION } from './layout.ts';
import type { SectionFilter } from './record-finder.ts';
import { areEqual, isNameLength, type ServiceFields, writeDashed } from './service-fields.ts';

/** Adds the records of one endpoint. */
export interface TargetAdder {
  /** @returns false if its name cannot be one */
  addTargets(service: ServiceFields, section: number, endpoint: number): boolean;
}

/** More targets than an answer has room for. */
const MAX_TARGETS = 4096;
/** In the word of a label: it was made from the address, since the endpoint has no hostname. */
export const MADE_LABEL = 1 << 31;
const FAMILY_SHIFT = 16;
/** The targets of a larger service begin at a random one before it is known whether the answer is cut. */
const MAX_ORDERED = 64;
/** Cells of an index that are tried for an endpoint to begin with: more than half of them lead to one. */
const MAX_TRIES = 16;

export class EndpointWriter {
  readonly #context: ComposerContext;
  readonly #label = new Uint8Array(64);
  /** The targets of the answer: section, endpoint, and where the name lies in the message. */
  readonly #sections = new Int32Array(MAX_TARGETS);
  readonly #endpoints = new Int32Array(MAX_TARGETS);
  readonly #places = new Int32Array(MAX_TARGETS);
  #targets = 0;
  readonly #preference: EndpointPreference;
  /** Whether the client prefers some of the endpoints. */
  #prefers = false;

  constructor(context: ComposerContext) {
    this.#context = context;
    this.#preference = context.preference;
  }

  /** Call it before the addresses or the targets of a headless service are added. @param filter as there */
  begin(service: ServiceFields, filter: SectionFilter): void {
    this.#prefers = this.#context.places !== 0 && this.#decide(service, filter);
  }

  /** Most services do not ask for it, so the client is looked up last. */
  #decide(service: ServiceFields, filter: SectionFilter): boolean {
    return (
      this.#preference.mayDecide(service) &&
      this.#context.locate() &&
      this.#preference.decide(service, filter)
    );
  }

  /** Slices were replaced after the decision, and none of the preferred endpoints is left. @returns whether it was one */
  takeAll(): boolean {
    const before = this.#prefers;
    this.#prefers = false;
    return before;
  }

  /** The ready endpoints of a section that the client gets. */
  count(section: number): number {
    return this.#prefers ? this.#preference.count(section) : this.ready(section);
  }

  /** Ready endpoints of a section. */
  ready(section: number): number {
    return (this.#context.views.atoms[(section + SECTION.COUNTS) >> 2] ?? 0) & 0xffff;
  }

  ports(section: number): number {
    return (this.#context.views.atoms[(section + SECTION.SHAPE) >> 2] ?? 0) & 0xffff;
  }

  /** The octet of a section's first port. */
  portsAt(section: number): number {
    return section + (this.#context.views.atoms[(section + SECTION.PORTS) >> 2] ?? 0);
  }

  isIpv4(section: number): boolean {
    return (((this.#context.views.atoms[(section + SECTION.SHAPE) >> 2] ?? 0) >>> FAMILY_SHIFT) & 0xff) === 4;
  }

  /**
   * Answers with the addresses of endpoints, from a random one on. Sections that are passed over cost nothing.
   *
   * @param type A or AAAA
   */
  addAddresses(service: ServiceFields, type: number, filter: SectionFilter): number {
    const { walk, composition } = this.#context;
    if (this.#context.lacksAddresses(type)) return COMPOSED.NODATA;
    const isIpv4 = type === TYPE.A;
    if (this.#context.rotates && this.#addFromRandom(service, isIpv4, filter)) return COMPOSED.RECORDS;
    let count = 0;
    for (walk.begin(service.entry); walk.next(); )
      if (this.isIpv4(walk.section) === isIpv4 && filter.includes(walk.section))
        count += this.count(walk.section);
    if (count === 0) return this.takeAll() ? this.addAddresses(service, type, filter) : COMPOSED.NODATA;
    const first = this.#context.pick(count);
    this.#addRange(service, isIpv4, filter, first, count);
    if (!composition.isCut) this.#addRange(service, isIpv4, filter, 0, first);
    return COMPOSED.RECORDS;
  }

  /**
   * Adds the addresses of a service that has an index, from the endpoint of a random cell on.
   *
   * @returns false if none was found
   */
  #addFromRandom(service: ServiceFields, isIpv4: boolean, filter: SectionFilter): boolean {
    const { walk, composition } = this.#context;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const slot = walk.slotAt(service.entry, this.#context.random());
      let endpoint = walk.hint;
      if (slot < 0 || endpoint < 0 || !walk.beginAt(service.entry, slot) || !walk.next()) continue;
      const first = walk.section;
      for (; endpoint >= this.ready(walk.section); endpoint -= this.ready(walk.section))
        if (!walk.next()) break;
      const { section } = walk;
      if (endpoint >= this.ready(section) || this.isIpv4(section) !== isIpv4 || !filter.includes(section))
        continue;
      if (this.#prefers && !this.#preference.includes(section, endpoint)) continue;
      this.#addSection(section, endpoint, this.ready(section));
      this.#addWalked(isIpv4, filter);
      walk.beginBetween(service.entry, slot + 1, Number.POSITIVE_INFINITY);
      this.#addWalked(isIpv4, filter);
      walk.beginBetween(service.entry, 0, slot);
      this.#addWalked(isIpv4, filter);
      // The slice may have been replaced.
      for (let at = first; at !== section && !composition.isCut; at = this.#nextSection(at))
        if (this.isIpv4(at) === isIpv4 && filter.includes(at)) this.#addSection(at, 0, this.ready(at));
      this.#addSection(section, 0, endpoint);
      return true;
    }
    return false;
  }

  #nextSection(section: number): number {
    return section + (this.#context.views.atoms[(section + SECTION.SIZE) >> 2] ?? 0);
  }

  /** Adds the addresses of the sections that are left. */
  #addWalked(isIpv4: boolean, filter: SectionFilter): void {
    const { walk, composition } = this.#context;
    while (!composition.isCut && walk.next())
      if (this.isIpv4(walk.section) === isIpv4 && filter.includes(walk.section))
        this.#addSection(walk.section, 0, this.ready(walk.section));
  }

  #addSection(section: number, from: number, to: number): void {
    const { composition } = this.#context;
    if (this.#prefers) this.#addPreferred(section, from, to);
    else
      for (let endpoint = from; endpoint < to && !composition.isCut; endpoint++)
        this.addAddress(section, endpoint);
  }

  #addPreferred(section: number, from: number, to: number): void {
    const { composition } = this.#context;
    for (let endpoint = from; endpoint < to && !composition.isCut; endpoint++)
      if (this.#preference.includes(section, endpoint)) this.addAddress(section, endpoint);
  }

  /** The ready endpoint of a section that is the one of this number among those that the client gets. */
  #endpointAt(section: number, number: number): number {
    if (!this.#prefers) return number;
    const ready = this.ready(section);
    let endpoint = 0;
    for (let left = number; endpoint < ready; endpoint++)
      if (this.#preference.includes(section, endpoint) && left-- === 0) break;
    return endpoint;
  }

  /** Adds the addresses from number `from` to before `to`. */
  #addRange(service: ServiceFields, isIpv4: boolean, filter: SectionFilter, from: number, to: number): void {
    const { walk, composition } = this.#context;
    let number = 0;
    for (walk.begin(service.entry); number < to && walk.next(); ) {
      const { section } = walk;
      if (this.isIpv4(section) !== isIpv4 || !filter.includes(section)) continue;
      const count = this.count(section);
      const first = this.#endpointAt(section, Math.max(0, from - number));
      this.#addSection(section, first, this.#endpointAt(section, Math.min(count, to - number)));
      if (composition.isCut) return;
      number += count;
    }
  }

  /** Adds the address of an endpoint to the answers. */
  addAddress(section: number, endpoint: number): void {
    const { composition, views } = this.#context;
    const at = section + SECTION.ADDRESSES;
    if (this.isIpv4(section)) composition.addAddress(views.atoms[(at >> 2) + endpoint] ?? 0);
    else composition.addLongAddress(views.octets, at + endpoint * 16);
  }

  /** Adds the address of an endpoint to the additional section. @param owner where its name lies in the message */
  addAdditional(section: number, endpoint: number, owner: number): void {
    const { composition, views } = this.#context;
    const isIpv4 = this.isIpv4(section);
    if (this.#context.lacksAddresses(isIpv4 ? TYPE.A : TYPE.AAAA)) return;
    const at = section + SECTION.ADDRESSES;
    if (isIpv4) composition.addAdditional(owner, views.atoms[(at >> 2) + endpoint] ?? 0);
    else composition.addLongAdditional(owner, views.octets, at + endpoint * 16);
  }

  /** The word of an endpoint's label: its place in the section; 0: an IPv4 address without a hostname. */
  labelWord(section: number, endpoint: number): number {
    const { atoms } = this.#context.views;
    const labels = atoms[(section + SECTION.LABELS) >> 2] ?? 0;
    return labels === 0 ? 0 : (atoms[((section + labels) >> 2) + endpoint] ?? 0);
  }

  /** Whether the label of an endpoint of a section was made from an IPv6 address. */
  hasMadeLabels(section: number): boolean {
    if (this.isIpv4(section)) return false;
    const ready = this.ready(section);
    for (let endpoint = 0; endpoint < ready; endpoint++)
      if ((this.labelWord(section, endpoint) & MADE_LABEL) !== 0) return true;
    return false;
  }

  /** The address of an endpoint in an IPv4 section. */
  ipv4(section: number, endpoint: number): number {
    return this.#context.views.atoms[((section + SECTION.ADDRESSES) >> 2) + endpoint] ?? 0;
  }

  /** The ready endpoint of a section with an address, or -1. */
  find(
    section: number,
    address: { readonly octets: Uint8Array; readonly length: number; readonly ipv4: number },
  ): number {
    const { atoms, octets } = this.#context.views;
    const isIpv4 = this.isIpv4(section);
    if (isIpv4 !== (address.length === 4)) return -1;
    const ready = this.ready(section);
    const at = section + SECTION.ADDRESSES;
    if (isIpv4) {
      const wanted = address.ipv4;
      for (let endpoint = 0, word = at >> 2; endpoint < ready; endpoint++, word++)
        if (atoms[word] === wanted) return endpoint;
      return -1;
    }
    for (let endpoint = 0; endpoint < ready; endpoint++)
      if (areEqual(octets, at + endpoint * 16, address.octets, 0, 16)) return endpoint;
    return -1;
  }

  /**
   * Adds an SRV record whose target is an endpoint.
   *
   * @param isShared whether other endpoints may have made the same record
   * @returns whether the target can be a name
   */
  addService(
    service: ServiceFields,
    section: number,
    endpoint: number,
    weight: number,
    port: number,
    isShared: boolean,
  ): boolean {
    const { composition } = this.#context;
    const label = this.#labelLength(section, endpoint);
    const length = label + this.#context.nameLength(service);
    if (!isNameLength(length)) return false;
    const before = composition.length;
    if (!composition.addService(this.#context.priority, weight, port, length)) return true;
    this.#appendTarget(service, section, endpoint, label);
    if (isShared) composition.dropIfRepeated();
    if (composition.length > before) this.#noteTarget(section, endpoint, composition.targetAt);
    return true;
  }

  /** Adds a PTR record to an endpoint. @returns whether its name can be one */
  addPointer(service: ServiceFields, section: number, endpoint: number): boolean {
    const { composition } = this.#context;
    const label = this.#labelLength(section, endpoint);
    const length = label + this.#context.nameLength(service);
    if (!isNameLength(length)) return false;
    if (composition.addPointer(length)) this.#appendTarget(service, section, endpoint, label);
    return true;
  }

  /**
   * Adds the SRV records of a service's endpoints and the addresses of their targets. If the answer is cut, it begins at a random
   * endpoint, so that no endpoint is always left out.
   *
   * @param isShared whether endpoints share hostnames
   * @returns whether all of them can be names
   */
  addTargets(service: ServiceFields, filter: SectionFilter, adder: TargetAdder, isShared: boolean): boolean {
    const { composition, rotates } = this.#context;
    const isLarge = rotates && service.ready > MAX_ORDERED;
    this.#targets = 0;
    if (!isLarge && !this.#addTargetsBetween(service, filter, adder, 0, Number.POSITIVE_INFINITY))
      return false;
    if (isLarge || (composition.isCut && rotates)) {
      composition.restart();
      const first = this.#context.pick(this.#countReady(service, filter));
      this.#targets = 0;
      if (!this.#addTargetsBetween(service, filter, adder, first, Number.POSITIVE_INFINITY)) return false;
      if (!composition.isCut && !this.#addTargetsBetween(service, filter, adder, 0, first)) return false;
    }
    if (isShared) this.#addSharedAdditionals(service);
    else this.#addAdditionals();
    return true;
  }

  #countReady(service: ServiceFields, filter: SectionFilter): number {
    const { walk } = this.#context;
    let count = 0;
    for (walk.begin(service.entry); walk.next(); )
      if (filter.includes(walk.section)) count += this.ready(walk.section);
    return count;
  }

  /** @param from number of the first endpoint, all ready ones of the selected sections counted; @param to the one behind the last */
  #addTargetsBetween(
    service: ServiceFields,
    filter: SectionFilter,
    adder: TargetAdder,
    from: number,
    to: number,
  ): boolean {
    const { walk, composition } = this.#context;
    let number = 0;
    for (walk.begin(service.entry); number < to && !composition.isCut && walk.next(); ) {
      const { section } = walk;
      if (!filter.includes(section)) continue;
      const ready = this.ready(section);
      const end = Math.min(ready, to - number);
      for (let endpoint = Math.max(0, from - number); endpoint < end && !composition.isCut; endpoint++) {
        if (this.#prefers && !this.#preference.includes(section, endpoint)) continue;
        if (!adder.addTargets(service, section, endpoint)) return false;
      }
      number += ready;
    }
    return true;
  }

  #noteTarget(section: number, endpoint: number, place: number): void {
    const last = this.#targets - 1;
    const isSame = last >= 0 && this.#sections[last] === section && this.#endpoints[last] === endpoint;
    if (isSame || this.#targets === MAX_TARGETS) return;
    this.#sections[this.#targets] = section;
    this.#endpoints[this.#targets] = endpoint;
    this.#places[this.#targets] = place;
    this.#targets++;
  }

  /** Adds the addresses of all targets. */
  #addAdditionals(): void {
    for (let index = 0; index < this.#targets; index++)
      this.addAdditional(this.#sections[index] ?? 0, this.#endpoints[index] ?? 0, this.#places[index] ?? 0);
  }

  /** As `#addAdditionals`, where endpoints share hostnames: all addresses of a hostname belong to its target. */
  #addSharedAdditionals(service: ServiceFields): void {
    const { walk } = this.#context;
    for (walk.begin(service.entry); walk.next(); ) {
      const { section } = walk;
      for (let endpoint = 0; endpoint < this.ready(section); endpoint++) {
        if (this.#prefers && !this.#preference.includes(section, endpoint)) continue;
        const place = this.#findTarget(section, endpoint);
        if (place !== 0) this.addAdditional(section, endpoint, place);
      }
    }
  }

  /** Where the name of an endpoint was written as a target, or 0. */
  #findTarget(section: number, endpoint: number): number {
    for (let index = 0; index < this.#targets; index++)
      if (this.#haveSameLabel(section, endpoint, this.#sections[index] ?? 0, this.#endpoints[index] ?? 0))
        return this.#places[index] ?? 0;
    return 0;
  }

  #haveSameLabel(section: number, endpoint: number, other: number, otherEndpoint: number): boolean {
    const one = this.labelWord(section, endpoint);
    const two = this.labelWord(other, otherEndpoint);
    if (one === 0 || two === 0)
      return one === two && this.ipv4(section, endpoint) === this.ipv4(other, otherEndpoint);
    const { octets } = this.#context.views;
    const at = section + (one & ~MADE_LABEL);
    const otherAt = other + (two & ~MADE_LABEL);
    return octets[at] === octets[otherAt] && areEqual(octets, at, octets, otherAt, (octets[at] ?? 0) + 1);
  }

  /** Octets of an endpoint's label, its length included; prepares one that is made from an address. */
  #labelLength(section: number, endpoint: number): number {
    const word = this.labelWord(section, endpoint);
    if (word === 0) {
      const address = this.ipv4(section, endpoint);
      return this.#context.isKubeDns
        ? writeHashLabel(this.#label, address)
        : writeDashed(this.#label, address);
    }
    return 1 + (this.#context.views.octets[section + (word & ~MADE_LABEL)] ?? 0);
  }

  #appendTarget(service: ServiceFields, section: number, endpoint: number, length: number): void {
    const { composition, views } = this.#context;
    const word = this.labelWord(section, endpoint);
    if (word === 0) composition.append(this.#label, 0, length);
    else composition.append(views.octets, section + (word & ~MADE_LABEL), length);
    this.#context.appendName(service);
  }
}

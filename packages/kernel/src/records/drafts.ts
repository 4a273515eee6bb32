/**
 * Services and slices on their way into the table: numbers and octets in memory that is used again for each object.
 *
 * Decoders fill them, from Protocol Buffers, JSON or a snapshot; `RecordWriter` takes them.
 */
import { parseAddress, readIpv4 } from '@portolan/dns/address.ts';
import { LOWER_CASE } from '@portolan/dns/label.ts';
import { encodeName, tryParseKey } from '@portolan/dns/name.ts';

/** A growing array of numbers. */
export class Numbers {
  items = new Int32Array(256);
  length = 0;

  push(value: number): void {
    if (this.length === this.items.length) {
      const longer = new Int32Array(this.items.length * 2);
      longer.set(this.items);
      this.items = longer;
    }
    this.items[this.length++] = value;
  }
}

/** A growing array of octets. */
export class Octets {
  items = new Uint8Array(1024);
  length = 0;

  push(octet: number): void {
    this.reserve(1);
    this.items[this.length++] = octet;
  }

  append(from: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    for (let at = start; at < end; at++) this.items[this.length++] = from[at] ?? 0;
  }

  reserve(more: number): void {
    if (this.length + more <= this.items.length) return;
    const longer = new Uint8Array(2 ** Math.ceil(Math.log2(this.length + more)));
    longer.set(this.items);
    this.items = longer;
  }
}

/** The word of a zone or a node by its name: a hash, above 0. */
export function placeWord(from: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (from[at] ?? 0), 0x01000193);
  // FNV-1a, of which the last octets reach only the lower bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) & 0x7fffffff || 1;
}

/** Words that a list of hints may have. The API allows eight. */
const MAX_HINTS_OF_ENDPOINT = 8;

/** Zones or nodes of endpoints: their own ones, and those that hints name. */
export class PlacesOfKind {
  readonly own = new Numbers();
  readonly hints = new Numbers();
  readonly hintEnds = new Numbers();

  clear(): void {
    for (const part of [this.own, this.hints, this.hintEnds]) part.length = 0;
  }

  begin(): void {
    this.own.push(0);
    this.hintEnds.push(this.hints.length);
  }

  /** Sets the one of its own. */
  set(word: number): void {
    this.own.items[this.own.length - 1] = word;
  }

  addHint(word: number): void {
    const place = this.hintEnds.length - 1;
    const from = this.hintsStartAt(place);
    if (this.hints.length - from >= MAX_HINTS_OF_ENDPOINT) return;
    this.hints.push(word);
    this.hintEnds.items[place] = this.hints.length;
  }

  hintsStartAt(place: number): number {
    return place === 0 ? 0 : (this.hintEnds.items[place - 1] ?? 0);
  }

  isHinted(place: number): boolean {
    return place >= 0 && (this.hintEnds.items[place] ?? 0) > this.hintsStartAt(place);
  }

  /** The words of a place: the hints, or if they are not to be used the one of its own. */
  listWords(place: number, usesHints: boolean): readonly number[] {
    if (place < 0) return [];
    if (usesHints)
      return Array.from(this.hints.items.subarray(this.hintsStartAt(place), this.hintEnds.items[place]));
    const own = this.own.items[place] ?? 0;
    return own === 0 ? [] : [own];
  }
}

/** The places of endpoints. */
export class PlacesDraft {
  readonly zones = new PlacesOfKind();
  readonly nodes = new PlacesOfKind();
  count = 0;

  clear(): void {
    this.zones.clear();
    this.nodes.clear();
    this.count = 0;
  }

  /** Begins the place of the endpoint whose addresses are added next. */
  begin(): void {
    this.zones.begin();
    this.nodes.begin();
    this.count++;
  }
}

const HYPHEN = 0x2d;
const UNDERSCORE = 0x5f;
const DOT = 0x2e;
const MAX_LABEL = 63;
/** A label of an endpoint and one of its cluster, with the dot. */
const MAX_LABELS = 127;

/** Whether an octet is a lower-case letter or a digit. */
const isAlphanumeric = (octet: number): boolean =>
  (octet >= 0x61 && octet <= 0x7a) || (octet >= 0x30 && octet <= 0x39);

/** Whether the name of an object can be a label: letters, digits and underscores, and hyphens after the first. */
export function isObjectLabel(from: Uint8Array, start: number, end: number): boolean {
  if (end - start < 1 || end - start > MAX_LABEL) return false;
  for (let at = start; at < end; at++) {
    const octet = from[at] ?? 0;
    if (!isAlphanumeric(octet) && octet !== UNDERSCORE && (octet !== HYPHEN || at === start)) return false;
  }
  return true;
}

/** Appends a label with its length. */
export function appendLabel(to: Octets, from: Uint8Array, start: number, end: number): void {
  to.push(end - start);
  to.append(from, start, end);
}

/** Ports in the form of records. */
export class PortsDraft {
  readonly octets = new Octets();
  count = 0;
  /** Of the ports whose application protocol is known: of `APP_PROTOCOL`, and where their protocols lie in `octets`. */
  readonly appProtocols = new Numbers();
  readonly appProtocolsAt = new Numbers();
  /** Where the protocol of the last port lies. */
  #protocolAt = 0;

  clear(): void {
    this.octets.length = 0;
    this.count = 0;
    this.appProtocols.length = 0;
    this.appProtocolsAt.length = 0;
  }

  /** Notes the application protocol of the port that was added last. @param bits of `APP_PROTOCOL`, 0: not known */
  note(bits: number): void {
    if (bits === 0) return;
    this.appProtocols.push(bits);
    this.appProtocolsAt.push(this.#protocolAt);
  }

  /**
   * Adds a port, without its name if that cannot be a label.
   *
   * @param protocol an index of `PROTOCOLS`
   */
  add(number: number, protocol: number, from: Uint8Array, start: number, end: number): void {
    const { octets } = this;
    this.count++;
    octets.push(number >>> 8);
    octets.push(number);
    this.#protocolAt = octets.length;
    octets.push(protocol);
    // One octet is for the underscore.
    const isUsable = isNameLabel(from, start, end, MAX_LABEL - 1, true);
    octets.push(isUsable ? end - start : 0);
    if (isUsable) for (let at = start; at < end; at++) octets.push(LOWER_CASE[from[at] ?? 0] ?? 0);
  }
}

/** Whether octets of either case are a label of letters, digits and hyphens, the first one no hyphen. */
function isNameLabel(
  from: Uint8Array,
  start: number,
  end: number,
  max: number,
  hasUnderscores: boolean,
): boolean {
  if (end - start < 1 || end - start > max) return false;
  for (let at = start; at < end; at++) {
    const octet = LOWER_CASE[from[at] ?? 0] ?? 0;
    const isInner = at > start && (octet === HYPHEN || (hasUnderscores && octet === UNDERSCORE));
    if (!isAlphanumeric(octet) && !isInner) return false;
  }
  return true;
}

/** Whether octets are labels joined by dots. */
function areNameLabels(from: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_LABELS) return false;
  let first = start;
  for (let at = start; at <= end; at++) {
    if (at < end && from[at] !== DOT) continue;
    if (!isNameLabel(from, first, at, MAX_LABEL, false)) return false;
    first = at + 1;
  }
  return true;
}

export class ServiceDraft {
  /** The labels of the service and of its namespace. */
  readonly key = new Octets();
  /** Of `SERVICE_KIND`. */
  kind = 0;
  /** Whether both names can be labels. */
  isUsable = true;
  /** Whether its endpoints are the pods that it selects. */
  selects = false;
  /** Of `DISTRIBUTION`; only of headless services. */
  distribution = 0;
  readonly ipv4 = new Numbers();
  /** 16 octets for each IPv6 address. */
  readonly ipv6 = new Octets();
  readonly ports = new PortsDraft();
  /** The external name as text, and its target in wire form, of `EXTERNAL_TARGET`. */
  readonly external = new Octets();
  readonly target = new Octets();
  targetKind = 0;

  clear(): void {
    this.key.length = 0;
    this.kind = 0;
    this.isUsable = true;
    this.selects = false;
    this.distribution = 0;
    this.ipv4.length = 0;
    this.ipv6.length = 0;
    this.ports.clear();
    this.external.length = 0;
    this.target.length = 0;
    this.targetKind = 0;
  }

  /** Adds an address of its own, once. */
  addAddress(text: string): void {
    const ipv4 = readIpv4(text);
    const octets = ipv4 >= 0 ? undefined : parseAddress(text);
    if (ipv4 >= 0) this.#addIpv4(ipv4);
    else if (octets !== undefined) this.#addIpv6(octets);
  }

  #addIpv4(address: number): void {
    const { items, length } = this.ipv4;
    for (let index = 0; index < length; index++) if (items[index] === (address | 0)) return;
    this.ipv4.push(address | 0);
  }

  #addIpv6(octets: Uint8Array): void {
    const { items, length } = this.ipv6;
    for (let at = 0; at < length; at += 16)
      if (octets.every((octet, index) => items[at + index] === octet)) return;
    this.ipv6.append(octets, 0, 16);
  }
}

/** No label, instead of where one begins. */
const NO_LABEL = -1;

/**
 * An EndpointSlice, or an Endpoints object: groups of endpoints that share their ports. The endpoints of a group come
 * before its end is marked.
 */
export class SliceDraft {
  /** The label of the namespace, then the object's name as text. */
  readonly key = new Octets();
  /** The labels of the service and of the namespace. */
  readonly service = new Octets();
  isUsable = true;
  /** Whether hostnames may be several labels, joined by dots. */
  takesDots = false;
  /** Per endpoint: family, the IPv4 address or where 16 octets begin in `longs`, the label, the state. */
  readonly families = new Numbers();
  readonly addresses = new Numbers();
  readonly labels = new Numbers();
  readonly states = new Numbers();
  /** Per endpoint: its place, -1 for none. */
  readonly placeNumbers = new Numbers();
  readonly places = new PlacesDraft();
  readonly longs = new Octets();
  readonly labelOctets = new Octets();
  /** The ready endpoints that are names, as in the record; their ports are those of all groups. */
  readonly targets = new Octets();
  targetCount = 0;
  /** Per group: one more than its last endpoint, its ports, where they end in `ports`. */
  readonly groupEnds = new Numbers();
  readonly groupPorts = new Numbers();
  readonly portEnds = new Numbers();
  readonly ports = new PortsDraft();

  clear(): void {
    for (const part of [this.key, this.service, this.longs, this.labelOctets]) part.length = 0;
    this.clearTargets();
    for (const part of [this.families, this.addresses, this.labels, this.states]) part.length = 0;
    this.placeNumbers.length = 0;
    this.places.clear();
    for (const part of [this.groupEnds, this.groupPorts, this.portEnds]) part.length = 0;
    this.ports.clear();
    this.isUsable = true;
    this.takesDots = false;
  }

  /**
   * Adds an endpoint to the group.
   *
   * @param state 0 if it is ready, else of `ENDPOINT_STATE`
   * @param from holds the hostname from `start` to `end`, none if they are equal
   */
  addIpv4(address: number, state: number, from: Uint8Array, start: number, end: number): void {
    this.families.push(4);
    this.addresses.push(address | 0);
    this.#addRest(state, from, start, end);
  }

  /** As `addIpv4`. @param octets 16 */
  addIpv6(octets: Uint8Array, state: number, from: Uint8Array, start: number, end: number): void {
    this.families.push(6);
    this.addresses.push(this.longs.length);
    this.longs.append(octets, 0, 16);
    this.#addRest(state, from, start, end);
  }

  /** Adds an endpoint by the text of its address; skips a text that is no address. */
  addAddress(text: string, state: number, from: Uint8Array, start: number, end: number): void {
    const ipv4 = readIpv4(text);
    const octets = ipv4 >= 0 ? undefined : parseAddress(text);
    if (ipv4 >= 0) this.addIpv4(ipv4, state, from, start, end);
    else if (octets !== undefined) this.addIpv6(octets, state, from, start, end);
  }

  /**
   * Adds a ready endpoint by the text of its name; skips a text that is no name.
   *
   * @param from holds the hostname as in `addIpv4`; without one, the label is made from the name
   */
  addTarget(text: string, from: Uint8Array, start: number, end: number): void {
    const name = tryParseKey(text);
    if (name === undefined || name === '.') return;
    const { targets } = this;
    if (this.#isLabel(from, start, end)) appendLabel(targets, from, start, end);
    else {
      const made = Buffer.from(name.slice(0, -1).replaceAll('.', '-'), 'utf8');
      if (isNameLabel(made, 0, made.length, MAX_LABEL, true)) appendLabel(targets, made, 0, made.length);
      else targets.push(0);
    }
    const octets = encodeName(name);
    targets.append(octets, 0, octets.length);
    this.targetCount++;
  }

  /** Leaves out the endpoints that are names. */
  clearTargets(): void {
    this.targets.length = 0;
    this.targetCount = 0;
  }

  /** Whether octets are a hostname that an endpoint can have. */
  #isLabel(from: Uint8Array, start: number, end: number): boolean {
    return this.takesDots ? areNameLabels(from, start, end) : isNameLabel(from, start, end, MAX_LABEL, false);
  }

  #addRest(state: number, from: Uint8Array, start: number, end: number): void {
    this.states.push(state);
    this.placeNumbers.push(this.places.count - 1);
    if (!this.#isLabel(from, start, end)) {
      this.labels.push(NO_LABEL);
      return;
    }
    const { labelOctets } = this;
    this.labels.push(labelOctets.length);
    labelOctets.push(end - start);
    for (let at = start; at < end; at++) labelOctets.push(LOWER_CASE[from[at] ?? 0] ?? 0);
  }

  /** Ends a group: its ports have been added too. */
  endGroup(): void {
    const before = this.groupPorts.items
      .subarray(0, this.groupPorts.length)
      .reduce((sum, count) => sum + count, 0);
    this.groupEnds.push(this.families.length);
    this.groupPorts.push(this.ports.count - before);
    this.portEnds.push(this.ports.octets.length);
  }
}

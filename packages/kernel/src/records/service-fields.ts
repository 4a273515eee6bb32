/**
 * The fields of a service and of its record, read once for each question.
 */
import { MAX_NAME_OCTETS } from '@portolan/dns/label.ts';
import type { TableViews } from '../table/memory.ts';
import {
  CLUSTER_FLAG,
  DISTRIBUTION_MASK,
  DISTRIBUTION_SHIFT,
  EXTERNAL_TARGET,
  EXTERNAL_TARGET_MASK,
  PORT,
  PROTOCOL_MASK,
  PROTOCOLS,
  SERVICE,
  SERVICE_FLAG,
  SERVICE_KIND,
  SERVICE_RECORD,
} from './layout.ts';

/** Octets of the label `svc`. */
export const SVC_OCTETS = 4;

export class ServiceFields {
  readonly #views: TableViews;
  /** The octet of its entry. */
  entry = 0;
  /** Of `SERVICE_KIND`; 0 without a record. */
  kind = 0;
  flags = 0;
  ready = 0;
  /** IPv4 and IPv6 addresses of its own, and the octets where they lie. */
  ipv4 = 0;
  ipv6 = 0;
  ipv4At = 0;
  ipv6At = 0;
  ports = 0;
  portsAt = 0;
  /** The target of an external name, in wire form. */
  targetAt = 0;
  targetLength = 0;
  /** What an external name is, of `EXTERNAL_TARGET`. */
  target = 0;
  /** What its traffic prefers, of `DISTRIBUTION`. */
  distribution = 0;
  /** The octet of its two labels, and how many they are. */
  keyAt = 0;
  keyLength = 0;

  constructor(views: TableViews) {
    this.#views = views;
  }

  load(entry: number): void {
    const { atoms } = this.#views;
    this.entry = entry;
    this.flags = atoms[(entry + SERVICE.FLAGS) >> 2] ?? 0;
    this.ready = atoms[(entry + SERVICE.READY) >> 2] ?? 0;
    this.keyAt = entry + SERVICE.KEY;
    this.keyLength = (atoms[(entry + 4) >> 2] ?? 0) & 0xff;
    const record = atoms[(entry + SERVICE.RECORD) >> 2] ?? 0;
    if (record === 0) {
      this.kind = 0;
      return;
    }
    const head = atoms[record >> 2] ?? 0;
    this.kind = head & 0xff;
    this.ipv4 = (head >>> 8) & 0xff;
    this.ipv6 = (head >>> 16) & 0xff;
    this.target = (head >>> 24) & EXTERNAL_TARGET_MASK;
    this.distribution = (head >>> DISTRIBUTION_SHIFT) & DISTRIBUTION_MASK;
    this.ipv4At = record + SERVICE_RECORD.ADDRESSES;
    this.ipv6At = this.ipv4At + this.ipv4 * 4;
    this.ports = atoms[(record + SERVICE_RECORD.PORTS) >> 2] ?? 0;
    this.portsAt = this.ipv6At + this.ipv6 * 16;
    if (this.kind === SERVICE_KIND.EXTERNAL) this.#loadTarget(record);
  }

  #loadTarget(record: number): void {
    const { atoms, octets } = this.#views;
    const external = atoms[(record + SERVICE_RECORD.EXTERNAL) >> 2] ?? 0;
    let end = this.portsAt;
    for (let index = 0; index < this.ports; index++) end = nextPort(octets, end);
    this.targetAt = end + (external & 0xffff);
    this.targetLength = external >>> 16;
  }

  /** Whether it has ready endpoints, be they addresses or names. */
  get hasEndpoints(): boolean {
    return this.ready > 0 || this.hasTargets;
  }

  /** Whether some of its ready endpoints are names, which only the handler chain follows. */
  get hasTargets(): boolean {
    return (this.flags & SERVICE_FLAG.TARGETS) !== 0;
  }

  /** Whether the source has lost what a name is made of. @param below labels left of the service */
  isStaleAt(below: number): boolean {
    const stale = this.flags & (SERVICE_FLAG.STALE | SERVICE_FLAG.STALE_ENDPOINTS);
    if (stale === 0) return false;
    return (stale & SERVICE_FLAG.STALE) !== 0 || this.kind === SERVICE_KIND.HEADLESS || below > 0;
  }

  /** Whether it has names in a zone. @param flags of the zone of a cluster */
  isNamed(flags: number): boolean {
    switch (this.kind) {
      case SERVICE_KIND.CLUSTER:
        return this.ipv4 + this.ipv6 > 0 && (this.hasEndpoints || (flags & CLUSTER_FLAG.IGNORES_EMPTY) === 0);
      case SERVICE_KIND.HEADLESS:
        return this.hasEndpoints && (flags & CLUSTER_FLAG.ENDPOINTS_KNOWN) !== 0;
      case SERVICE_KIND.EXTERNAL:
        return (
          this.target === EXTERNAL_TARGET.NAME ||
          (this.target === EXTERNAL_TARGET.ADDRESS && (flags & CLUSTER_FLAG.KUBE_DNS) !== 0)
        );
      default:
        return false;
    }
  }

  /** Whether its addresses include this IPv4 address. */
  hasAddress(address: number): boolean {
    const { atoms } = this.#views;
    for (let index = 0; index < this.ipv4; index++)
      if (atoms[(this.ipv4At >> 2) + index] === address) return true;
    return false;
  }

  /** Whether its addresses include the IPv6 address of these 16 octets. */
  hasLongAddress(octets: Uint8Array, at: number): boolean {
    for (let index = 0; index < this.ipv6; index++)
      if (areEqual(this.#views.octets, this.ipv6At + index * 16, octets, at, 16)) return true;
    return false;
  }
}

/** The octet behind a port. */
export const nextPort = (octets: Uint8Array, at: number): number =>
  at + PORT.NAME + (octets[at + PORT.LENGTH] ?? 0);

/** Of `PROTOCOLS`. @param at the octet of a port */
export const readPortProtocol = (octets: Uint8Array, at: number): number =>
  (octets[at + PORT.PROTOCOL] ?? 0) & PROTOCOL_MASK;

export const portNumber = (octets: Uint8Array, at: number): number =>
  ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);

/** Whether names of this many octets are within the limit of names. */
export const isNameLength = (octets: number): boolean => octets <= MAX_NAME_OCTETS;

const UNDERSCORE = 0x5f;
const PROTOCOL_LABELS = PROTOCOLS.map((protocol) => Buffer.from(protocol.toLowerCase(), 'latin1'));

/**
 * The protocol that a label names, as an index of `PROTOCOLS`, or -1.
 *
 * @param at where the label begins, with its length
 * @param isShort whether it may lack its underscore
 */
export function readProtocol(name: Uint8Array, at: number, isShort: boolean): number {
  const from = at + 1 + countUnderscore(name, at);
  if (from === at + 1 && !isShort) return -1;
  const length = (name[at] ?? 0) + at + 1 - from;
  for (let index = 0; index < PROTOCOL_LABELS.length; index++) {
    const label = PROTOCOL_LABELS[index];
    if (label?.length === length && areEqual(label, 0, name, from, length)) return index;
  }
  return -1;
}

/** 1 if a label begins with an underscore, else 0. */
export function countUnderscore(name: Uint8Array, at: number): number {
  return (name[at] ?? 0) > 0 && name[at + 1] === UNDERSCORE ? 1 : 0;
}

/** Whether a port has the name and the protocol of two labels. @param label where the port's label begins, with its length */
export function isPort(
  octets: Uint8Array,
  port: number,
  protocol: number,
  name: Uint8Array,
  label: number,
): boolean {
  const length = octets[port + PORT.LENGTH] ?? 0;
  const from = label + 1 + countUnderscore(name, label);
  if (
    length === 0 ||
    readPortProtocol(octets, port) !== protocol ||
    (name[label] ?? 0) + label + 1 - from !== length
  )
    return false;
  return areEqual(octets, port + PORT.NAME, name, from, length);
}

export function areEqual(
  one: Uint8Array,
  oneAt: number,
  other: Uint8Array,
  otherAt: number,
  length: number,
): boolean {
  for (let index = 0; index < length; index++)
    if (one[oneAt + index] !== other[otherAt + index]) return false;
  return true;
}

/**
 * The IPv4 address of a label with dashes; undefined octets or anything else: `NO_ADDRESS`.
 *
 * @param at where the label begins, with its length
 * @returns an unsigned number
 */
export function dashedAddress(name: Uint8Array, at: number): number {
  const end = at + 1 + (name[at] ?? 0);
  let address = 0;
  let parts = 0;
  let value = 0;
  let digits = 0;
  for (let index = at + 1; index <= end; index++) {
    const octet = index === end ? DASH : (name[index] ?? 0);
    if (octet === DASH) {
      if (digits === 0 || value > 255) return NO_ADDRESS;
      address = address * 256 + value;
      parts++;
      value = 0;
      digits = 0;
    } else {
      const isLeadingZero = digits > 0 && value === 0;
      if (octet < ZERO || octet > ZERO + 9 || digits === 3 || isLeadingZero) return NO_ADDRESS;
      value = value * 10 + octet - ZERO;
      digits++;
    }
  }
  return parts === 4 ? address : NO_ADDRESS;
}

export const NO_ADDRESS = -1;
const DASH = 0x2d;
const ZERO = 0x30;

/** Writes the label of an IPv4 address with dashes, its length first. @returns its octets */
export function writeDashed(to: Uint8Array, address: number): number {
  let at = 1;
  for (let shift = 24; shift >= 0; shift -= 8) {
    const value = (address >>> shift) & 255;
    if (value > 99) to[at++] = ZERO + Math.floor(value / 100);
    if (value > 9) to[at++] = ZERO + (Math.floor(value / 10) % 10);
    to[at++] = ZERO + (value % 10);
    if (shift > 0) to[at++] = DASH;
  }
  to[0] = at - 1;
  return at;
}

/**
 * Services and slices as blocks of the table's memory: see `layout.ts`.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import type { BlockBuffer } from '../table/block.ts';
import { padded } from '../table/layout.ts';
import type { ServiceDraft, SliceDraft } from './drafts.ts';
import { encodePlaces } from './endpoint-places.ts';
import { MADE_LABEL } from './endpoint-writer.ts';
import {
  DISTRIBUTION_SHIFT,
  SECTION,
  SECTION_HAS_HOSTNAMES,
  SECTION_HAS_PLACES,
  SELECTS_PODS,
  SERVICE_RECORD,
  SLICE_RECORD,
  SLICE_TARGETS,
} from './layout.ts';

const MAX_OWN_ADDRESSES = 255;
const MAX_ENDPOINTS = 0xffff;
const MAX_PORTS = 0xffff;

/** A record is larger than its fields can say. */
export class RecordTooLargeError extends Error {
  override readonly name = 'RecordTooLargeError';
}

/** @param keepsAppProtocols whether the application protocols of ports are a part of the record */
export function encodeServiceRecord(
  buffer: BlockBuffer,
  draft: ServiceDraft,
  keepsAppProtocols: boolean,
): void {
  const { ipv4, ipv6, ports, external, target } = draft;
  const longs = ipv6.length / 16;
  if (ipv4.length > MAX_OWN_ADDRESSES || longs > MAX_OWN_ADDRESSES)
    throw new RecordTooLargeError(`too many addresses: ${ipv4.length + longs}; at most ${MAX_OWN_ADDRESSES}`);
  if (external.length > MAX_ENDPOINTS)
    throw new RecordTooLargeError(
      `external name too long: ${external.length} octets; at most ${MAX_ENDPOINTS}`,
    );
  const ipv6At = SERVICE_RECORD.ADDRESSES + ipv4.length * 4;
  const portsAt = ipv6At + ipv6.length;
  const externalAt = portsAt + ports.octets.length;
  buffer.begin(externalAt + external.length + target.length);
  const { words, octets } = buffer;
  const selects = draft.selects ? SELECTS_PODS : 0;
  const distribution = draft.distribution << DISTRIBUTION_SHIFT;
  words[0] =
    draft.kind | (ipv4.length << 8) | (longs << 16) | (draft.targetKind << 24) | distribution | selects;
  words[SERVICE_RECORD.SIZE >> 2] = buffer.length;
  words[SERVICE_RECORD.PORTS >> 2] = ports.count;
  words[SERVICE_RECORD.EXTERNAL >> 2] = external.length | (target.length << 16);
  for (let index = 0; index < ipv4.length; index++)
    words[(SERVICE_RECORD.ADDRESSES >> 2) + index] = ipv4.items[index] ?? 0;
  copy(octets, ipv6At, ipv6.items, ipv6.length);
  copy(octets, portsAt, ports.octets.items, ports.octets.length);
  if (keepsAppProtocols) writeAppProtocols(octets, portsAt, ports);
  copy(octets, externalAt, external.items, external.length);
  copy(octets, externalAt + external.length, target.items, target.length);
}

function writeAppProtocols(
  to: Uint8Array,
  at: number,
  { appProtocols, appProtocolsAt }: ServiceDraft['ports'],
): void {
  for (let index = 0; index < appProtocols.length; index++) {
    const place = at + (appProtocolsAt.items[index] ?? 0);
    to[place] = (to[place] ?? 0) | (appProtocols.items[index] ?? 0);
  }
}

function copy(to: Uint8Array, at: number, from: Uint8Array, length: number): void {
  for (let index = 0; index < length; index++) to[at + index] = from[index] ?? 0;
}

/** The endpoints of one family in a group. */
interface SectionPlan {
  readonly group: number;
  readonly isIpv4: boolean;
  readonly endpoints: readonly number[];
  readonly ready: number;
  readonly hasHostnames: boolean;
  /** Octets of the labels. */
  readonly labelOctets: number;
  /** Labels made from addresses, by endpoint. */
  readonly made: ReadonlyMap<number, Uint8Array>;
  /** The words of their places; undefined: none are kept. */
  readonly places: readonly number[] | undefined;
}

/** @param keepsPlaces whether the zones and nodes of endpoints are a part of the record */
export function encodeSliceRecord(buffer: BlockBuffer, draft: SliceDraft, keepsPlaces: boolean): void {
  const plans: SectionPlan[] = [];
  for (let group = 0; group < draft.groupEnds.length; group++)
    for (const isIpv4 of [true, false]) {
      const plan = planSection(draft, group, isIpv4);
      if (plan !== undefined) plans.push(keepsPlaces ? withPlaces(draft, plan) : plan);
    }
  const sizes = plans.map((plan) => sizeOfSection(draft, plan));
  const targetsAt = SLICE_RECORD.FIRST + sizes.reduce((sum, size) => sum + size, 0);
  buffer.begin(targetsAt + sizeOfTargets(draft));
  buffer.words[0] = buffer.length;
  buffer.words[SLICE_RECORD.SECTIONS >> 2] = plans.length;
  let at: number = SLICE_RECORD.FIRST;
  for (const [index, plan] of plans.entries()) {
    writeSection(buffer, draft, plan, at, sizes[index] ?? 0);
    at += sizes[index] ?? 0;
  }
  if (draft.targetCount > 0) writeTargets(buffer, draft, targetsAt);
}

function sizeOfTargets({ targetCount, targets, ports }: SliceDraft): number {
  if (targetCount === 0) return 0;
  if (targetCount > MAX_ENDPOINTS)
    throw new RecordTooLargeError(`too many endpoints: ${targetCount}; at most ${MAX_ENDPOINTS}`);
  return padded(SLICE_TARGETS.PORTS + ports.octets.length + targets.length);
}

function writeTargets({ words, octets }: BlockBuffer, draft: SliceDraft, at: number): void {
  const { targets, targetCount, ports } = draft;
  words[at >> 2] = targetCount | (ports.count << 16);
  const portsAt = at + SLICE_TARGETS.PORTS;
  copy(octets, portsAt, ports.octets.items, ports.octets.length);
  copy(octets, portsAt + ports.octets.length, targets.items, targets.length);
}

/** The ready endpoints first; undefined if there are none of this family. */
function planSection(draft: SliceDraft, group: number, isIpv4: boolean): SectionPlan | undefined {
  const from = group === 0 ? 0 : (draft.groupEnds.items[group - 1] ?? 0);
  const to = draft.groupEnds.items[group] ?? 0;
  const [ready, others]: [number[], number[]] = [[], []];
  for (let endpoint = from; endpoint < to; endpoint++) {
    if ((draft.families.items[endpoint] === 4) !== isIpv4) continue;
    (draft.states.items[endpoint] === 0 ? ready : others).push(endpoint);
  }
  if (ready.length + others.length === 0) return undefined;
  if (ready.length + others.length > MAX_ENDPOINTS)
    throw new RecordTooLargeError(
      `too many endpoints: ${ready.length + others.length}; at most ${MAX_ENDPOINTS}`,
    );
  const made = new Map<number, Uint8Array>();
  let labelOctets = 0;
  let hasHostnames = false;
  for (const endpoint of ready) {
    const label = draft.labels.items[endpoint] ?? -1;
    if (label >= 0) {
      hasHostnames = true;
      labelOctets += 1 + (draft.labelOctets.items[label] ?? 0);
    } else if (!isIpv4) {
      const text = madeLabel(draft, endpoint);
      made.set(endpoint, text);
      labelOctets += 1 + text.length;
    }
  }
  return {
    group,
    isIpv4,
    endpoints: [...ready, ...others],
    ready: ready.length,
    hasHostnames,
    labelOctets,
    made,
    places: undefined,
  };
}

function withPlaces(draft: SliceDraft, plan: SectionPlan): SectionPlan {
  const { endpoints, ready } = plan;
  const at = padded(computeLayout(draft, plan).end);
  return { ...plan, places: encodePlaces(draft, endpoints.slice(0, ready), at) };
}

/** The label of an IPv6 address: its canonical text with dashes, and a zero after a dash at the end. */
function madeLabel(draft: SliceDraft, endpoint: number): Uint8Array {
  const at = draft.addresses.items[endpoint] ?? 0;
  const label = formatAddress(draft.longs.items.subarray(at, at + 16)).replaceAll(/[:.]/g, '-');
  return Buffer.from(label.endsWith('-') ? `${label}0` : label, 'latin1');
}

/** Octets of a section's parts, from its start. */
function computeLayout(draft: SliceDraft, plan: SectionPlan) {
  const { group, isIpv4, endpoints, ready, labelOctets } = plan;
  const ports =
    (draft.portEnds.items[group] ?? 0) - (group === 0 ? 0 : (draft.portEnds.items[group - 1] ?? 0));
  const labelsAt = SECTION.ADDRESSES + endpoints.length * (isIpv4 ? 4 : 16);
  const textsAt = labelsAt + (labelOctets > 0 ? ready * 4 : 0);
  const portsAt = textsAt + labelOctets;
  const statesAt = portsAt + ports;
  return { ports, labelsAt, textsAt, portsAt, statesAt, end: statesAt + endpoints.length - ready };
}

/** The last word is the place of the places. */
const sizeOfSection = (draft: SliceDraft, plan: SectionPlan): number =>
  padded(computeLayout(draft, plan).end) + (plan.places === undefined ? 0 : plan.places.length * 4 + 4);

function writeSection(
  buffer: BlockBuffer,
  draft: SliceDraft,
  plan: SectionPlan,
  at: number,
  size: number,
): void {
  const { words, octets } = buffer;
  const { group, isIpv4, endpoints, ready, hasHostnames, labelOctets } = plan;
  const places = computeLayout(draft, plan);
  const ports = draft.groupPorts.items[group] ?? 0;
  if (ports > MAX_PORTS) throw new RecordTooLargeError(`too many ports: ${ports}; at most ${MAX_PORTS}`);
  words[at >> 2] = size;
  words[(at + SECTION.COUNTS) >> 2] = ready | (endpoints.length << 16);
  words[(at + SECTION.SHAPE) >> 2] =
    ports |
    ((isIpv4 ? 4 : 16) << 16) |
    (hasHostnames ? SECTION_HAS_HOSTNAMES : 0) |
    (plan.places === undefined ? 0 : SECTION_HAS_PLACES);
  words[(at + SECTION.PORTS) >> 2] = places.portsAt;
  words[(at + SECTION.LABELS) >> 2] = labelOctets > 0 ? places.labelsAt : 0;
  words[(at + SECTION.STATES) >> 2] = endpoints.length > ready ? places.statesAt : 0;
  const portsFrom = (draft.portEnds.items[group] ?? 0) - places.ports;
  for (let index = 0; index < places.ports; index++)
    octets[at + places.portsAt + index] = draft.ports.octets.items[portsFrom + index] ?? 0;
  let text = places.textsAt;
  for (const [index, endpoint] of endpoints.entries()) {
    writeAddress(buffer, draft, endpoint, at + SECTION.ADDRESSES, index);
    if (index >= ready) octets[at + places.statesAt + index - ready] = draft.states.items[endpoint] ?? 0;
    else if (labelOctets > 0)
      text = writeLabel(buffer, draft, plan, { at, text, index, labelsAt: places.labelsAt });
  }
  if (plan.places === undefined) return;
  const placesAt = padded(places.end);
  words.set(plan.places, (at + placesAt) >> 2);
  words[(at + size - 4) >> 2] = placesAt;
}

function writeAddress(
  buffer: BlockBuffer,
  draft: SliceDraft,
  endpoint: number,
  at: number,
  index: number,
): void {
  const address = draft.addresses.items[endpoint] ?? 0;
  if (draft.families.items[endpoint] === 4) buffer.words[(at >> 2) + index] = address;
  else
    for (let octet = 0; octet < 16; octet++)
      buffer.octets[at + index * 16 + octet] = draft.longs.items[address + octet] ?? 0;
}

/** Writes the label of an endpoint, if it has one. @returns where the next one begins in the section */
function writeLabel(
  { words, octets }: BlockBuffer,
  draft: SliceDraft,
  plan: SectionPlan,
  { at, text, index, labelsAt }: { at: number; text: number; index: number; labelsAt: number },
): number {
  const endpoint = plan.endpoints[index] ?? 0;
  const label = draft.labels.items[endpoint] ?? -1;
  const made = plan.made.get(endpoint);
  if (label < 0 && made === undefined) return text;
  words[((at + labelsAt) >> 2) + index] = made === undefined ? text : text | MADE_LABEL;
  const from =
    made ?? draft.labelOctets.items.subarray(label + 1, label + 1 + (draft.labelOctets.items[label] ?? 0));
  octets[at + text] = from.length;
  octets.set(from, at + text + 1);
  return text + 1 + from.length;
}

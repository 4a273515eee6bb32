/**
 * Node: the zone and region in its labels, and where its pods and itself ask from. The newer generation of labels takes precedence.
 */
import { isIP } from 'node:net';
import { type AddressRange, parseAddressRange } from '@portolan/dns/address-range.ts';
import type { NodeObject, NodeRangesObject } from '../objects.ts';
import { asList, asRecord, asText, asTexts } from './fields.ts';
import { nameless, readIdentity, readLabel, type Trimmed } from './trimmed.ts';

const ZONE_LABELS = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
const REGION_LABELS = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];

/** A node without either is left out. */
export function trimNode(raw: unknown): Trimmed<NodeObject> {
  const identity = readIdentity(raw, false);
  if (identity === undefined) return nameless();
  const { name, key } = identity;
  const zone = readFirstLabel(raw, ZONE_LABELS);
  const region = readFirstLabel(raw, REGION_LABELS);
  if (zone === undefined || region === undefined) return { kind: 'left-out', key };
  return { kind: 'object', object: { kind: 'Node', name, zone, region } };
}

/** Ranges of one node. A node has at most two of pods, and few addresses. */
const MAX_RANGES = 16;
const OWN_ADDRESSES = ['InternalIP', 'ExternalIP'];

/** Where the pods of a node and the node itself ask from. */
export function trimNodeRanges(raw: unknown): Trimmed<NodeRangesObject> {
  const identity = readIdentity(raw, false);
  if (identity === undefined) return nameless();
  const node = asRecord(raw);
  const spec = asRecord(node?.['spec']);
  const several = asTexts(spec?.['podCIDRs']);
  const ofPods = several.length > 0 ? several : asTexts([spec?.['podCIDR']]);
  const own = asList(asRecord(node?.['status'])?.['addresses']).flatMap((item) => {
    const { type, address } = asRecord(item) ?? {};
    const text = asText(address) ?? '';
    return OWN_ADDRESSES.includes(asText(type) ?? '') && isIP(text) !== 0 ? [text] : [];
  });
  const texts = [...new Set([...ofPods, ...own])].slice(0, MAX_RANGES);
  const ranges = texts.flatMap((text) => parseRange(text) ?? []);
  return {
    kind: 'object',
    object: { kind: 'NodeRanges', name: identity.name, zone: readFirstLabel(raw, ZONE_LABELS), ranges },
  };
}

/** `10.244.1.0/24`, or an address. */
function parseRange(text: string): AddressRange | undefined {
  const range = parseAddressRange(text);
  // A range of all addresses does not tell where a client is.
  return range?.prefix === 0 ? undefined : range;
}

function readFirstLabel(raw: unknown, labels: readonly string[]): string | undefined {
  return labels.map((label) => readLabel(raw, label)).find((value) => value !== undefined && value !== '');
}

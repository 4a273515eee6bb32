/**
 * Fills drafts of records from trimmed objects: for JSON, manifests and tests. Protocol Buffers are decoded into drafts
 * directly.
 */
import { encodeName } from '@portolan/dns/name.ts';
import {
  appendLabel,
  isObjectLabel,
  type Octets,
  type PortsDraft,
  placeWord,
  ServiceDraft,
  SliceDraft,
} from '@portolan/kernel/records/drafts.ts';
import {
  DISTRIBUTION,
  ENDPOINT_STATE,
  EXTERNAL_TARGET,
  PROTOCOLS,
  SERVICE_KIND,
} from '@portolan/kernel/records/layout.ts';
import { encodeAppProtocol } from '../names/app-protocol.ts';
import { canonicalAddress, endpointLabel } from '../names/endpoints.ts';
import { externalTarget } from '../names/external-target.ts';
import { hostnameLabel } from '../names/labels.ts';
import type { EndpointAddress, EndpointsObject, ServiceObject, ServicePort } from '../objects/objects.ts';

const service = new ServiceDraft();
const slice = new SliceDraft();
const NO_OCTETS = new Uint8Array(0);

const DISTRIBUTION_OF = { zone: DISTRIBUTION.ZONE, node: DISTRIBUTION.NODE } as const;

/** The draft of a service, valid until the next one. */
export function draftService({
  namespace,
  name,
  address,
  ports,
  selects,
  prefers,
}: ServiceObject): ServiceDraft {
  service.clear();
  service.selects = selects === true;
  if (prefers !== undefined) service.distribution = DISTRIBUTION_OF[prefers];
  service.isUsable = writeKey(service.key, name);
  service.isUsable &&= writeKey(service.key, namespace);
  for (const port of ports) addPort(service.ports, port);
  switch (address.kind) {
    case 'clusterIPs':
      service.kind = SERVICE_KIND.CLUSTER;
      for (const text of address.addresses) service.addAddress(text);
      break;
    case 'headless':
      service.kind = SERVICE_KIND.HEADLESS;
      break;
    case 'externalName':
      setExternalName(service, address.name);
  }
  return service;
}

/** Sets the external name of a service. */
export function setExternalName(draft: ServiceDraft, text: string): void {
  draft.kind = SERVICE_KIND.EXTERNAL;
  const octets = Buffer.from(text, 'utf8');
  draft.external.append(octets, 0, octets.length);
  const target = externalTarget(text);
  if (target.kind === 'address') draft.targetKind = EXTERNAL_TARGET.ADDRESS;
  if (target.kind !== 'name') return;
  draft.targetKind = EXTERNAL_TARGET.NAME;
  const name = encodeName(target.name);
  draft.target.append(name, 0, name.length);
}

/** The draft of a slice, valid until the next one. */
export function draftSlice({ namespace, name, service: of, groups, cluster }: EndpointsObject): SliceDraft {
  slice.clear();
  slice.takesDots = cluster !== undefined;
  slice.isUsable = writeKey(slice.key, namespace) && writeKey(slice.service, of);
  if (slice.isUsable) writeKey(slice.service, namespace);
  const own = Buffer.from(name, 'utf8');
  slice.key.append(own, 0, own.length);
  for (const { addresses, ports, others = [], targets = [] } of groups) {
    for (const { address, hostname, ...place } of addresses) {
      addPlace(slice, place);
      const text = cluster === undefined ? hostname : labelsIn(cluster, address, hostname);
      const octets = text === undefined ? NO_OCTETS : Buffer.from(text, 'utf8');
      slice.addAddress(address, 0, octets, 0, octets.length);
    }
    for (const { address, isTerminating } of others) {
      const state = ENDPOINT_STATE.NOT_READY | (isTerminating ? ENDPOINT_STATE.TERMINATING : 0);
      slice.addAddress(address, state, NO_OCTETS, 0, 0);
    }
    for (const { target, hostname } of targets) {
      const text = cluster === undefined ? hostname : targetLabelsIn(cluster, target, hostname);
      const octets = text === undefined ? NO_OCTETS : Buffer.from(text, 'utf8');
      slice.addTarget(target, octets, 0, octets.length);
    }
    for (const port of ports) addPort(slice.ports, port);
    slice.endGroup();
  }
  return slice;
}

/** Begins the place of an endpoint. */
function addPlace(
  { places }: SliceDraft,
  { zone, node, hints }: Pick<EndpointAddress, 'zone' | 'node' | 'hints'>,
): void {
  places.begin();
  if (zone !== undefined) places.zones.set(toPlaceWord(zone));
  if (node !== undefined) places.nodes.set(toPlaceWord(node));
  for (const name of hints?.zones ?? []) places.zones.addHint(toPlaceWord(name));
  for (const name of hints?.nodes ?? []) places.nodes.addHint(toPlaceWord(name));
}

/** The word of a zone or a node. */
export function toPlaceWord(name: string): number {
  const octets = Buffer.from(name, 'utf8');
  return placeWord(octets, 0, octets.length);
}

/** The labels of an endpoint of another cluster. */
function labelsIn(cluster: string, text: string, hostname: string | undefined): string | undefined {
  const address = canonicalAddress(text);
  return address && `${endpointLabel({ address, hostname: hostnameLabel(hostname) })}.${cluster}`;
}

const targetLabelsIn = (cluster: string, target: string, hostname: string | undefined): string =>
  `${hostnameLabel(hostname) ?? target.replace(/\.$/, '').replaceAll('.', '-')}.${cluster}`;

/** Appends the label of a name. @returns whether it can be one */
function writeKey(key: Octets, name: string): boolean {
  const octets = Buffer.from(name, 'utf8');
  if (!isObjectLabel(octets, 0, octets.length)) return false;
  appendLabel(key, octets, 0, octets.length);
  return true;
}

function addPort(ports: PortsDraft, { name, protocol, port, appProtocol }: ServicePort): void {
  const octets = Buffer.from(name, 'utf8');
  ports.add(port, PROTOCOLS.indexOf(protocol), octets, 0, octets.length);
  ports.note(encodeAppProtocol(appProtocol));
}

/** The key of a service's entry; undefined if its names cannot be labels. */
export function serviceKey(namespace: string, name: string): Uint8Array | undefined {
  const first = toWireLabel(name);
  const second = toWireLabel(namespace);
  return first && second && Buffer.concat([first, second]);
}

/** The key of a slice's entry; undefined if the name of its namespace cannot be a label. */
export function sliceKey(namespace: string, name: string): Uint8Array | undefined {
  const label = toWireLabel(namespace);
  return label && Buffer.concat([label, Buffer.from(name, 'utf8')]);
}

/** A name as a label in wire form; undefined if it cannot be one. */
export function toWireLabel(name: string): Uint8Array | undefined {
  const octets = Buffer.from(name, 'utf8');
  return isObjectLabel(octets, 0, octets.length)
    ? Buffer.concat([Uint8Array.of(octets.length), octets])
    : undefined;
}

/**
 * HTTPS records of services (RFC 9460): at the name of the service for port 443, and at `_PORT._https` below it. Readers compose the same
 * in `https-composer.ts`, which says when there is none.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { ROOT } from '@portolan/dns/name.ts';
import { type AbsoluteName, TYPE } from '@portolan/dns/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { RecordSet } from '@portolan/kernel/zone/record-set.ts';
import { canonicalAddresses } from '../names/endpoints.ts';
import { findOwnPort, HTTPS_PORT, isHttps } from '../names/https-port.ts';
import { nameBelow } from '../names/labels.ts';
import { addressSets, namedSets } from '../names/record-sets.ts';
import type { ServicePort } from '../objects/objects.ts';
import type { ServiceView } from './dialect.ts';

/** RFC 9460 section 14.3.2. */
const KEY = { alpn: 1, port: 3, ipv4hint: 4, ipv6hint: 6 } as const;

/** The TCP port of this number if it speaks TLS where clients reach it. */
function findSecure({ service, endpoints, targets }: ServiceView, number: number): ServicePort | undefined {
  const ports = service.ports.filter(({ port, protocol }) => protocol === 'TCP' && port === number);
  const [found] = ports.every(isHttps) ? ports : [];
  if (service.address.kind !== 'headless') return found;
  const isOpen = endpoints.every((endpoint) =>
    endpoint.ports.some(({ port, protocol }) => protocol === 'TCP' && port === number),
  );
  return isOpen && targets.length === 0 ? found : undefined;
}

/** The record at the name of a service, as a list: empty if there is none. */
export function ownHttpsSets(view: ServiceView): readonly RecordSet[] {
  if (!view.hasHttpsRecords) return [];
  const found = findOwnPort(view.service.ports.filter(({ protocol }) => protocol === 'TCP'));
  const port = found.kind === 'found' ? findSecure(view, found.port.port) : undefined;
  return port === undefined ? [] : [makeSet(view, port, ROOT)];
}

/** `_https` and the names of ports below it. */
export function httpsNodes(view: ServiceView, outcome: number): readonly ZoneNode[] {
  if (!view.hasHttpsRecords) return [];
  const numbers = new Set(view.service.ports.map(({ port }) => port));
  const nodes = [...numbers].flatMap((number): ZoneNode[] => {
    const port = findSecure(view, number);
    const name = nameBelow(`_${number}._https`, view.name);
    if (port === undefined || name === undefined) return [];
    return [{ name, sets: [makeSet(view, port, view.name)], alias: undefined, below: COMPLETE, outcome }];
  });
  const above = nodes.length === 0 ? undefined : nameBelow('_https', view.name);
  return above === undefined
    ? []
    : [{ name: above, sets: [], alias: undefined, below: COMPLETE, outcome }, ...nodes];
}

/** @param target the root: the name of the record itself */
function makeSet(view: ServiceView, port: ServicePort, target: AbsoluteName): RecordSet {
  const { service, ttl } = view;
  const { address } = service;
  const addresses = address.kind === 'clusterIPs' ? canonicalAddresses(address.addresses) : [];
  const sets = addressSets(addresses, ttl);
  const parameters = [
    ...makeAlpn(view, port),
    ...(target === ROOT && port.port !== HTTPS_PORT
      ? [{ key: KEY.port, value: Uint8Array.of(port.port >> 8, port.port & 0xff) }]
      : []),
    ...(view.filteredTypes.has(TYPE.A) ? [] : makeHints(KEY.ipv4hint, addresses, 4)),
    ...(view.filteredTypes.has(TYPE.AAAA) ? [] : makeHints(KEY.ipv6hint, addresses, 16)),
  ];
  const data = [{ kind: 'HTTPS', priority: 1, target, parameters }] as const;
  return { type: TYPE.HTTPS, ttl, data, additional: namedSets(view.name, sets) };
}

/** QUIC needs a UDP port of the same number, which only the addresses of the service itself promise. */
function makeAlpn({ service }: ServiceView, { port: number, appProtocol }: ServicePort) {
  const hasUdp =
    service.address.kind === 'clusterIPs' &&
    service.ports.some(({ port, protocol }) => protocol === 'UDP' && port === number);
  const versions = appProtocol?.kind === 'https' ? appProtocol.versions : [];
  const usable = versions.filter((version) => version !== 'h3' || hasUdp);
  if (usable.length === 0) return [];
  return [
    { key: KEY.alpn, value: Buffer.concat(usable.map((text) => Buffer.from(`\x02${text}`, 'latin1'))) },
  ];
}

function makeHints(key: number, addresses: readonly string[], octets: number) {
  const ofFamily = addresses
    .flatMap((text) => parseAddress(text) ?? [])
    .filter(({ length }) => length === octets);
  return ofFamily.length === 0 ? [] : [{ key, value: Buffer.concat(ofFamily) }];
}

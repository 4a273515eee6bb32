/**
 * Stub zones of SkyDNS: one key per server of a zone, below `dns/stub` in the domain.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { countLabels, joinName, splitLabels, toKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { nameOfPath, type Service, type ServiceNames } from '@portolan/etcd/source/names/services.ts';
import { ItemFault, type ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { parseUpstream, type UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import type { StubZone } from '../settings/compile-skydns.ts';

const DNS_PORT = 53;

/** The parent name of all stub zones. */
export function toStubParent(domain: NameKey): NameKey {
  return toKey(joinName('stub', joinName('dns', domain)));
}

export function readStubZones(names: ServiceNames, domain: NameKey, guard: ItemGuard): readonly StubZone[] {
  const top = toStubParent(domain);
  const found = names.find(top, 'all');
  const zones = new Map<NameKey, UpstreamAddress[]>();
  for (const service of found.kind === 'found' ? found.services : [])
    guard.take(
      () => service.path.join('/'),
      () => addServer(zones, service, countLabels(top)),
    );
  return [...zones].map(([zone, servers]) => ({ domain: zone, servers }));
}

/** @param depth the labels of the parent name of stub zones. @throws ItemFault for a service that is not such a server */
function addServer(
  zones: Map<NameKey, UpstreamAddress[]>,
  { path, host, port }: Service,
  depth: number,
): void {
  const name = nameOfPath(path);
  if (name === undefined) throw new ItemFault('malformed', 'its key is no name');
  // The first label identifies the server within its zone.
  const labels = splitLabels(toKey(name)).slice(1, -depth);
  // Complete labels of a name form a valid name.
  const zone = `${labels.join('.')}.` as NameKey;
  if (labels.length === 0 || host.kind !== 'address')
    throw new ItemFault('malformed', 'stub zone left out, its server is no address');
  if (port < 0 || port > 65_535) throw new ItemFault('malformed', `not a port: ${port}`);
  const address = formatAddress(host.octets);
  const server = parseUpstream(`${host.family === 6 ? `[${address}]` : address}:${port || DNS_PORT}`);
  zones.set(zone, [...(zones.get(zone) ?? []), server]);
}

/**
 * Stub zones of SkyDNS: below `dns/stub` of the domain, a key for each server of a zone.
 */
import type { RateLimitedWarnings } from '../../base/rate-limited-warning.ts';
import type { StubZone } from '../../config/skydns/compile-skydns.ts';
import { parseUpstream, type UpstreamAddress } from '../../forward/upstream-address.ts';
import { nameOfPath, type ServiceNames } from '../../sources/etcd/names/services.ts';
import { formatAddress } from '../../wire/address.ts';
import { countLabels, joinName, splitLabels, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

const DNS_PORT = 53;

/** The name below which stub zones stand. */
export function stubZonesOf(domain: NameKey): NameKey {
  return toKey(joinName('stub', joinName('dns', domain)));
}

export function readStubZones(
  names: ServiceNames,
  domain: NameKey,
  warnings: RateLimitedWarnings,
): readonly StubZone[] {
  const top = stubZonesOf(domain);
  const found = names.find(top, 'all');
  const zones = new Map<NameKey, UpstreamAddress[]>();
  for (const { path, host, port } of found.kind === 'found' ? found.services : []) {
    const name = nameOfPath(path);
    if (name === undefined) continue;
    // The first label is the place of a server.
    const labels = splitLabels(toKey(name)).slice(1, -countLabels(top));
    // Whole labels of a name are one.
    const zone = `${labels.join('.')}.` as NameKey;
    if (labels.length === 0 || host.kind !== 'address') {
      warnings.warn('stub zone left out, its server is no address', { key: path.join('/') });
      continue;
    }
    const address = formatAddress(host.octets);
    const server = parseUpstream(`${host.family === 6 ? `[${address}]` : address}:${port || DNS_PORT}`);
    zones.set(zone, [...(zones.get(zone) ?? []), server]);
  }
  return [...zones].map(([zone, servers]) => ({ domain: zone, servers }));
}

/**
 * The names of endpoints below their service: a hostname, or the address with dashes. Endpoints of one hostname share it.
 */
import type { NameKey } from '../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../zone/node.ts';
import type { NamedSet, RecordSet } from '../../zone/record-set.ts';
import type { ReverseName, ServiceView } from '../dialect.ts';
import { type Endpoint, isIpv6 } from '../endpoints.ts';
import { nameBelow } from '../labels.ts';
import { METRICS_ID } from '../metrics-ids.ts';
import { addressSets, namedSets } from '../record-sets.ts';
import { serviceSets } from './service-set.ts';

/** Endpoints that share a name. */
export interface NamedEndpoints {
  readonly name: NameKey;
  readonly endpoints: readonly Endpoint[];
  readonly sets: readonly RecordSet[];
  readonly addresses: readonly NamedSet[];
}

export function endpointLabel({ address, hostname }: Endpoint): string {
  if (hostname !== undefined) return hostname;
  if (!isIpv6(address)) return address.replaceAll('.', '-');
  const label = address.replaceAll(/[:.]/g, '-');
  // An address that ends in `::` would end the label in a dash.
  return label.endsWith('-') ? `${label}0` : label;
}

export function nameEndpoints(view: ServiceView): readonly NamedEndpoints[] {
  const byLabel = new Map<string, Endpoint[]>();
  for (const endpoint of view.endpoints) {
    const label = endpointLabel(endpoint);
    const others = byLabel.get(label);
    if (others === undefined) byLabel.set(label, [endpoint]);
    else others.push(endpoint);
  }
  const named: NamedEndpoints[] = [];
  for (const [label, endpoints] of byLabel) {
    const name = nameBelow(label, view.name);
    if (name === undefined) continue;
    const sets = addressSets(distinctAddresses(endpoints), view.ttl);
    named.push({ name, endpoints, sets, addresses: namedSets(name, sets) });
  }
  return named;
}

/** An address may stand there twice, under two hostnames. */
export function distinctAddresses(endpoints: readonly Endpoint[]): readonly string[] {
  const addresses = endpoints.map(({ address }) => address);
  return addresses.length === 1 ? addresses : [...new Set(addresses)];
}

/** Addresses, and SRV records of all ports that lead to the name itself. */
export function endpointNode({ name, endpoints, sets, addresses }: NamedEndpoints, ttl: number): ZoneNode {
  const targets = endpoints.flatMap(({ ports }) => ports.map(({ port }) => ({ name, port, addresses })));
  return {
    name,
    sets: targets.length === 0 ? sets : [...sets, ...serviceSets(targets, targets.length, ttl)],
    alias: undefined,
    below: COMPLETE,
    metricsId: METRICS_ID.endpoint,
  };
}

export function endpointReverse(named: readonly NamedEndpoints[]): ReverseName[] {
  return named.flatMap(({ name, endpoints }) =>
    endpoints.map(({ address }) => ({ address, target: name, isService: false })),
  );
}

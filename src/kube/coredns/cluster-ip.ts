/**
 * Services with cluster IPs: Kubernetes DNS specification, section 2.3.
 *
 * CoreDNS also names their endpoints, and has addresses at the names of ports; clients have come to know both.
 */
import type { NameKey } from '../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../zone/node.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import { canonicalAddresses } from '../endpoints.ts';
import { nameBelow } from '../labels.ts';
import { METRICS_ID } from '../metrics-ids.ts';
import type { ServicePort } from '../objects.ts';
import { groupByPort } from '../ports.ts';
import { addressSets, emptyNonTerminals, namedSets } from '../record-sets.ts';
import { endpointNode, endpointReverse, nameEndpoints } from './endpoint-names.ts';
import { serviceSets } from './service-set.ts';
import { belowService } from './short-names.ts';

const metricsId = METRICS_ID.clusterIP;

export function deriveClusterIp(view: ServiceView, clusterIPs: readonly string[]): DerivedService {
  const { name, ttl, service } = view;
  const ips = canonicalAddresses(clusterIPs);
  if (ips.length === 0) return { nodes: [], reverse: [] };
  const addressesOnly = addressSets(ips, ttl);
  const addresses = namedSets(name, addressesOnly);
  const setsFor = (ports: readonly ServicePort[]) => {
    const targets = ports.map(({ port }) => ({ name, port, addresses }));
    return [...addressesOnly, ...serviceSets(targets, ports.length * ips.length, ttl)];
  };
  const below = belowService(service.ports.length);
  const nodes: ZoneNode[] = [{ name, sets: setsFor(service.ports), alias: undefined, below, metricsId }];
  const groups = groupByPort(service.ports.map((port) => ({ port })));
  nodes.push(...emptyNonTerminals(groups, name, metricsId));
  for (const [labels, group] of groups) {
    const portName = nameBelow(labels, name);
    if (portName !== undefined) nodes.push(portNode(portName, setsFor(group.map(({ port }) => port))));
  }
  const named = nameEndpoints(view);
  for (const group of named) nodes.push(endpointNode(group, ttl));
  const own = ips.map((address) => ({ address, target: name, isService: true }));
  return { nodes, reverse: [...own, ...endpointReverse(named)] };
}

function portNode(name: NameKey, sets: ZoneNode['sets']): ZoneNode {
  return { name, sets, alias: undefined, below: COMPLETE, metricsId };
}

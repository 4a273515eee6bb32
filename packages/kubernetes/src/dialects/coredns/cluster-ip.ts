/**
 * Services with cluster IPs: Kubernetes DNS specification, section 2.3.
 *
 * CoreDNS also names their endpoints, and has addresses at the names of ports; clients rely on both.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import { canonicalAddresses } from '../../names/endpoints.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { groupByPort } from '../../names/ports.ts';
import { addressSets, emptyNonTerminals, namedSets } from '../../names/record-sets.ts';
import type { ServicePort } from '../../objects/objects.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import { httpsNodes, ownHttpsSets } from '../https-records.ts';
import { nameEndpoints } from './endpoint-names.ts';
import { serviceSets } from './service-set.ts';
import { belowService } from './short-names.ts';
import { targetNodes } from './target-names.ts';

const outcome = OUTCOME.clusterIP;

export function deriveClusterIp(view: ServiceView, clusterIPs: readonly string[]): DerivedService {
  const { name, ttl, service } = view;
  const ips = canonicalAddresses(clusterIPs);
  if (ips.length === 0) return { nodes: [], reverse: [] };
  const reverse = ips.map((address) => ({ address, target: name, isService: true }));
  if (view.ignoresEmptyServices && view.endpoints.length + view.targets.length === 0)
    return { nodes: [], reverse };
  const addressesOnly = addressSets(ips, ttl);
  const addresses = namedSets(name, addressesOnly);
  const setsFor = (ports: readonly ServicePort[]) => {
    const targets = ports.map(({ port }) => ({ name, port, addresses }));
    return [...addressesOnly, ...serviceSets(targets, ports.length * ips.length, ttl)];
  };
  const below = belowService(service.ports.length);
  const sets = setsFor(service.ports);
  const own = [...sets, ...ownHttpsSets(view)];
  const nodes: ZoneNode[] = [{ name, sets: own, alias: undefined, below, outcome }];
  const groups = groupByPort(service.ports.map((port) => ({ port })));
  nodes.push(...emptyNonTerminals(groups, name, outcome));
  for (const [labels, group] of groups) {
    const portName = nameBelow(labels, name);
    // If the service has a single port, its name has the service's records.
    const isAll = group.length === service.ports.length;
    if (portName !== undefined)
      nodes.push(portNode(portName, isAll ? sets : setsFor(group.map(({ port }) => port))));
  }
  nodes.push(...httpsNodes(view, outcome), ...targetNodes(view));
  const named = nameEndpoints(view);
  nodes.push(...named.map(({ node }) => node));
  return { nodes, reverse: [...reverse, ...named.flatMap((endpoints) => endpoints.reverse)] };
}

function portNode(name: NameKey, sets: ZoneNode['sets']): ZoneNode {
  return { name, sets, alias: undefined, below: COMPLETE, outcome };
}

/**
 * Headless services: Kubernetes DNS specification, section 2.4. Without a ready endpoint there is no name.
 */
import { COMPLETE, type ZoneNode } from '../../zone/node.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import type { Endpoint } from '../endpoints.ts';
import { nameBelow } from '../labels.ts';
import { METRICS_ID } from '../metrics-ids.ts';
import type { ServicePort } from '../objects.ts';
import { groupByPort } from '../ports.ts';
import { addressSets, emptyNonTerminals } from '../record-sets.ts';
import {
  distinctAddresses,
  endpointNode,
  endpointReverse,
  type NamedEndpoints,
  nameEndpoints,
} from './endpoint-names.ts';
import { serviceSets } from './service-set.ts';
import { belowService } from './short-names.ts';

const metricsId = METRICS_ID.headless;

/** An endpoint with one of its ports. */
interface Pair {
  readonly named: NamedEndpoints;
  readonly endpoint: Endpoint;
  readonly port: ServicePort;
}

export function deriveHeadless(view: ServiceView): DerivedService {
  const { name, ttl } = view;
  const named = nameEndpoints(view);
  if (named.length === 0) return { nodes: [], reverse: [] };
  const pairs = named.flatMap(pairsOf);
  const sets = [...addressSets(distinctAddresses(view.endpoints), ttl), ...setsTo(pairs, ttl)];
  const nodes: ZoneNode[] = [{ name, sets, alias: undefined, below: belowService(pairs.length), metricsId }];
  const groups = groupByPort(pairs);
  nodes.push(...emptyNonTerminals(groups, name, metricsId));
  for (const [labels, group] of groups) {
    const portName = nameBelow(labels, name);
    if (portName === undefined) continue;
    const addresses = distinctAddresses(group.map(({ endpoint }) => endpoint));
    const portSets = [...addressSets(addresses, ttl), ...setsTo(group, ttl)];
    nodes.push({ name: portName, sets: portSets, alias: undefined, below: COMPLETE, metricsId });
  }
  for (const group of named) nodes.push(endpointNode(group, ttl));
  return { nodes, reverse: endpointReverse(named) };
}

function pairsOf(named: NamedEndpoints): Pair[] {
  return named.endpoints.flatMap((endpoint) => endpoint.ports.map((port) => ({ named, endpoint, port })));
}

function setsTo(pairs: readonly Pair[], ttl: number): ZoneNode['sets'] {
  const targets = pairs.map(({ named, port }) => ({ ...named, port: port.port }));
  return serviceSets(targets, pairs.length, ttl);
}

/**
 * Headless services: Kubernetes DNS specification, section 2.4. The name exists only with a ready endpoint.
 */
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import type { RecordSet } from '../../../zone/record-set.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { addressSets, emptyNonTerminals } from '../../names/record-sets.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import {
  distinctAddresses,
  type EndpointPort,
  type NamedEndpoints,
  nameEndpoints,
} from './endpoint-names.ts';
import { serviceSets } from './service-set.ts';
import { belowService } from './short-names.ts';

const outcome = OUTCOME.headless;

/** A pair of an endpoint and one of its ports, with the endpoint's name. */
interface NamedPort extends EndpointPort {
  readonly named: NamedEndpoints;
}

export function deriveHeadless(view: ServiceView): DerivedService {
  const { name, ttl } = view;
  const named = nameEndpoints(view);
  if (named.length === 0) return { nodes: [], reverse: [] };
  const all = named.flatMap((one) => one.pairs.map((pair) => ({ ...pair, named: one })));
  const groups = groupByLabels(all);
  const sets = [...addressSets(distinctAddresses(view.endpoints), ttl), ...setsOfPorts(all, ttl)];
  const nodes: ZoneNode[] = [{ name, sets, alias: undefined, below: belowService(all.length), outcome }];
  nodes.push(...emptyNonTerminals(groups, name, outcome));
  for (const [labels, group] of groups) {
    const portName = nameBelow(labels, name);
    if (portName === undefined) continue;
    const addresses = addressSets(distinctAddresses(group.map(({ endpoint }) => endpoint)), ttl);
    const portSets = [...addresses, ...setsOfPorts(group, ttl)];
    nodes.push({ name: portName, sets: portSets, alias: undefined, below: COMPLETE, outcome });
  }
  nodes.push(...named.map(({ node }) => node));
  return { nodes, reverse: named.flatMap(({ reverse }) => reverse) };
}

function groupByLabels(pairs: readonly NamedPort[]): ReadonlyMap<string, readonly NamedPort[]> {
  const groups = new Map<string, NamedPort[]>();
  for (const pair of pairs) {
    if (pair.labels === undefined) continue;
    const group = groups.get(pair.labels);
    if (group === undefined) groups.set(pair.labels, [pair]);
    else group.push(pair);
  }
  return groups;
}

/** The SRV set of some ports. */
function setsOfPorts(pairs: readonly NamedPort[], ttl: number): readonly RecordSet[] {
  const targets = pairs.map(({ named, port }) => ({
    name: named.name,
    port: port.port,
    addresses: named.addresses,
  }));
  return serviceSets(targets, pairs.length, ttl);
}

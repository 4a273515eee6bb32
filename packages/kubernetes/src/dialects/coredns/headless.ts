/**
 * Headless services: Kubernetes DNS specification, section 2.4. The name exists only with a ready endpoint.
 */
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { RecordSet } from '@portolan/kernel/zone/record-set.ts';
import type { NamedTarget } from '../../names/endpoint-targets.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { portLabels } from '../../names/ports.ts';
import { emptyNonTerminals } from '../../names/record-sets.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import { httpsNodes, ownHttpsSets } from '../https-records.ts';
import { addressesOrAlias } from './aliases.ts';
import {
  distinctAddresses,
  type EndpointPort,
  type NamedEndpoints,
  nameEndpoints,
} from './endpoint-names.ts';
import { serviceSets } from './service-set.ts';
import { belowService } from './short-names.ts';
import { targetNodes } from './target-names.ts';

const outcome = OUTCOME.headless;

/** A pair of an endpoint and one of its ports, with the endpoint's name. */
interface NamedPort extends EndpointPort {
  readonly named: NamedEndpoints;
}

/** The endpoints that have a named port. */
interface PortGroup {
  readonly pairs: NamedPort[];
  readonly targets: NamedTarget[];
}

export function deriveHeadless(view: ServiceView): DerivedService {
  const { name, ttl, targets } = view;
  const named = nameEndpoints(view);
  if (named.length + targets.length === 0) return { nodes: [], reverse: [] };
  const all = named.flatMap((one) => one.pairs.map((pair) => ({ ...pair, named: one })));
  const groups = groupByLabels(all, targets);
  const { sets, alias } = addressesOrAlias(distinctAddresses(view.endpoints), targets, view);
  const below = belowService(all.length + groups.size);
  const own = [...sets, ...setsOfPorts(all, ttl), ...ownHttpsSets(view)];
  const nodes: ZoneNode[] = [{ name, sets: own, alias, below, outcome }];
  nodes.push(...emptyNonTerminals(groups, name, outcome));
  for (const [labels, { pairs, targets: others }] of groups) {
    const portName = nameBelow(labels, name);
    if (portName === undefined) continue;
    const ofPort = addressesOrAlias(distinctAddresses(pairs.map(({ endpoint }) => endpoint)), others, view);
    const portSets = [...ofPort.sets, ...setsOfPorts(pairs, ttl)];
    nodes.push({ name: portName, sets: portSets, alias: ofPort.alias, below: COMPLETE, outcome });
  }
  nodes.push(...httpsNodes(view, outcome), ...targetNodes(view), ...named.map(({ node }) => node));
  return { nodes, reverse: named.flatMap(({ reverse }) => reverse) };
}

function groupByLabels(
  pairs: readonly NamedPort[],
  targets: readonly NamedTarget[],
): ReadonlyMap<string, PortGroup> {
  const groups = new Map<string, PortGroup>();
  const getOrCreateGroup = (labels: string): PortGroup => {
    const group = groups.get(labels) ?? { pairs: [], targets: [] };
    groups.set(labels, group);
    return group;
  };
  for (const pair of pairs) if (pair.labels !== undefined) getOrCreateGroup(pair.labels).pairs.push(pair);
  for (const target of targets)
    for (const port of target.ports) {
      const labels = portLabels(port);
      if (labels !== undefined) getOrCreateGroup(labels).targets.push(target);
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

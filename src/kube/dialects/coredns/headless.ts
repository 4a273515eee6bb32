/**
 * Headless services: Kubernetes DNS specification, section 2.4. Without a ready endpoint there is no name.
 */
import type { Steps } from '../../../base/steps.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import type { Endpoint } from '../../names/endpoints.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { groupByPort } from '../../names/ports.ts';
import { addressSets, emptyNonTerminals } from '../../names/record-sets.ts';
import type { ServicePort } from '../../objects/objects.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import { addEndpointNodes, distinctAddresses, type NamedEndpoints, nameEndpoints } from './endpoint-names.ts';
import { serviceSets } from './service-set.ts';
import { belowService } from './short-names.ts';

const outcome = OUTCOME.headless;

/** An endpoint with one of its ports. */
interface Pair {
  readonly named: NamedEndpoints;
  readonly endpoint: Endpoint;
  readonly port: ServicePort;
}

export function* deriveHeadless(view: ServiceView): Steps<DerivedService> {
  const { name, ttl } = view;
  const named = yield* nameEndpoints(view);
  if (named.length === 0) return { nodes: [], reverse: [] };
  const pairs = named.flatMap(pairsOf);
  yield;
  const addresses = addressSets(distinctAddresses(view.endpoints), ttl);
  yield;
  const services = setsTo(pairs, ttl);
  const sets = [...addresses, ...services];
  yield;
  const nodes: ZoneNode[] = [{ name, sets, alias: undefined, below: belowService(pairs.length), outcome }];
  const groups = groupByPort(pairs);
  const hasOnePortEach = view.endpoints.every(({ ports }) => ports.length === 1);
  nodes.push(...emptyNonTerminals(groups, name, outcome));
  for (const [labels, group] of groups) {
    const portName = nameBelow(labels, name);
    if (portName === undefined) continue;
    // Of a service with a single port the port has what the service has.
    const isAll = hasOnePortEach && group.length === pairs.length;
    const ofPort = isAll ? addresses : addressSets(addressesOf(group), ttl);
    const portSets = [...ofPort, ...(isAll ? services : setsTo(group, ttl))];
    yield;
    nodes.push({ name: portName, sets: portSets, alias: undefined, below: COMPLETE, outcome });
  }
  const derived = { nodes, reverse: [] };
  yield* addEndpointNodes(named, view, derived);
  return derived;
}

function addressesOf(pairs: readonly Pair[]): readonly string[] {
  return distinctAddresses(pairs.map(({ endpoint }) => endpoint));
}

function pairsOf(named: NamedEndpoints): Pair[] {
  return named.endpoints.flatMap((endpoint) => endpoint.ports.map((port) => ({ named, endpoint, port })));
}

function setsTo(pairs: readonly Pair[], ttl: number): ZoneNode['sets'] {
  const targets = pairs.map(({ named: { name, addresses }, port }) => ({ name, addresses, port: port.port }));
  return serviceSets(targets, pairs.length, ttl);
}

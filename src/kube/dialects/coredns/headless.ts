/**
 * Headless services: Kubernetes DNS specification, section 2.4. Without a ready endpoint there is no name.
 */
import { inSteps, type Steps } from '../../../base/steps.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import type { RecordSet } from '../../../zone/record-set.ts';
import type { Endpoint } from '../../names/endpoints.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { portLabels } from '../../names/ports.ts';
import { distinctAddressSets, emptyNonTerminals } from '../../names/record-sets.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import { addEndpointNodes, type NamedEndpoints, nameEndpoints } from './endpoint-names.ts';
import { ServiceSet } from './service-set.ts';
import { belowService } from './short-names.ts';

const outcome = OUTCOME.headless;

/** Pairs of an endpoint and one of its ports: all of them, or those whose ports have the same labels. */
interface PortGroup {
  /** The endpoint of each pair. */
  readonly endpoints: Endpoint[];
  /** The names of the endpoints. */
  readonly named: NamedEndpoints[];
}

export function* deriveHeadless(view: ServiceView): Steps<DerivedService> {
  const { name, ttl } = view;
  const named = yield* nameEndpoints(view);
  if (named.length === 0) return { nodes: [], reverse: [] };
  const { all, groups, hasOnePortEach } = yield* groupEndpoints(named);
  const addresses = yield* distinctAddressSets(view.endpoints, ttl);
  const services = yield* servicesOf(all, undefined, ttl);
  const sets = [...addresses, ...services];
  const nodes: ZoneNode[] = [
    { name, sets, alias: undefined, below: belowService(all.endpoints.length), outcome },
  ];
  nodes.push(...emptyNonTerminals(groups, name, outcome));
  for (const [labels, group] of groups) {
    const portName = nameBelow(labels, name);
    if (portName === undefined) continue;
    // Of a service with a single port the port has what the service has.
    const isAll = hasOnePortEach && group.endpoints.length === all.endpoints.length;
    const ofPort = isAll ? addresses : yield* distinctAddressSets(group.endpoints, ttl);
    const portSets = [...ofPort, ...(isAll ? services : yield* servicesOf(group, labels, ttl))];
    nodes.push({ name: portName, sets: portSets, alias: undefined, below: COMPLETE, outcome });
  }
  const derived = { nodes, reverse: [] };
  yield* addEndpointNodes(named, view, derived);
  return derived;
}

function* groupEndpoints(named: readonly NamedEndpoints[]): Steps<{
  readonly all: PortGroup;
  readonly groups: ReadonlyMap<string, PortGroup>;
  readonly hasOnePortEach: boolean;
}> {
  const all = newGroup();
  const groups = new Map<string, PortGroup>();
  let hasOnePortEach = true;
  yield* inSteps(named, (one) => {
    for (const endpoint of one.endpoints) {
      if (endpoint.ports.length !== 1) hasOnePortEach = false;
      for (const port of endpoint.ports) {
        addPair(all, one, endpoint);
        const labels = portLabels(port);
        if (labels === undefined) continue;
        const group = groups.get(labels) ?? newGroup();
        groups.set(labels, group);
        addPair(group, one, endpoint);
      }
    }
  });
  return { all, groups, hasOnePortEach };
}

const newGroup = (): PortGroup => ({ endpoints: [], named: [] });

function addPair(group: PortGroup, named: NamedEndpoints, endpoint: Endpoint): void {
  group.endpoints.push(endpoint);
  if (group.named.at(-1) !== named) group.named.push(named);
}

/** The SRV set of a group. @param labels those of the ports that count; undefined: all */
function* servicesOf(
  { named, endpoints: pairs }: PortGroup,
  labels: string | undefined,
  ttl: number,
): Steps<readonly RecordSet[]> {
  const set = new ServiceSet(pairs.length);
  yield* inSteps(named, ({ name, endpoints, addresses }) => {
    for (const { ports } of endpoints)
      for (const port of ports)
        if (labels === undefined || portLabels(port) === labels) set.add(name, port.port, addresses);
  });
  return set.finish(ttl);
}

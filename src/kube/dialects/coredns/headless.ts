/**
 * Headless services: Kubernetes DNS specification, section 2.4. The name exists only with a ready endpoint.
 */
import { inSteps, type Steps } from '../../../base/steps.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import type { RecordSet } from '../../../zone/record-set.ts';
import type { Endpoint } from '../../names/endpoints.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { distinctAddressSets, emptyNonTerminals, orderedAddressSets } from '../../names/record-sets.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import { addEndpointNodes, type NamedEndpoints, nameEndpoints } from './endpoint-names.ts';
import { MIN_WEIGHT, ServiceSet } from './service-set.ts';
import { belowService } from './short-names.ts';

const outcome = OUTCOME.headless;

/** Pairs of an endpoint and one of its ports: all of them, or those whose ports have the same labels. */
interface PortGroup {
  pairs: number;
  /** The names of their endpoints. */
  readonly named: NamedEndpoints[];
}

export function* deriveHeadless(view: ServiceView): Steps<DerivedService> {
  const { name, ttl } = view;
  const named = yield* nameEndpoints(view);
  if (named.length === 0) return { nodes: [], reverse: [] };
  const { all, groups, hasOnePortEach } = yield* groupEndpoints(named);
  const addresses = yield* orderedAddressSets(view.endpoints, ttl);
  const services = yield* servicesOf(all, undefined, ttl);
  const sets = [...addresses, ...services];
  const nodes: ZoneNode[] = [{ name, sets, alias: undefined, below: belowService(all.pairs), outcome }];
  nodes.push(...emptyNonTerminals(groups, name, outcome));
  for (const [labels, group] of groups) {
    const portName = nameBelow(labels, name);
    if (portName === undefined) continue;
    // If the service has a single port, its name has the service's records.
    const isAll = hasOnePortEach && group.pairs === all.pairs;
    const ofPort = isAll ? addresses : yield* addressesOf(group, labels, ttl);
    const portSets = [...ofPort, ...(isAll ? services : yield* servicesOf(group, labels, ttl))];
    nodes.push({ name: portName, sets: portSets, alias: undefined, below: COMPLETE, outcome });
  }
  const derived = { nodes, reverse: [] };
  yield* addEndpointNodes(named, derived);
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
  // Nearly always the same group as for the previous name.
  let [last, group] = ['', newGroup()];
  const groupOf = (labels: string): PortGroup => {
    if (labels === last) return group;
    last = labels;
    group = groups.get(labels) ?? newGroup();
    groups.set(labels, group);
    return group;
  };
  yield* inSteps(named, (one) => {
    const { pairs, onlyLabels } = one;
    if (!one.hasOnePortEach) hasOnePortEach = false;
    if (pairs.length === 0) return;
    addPairs(all, one, pairs.length);
    if (onlyLabels !== undefined) addPairs(groupOf(onlyLabels), one, pairs.length);
    else for (const { labels } of pairs) if (labels !== undefined) addPairs(groupOf(labels), one, 1);
  });
  return { all, groups, hasOnePortEach };
}

const newGroup = (): PortGroup => ({ pairs: 0, named: [] });

function addPairs(group: PortGroup, named: NamedEndpoints, count: number): void {
  group.pairs += count;
  if (group.named.at(-1) !== named) group.named.push(named);
}

/** The addresses of a group. @param labels labels of its ports */
function* addressesOf({ named }: PortGroup, labels: string, ttl: number): Steps<readonly RecordSet[]> {
  const endpoints: Endpoint[] = [];
  yield* inSteps(named, ({ pairs }) => {
    for (const pair of pairs) if (pair.labels === labels) endpoints.push(pair.endpoint);
  });
  return yield* distinctAddressSets(endpoints, ttl);
}

/** The SRV set of a group. @param labels labels of the ports to include; undefined: all */
function* servicesOf(
  { named, pairs: count }: PortGroup,
  labels: string | undefined,
  ttl: number,
): Steps<readonly RecordSet[]> {
  const set = new ServiceSet(count);
  yield* inSteps(named, ({ name, pairs, onlyLabels, addresses, lightest }) => {
    const isWhole = labels === undefined || onlyLabels === labels;
    if (isWhole && lightest !== undefined && set.weight === MIN_WEIGHT) set.addAll(lightest, addresses);
    else
      for (const pair of pairs)
        if (labels === undefined || pair.labels === labels) set.add(name, pair.port.port, addresses);
  });
  return set.finish(ttl);
}

/**
 * The names of endpoints below their service: a hostname, or the address with dashes. Endpoints of one hostname share it.
 */
import { inSteps, type Steps } from '../../../base/steps.ts';
import { type NameKey, TYPE } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import type { NamedSet, RecordSet } from '../../../zone/record-set.ts';
import { type Endpoint, isIpv6 } from '../../names/endpoints.ts';
import { groupByLabel, type LabelGroup } from '../../names/label-groups.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { portLabels } from '../../names/ports.ts';
import { addressSets, namedSets } from '../../names/record-sets.ts';
import type { ReverseName } from '../../names/reverse-index.ts';
import type { ServicePort } from '../../objects/objects.ts';
import type { ServiceView } from '../dialect.ts';
import { MIN_WEIGHT, type ServiceData, servicesOf, weightOf } from './service-set.ts';

/** Endpoints that share a name, and what is derived from them. */
export interface NamedEndpoints {
  readonly name: NameKey;
  readonly addresses: readonly NamedSet[];
  /** Each pair of an endpoint and one of its ports. */
  readonly pairs: readonly EndpointPort[];
  /** The labels of all pairs, if they are the same. */
  readonly onlyLabels: string | undefined;
  readonly hasOnePortEach: boolean;
  /** The SRV records of all pairs in a large set, of services with many endpoints. */
  readonly lightest: readonly ServiceData[] | undefined;
  readonly node: ZoneNode;
  readonly reverse: readonly ReverseName[];
}

export interface EndpointPort {
  readonly endpoint: Endpoint;
  readonly port: ServicePort;
  /** Labels of the port's name, if it has one. */
  readonly labels: string | undefined;
}

export function endpointLabel({ address, hostname }: Endpoint): string {
  if (hostname !== undefined) return hostname;
  if (!isIpv6(address)) return address.replaceAll('.', '-');
  const label = address.replaceAll(/[:.]/g, '-');
  // An address that ends in `::` would end the label in a dash.
  return label.endsWith('-') ? `${label}0` : label;
}

/** Of services with many endpoints. */
const kept = new WeakMap<LabelGroup, NamedEndpoints>();
/** Labels processed in a step. */
const LABELS_PER_STEP = 200;

export function* nameEndpoints(view: ServiceView): Steps<readonly NamedEndpoints[]> {
  const named: NamedEndpoints[] = [];
  let made = 0;
  for (const group of view.keptGroups ?? groupByLabel(view.endpoints, endpointLabel)) {
    const before = kept.get(group);
    const one = before ?? nameGroup(group, view);
    if (one === undefined) continue;
    named.push(one);
    if (before !== undefined) continue;
    if (view.keptGroups !== undefined) kept.set(group, one);
    made += 1;
    if (made % LABELS_PER_STEP === 0) yield;
  }
  return named;
}

function nameGroup({ label, endpoints }: LabelGroup, view: ServiceView): NamedEndpoints | undefined {
  const name = nameBelow(label, view.name);
  if (name === undefined) return undefined;
  const sets = addressSets(distinctAddresses(endpoints), view.ttl);
  const addresses = namedSets(name, sets);
  const isKept = view.keptGroups !== undefined;
  const [first, ...others] = endpoints;
  const pairsOfFirst = first === undefined ? [] : pairsOf(first, isKept);
  const pairs =
    others.length === 0 ? pairsOfFirst : endpoints.flatMap((endpoint) => pairsOf(endpoint, isKept));
  const node = endpointNode(name, sets, addresses, pairs, view.ttl);
  const reverse = endpoints.map(({ address }) => ({ address, target: name, isService: false }));
  const hasOnePortEach = endpoints.every(({ ports }) => ports.length === 1);
  const labelsOfFirst = pairs[0]?.labels;
  const onlyLabels = pairs.every(({ labels }) => labels === labelsOfFirst) ? labelsOfFirst : undefined;
  const lightest = isKept ? servicesOf(name, pairs.map(portOf), MIN_WEIGHT) : undefined;
  return { name, addresses, pairs, onlyLabels, hasOnePortEach, lightest, node, reverse };
}

const portOf = ({ port }: EndpointPort): number => port.port;

function pairsOf(endpoint: Endpoint, isKept: boolean): readonly EndpointPort[] {
  const { ports } = endpoint;
  const labels = isKept ? keepLabels(ports) : undefined;
  return ports.map((port, index) => ({
    endpoint,
    port,
    labels: labels === undefined ? portLabels(port) : labels[index],
  }));
}

/** Keyed by lists of ports, which thousands of endpoints share. */
const labelsOfPorts = new WeakMap<readonly ServicePort[], readonly (string | undefined)[]>();

function keepLabels(ports: readonly ServicePort[]): readonly (string | undefined)[] {
  const known = labelsOfPorts.get(ports);
  if (known !== undefined) return known;
  const labels = ports.map(portLabels);
  labelsOfPorts.set(ports, labels);
  return labels;
}

/** An address may occur twice, with two hostnames. */
export function distinctAddresses(endpoints: readonly Endpoint[]): readonly string[] {
  const addresses = endpoints.map(({ address }) => address);
  return addresses.length === 1 ? addresses : [...new Set(addresses)];
}

/** Adds the nodes of endpoints' names to the given nodes. */
export function* addEndpointNodes(
  named: readonly NamedEndpoints[],
  derived: { readonly nodes: ZoneNode[]; readonly reverse: ReverseName[] },
): Steps<void> {
  yield* inSteps(named, ({ node, reverse }) => {
    derived.nodes.push(node);
    for (const one of reverse) derived.reverse.push(one);
  });
}

/** Addresses, and SRV records of all ports with the name itself as target. */
function endpointNode(
  name: NameKey,
  sets: readonly RecordSet[],
  addresses: readonly NamedSet[],
  pairs: readonly EndpointPort[],
  ttl: number,
): ZoneNode {
  const data = servicesOf(name, pairs.map(portOf), weightOf(pairs.length));
  return {
    name,
    sets: pairs.length === 0 ? sets : [...sets, { type: TYPE.SRV, ttl, data, additional: addresses }],
    alias: undefined,
    below: COMPLETE,
    outcome: OUTCOME.endpoint,
  };
}

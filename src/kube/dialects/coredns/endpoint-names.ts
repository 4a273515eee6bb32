/**
 * The names of endpoints below their service: a hostname, or the address with dashes. Endpoints of one hostname share it.
 */
import type { Steps } from '../../../base/steps.ts';
import type { NameKey } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import type { NamedSet, RecordSet } from '../../../zone/record-set.ts';
import { type Endpoint, isIpv6 } from '../../names/endpoints.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { addressSets, namedSets } from '../../names/record-sets.ts';
import type { ReverseName } from '../../names/reverse-index.ts';
import type { ServiceView } from '../dialect.ts';
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

/** What was derived from an endpoint that is alone on its label. */
const kept = new WeakMap<Endpoint, NamedEndpoints>();
/** How many endpoints make a step. */
const ENDPOINTS_PER_STEP = 200;

export function* nameEndpoints(view: ServiceView): Steps<readonly NamedEndpoints[]> {
  const byLabel = new Map<string, Endpoint[]>();
  let count = 0;
  for (const endpoint of view.endpoints) {
    const label = endpointLabel(endpoint);
    const others = byLabel.get(label);
    if (others === undefined) byLabel.set(label, [endpoint]);
    else others.push(endpoint);
    count += 1;
    if (count % (5 * ENDPOINTS_PER_STEP) === 0) yield;
  }
  const named: NamedEndpoints[] = [];
  for (const [label, endpoints] of byLabel) {
    const group = nameGroup(label, endpoints, view);
    if (group !== undefined) named.push(group);
    count += 1;
    if (count % ENDPOINTS_PER_STEP === 0) yield;
  }
  return named;
}

function nameGroup(
  label: string,
  endpoints: readonly Endpoint[],
  view: ServiceView,
): NamedEndpoints | undefined {
  const [only, ...others] = endpoints;
  const mayKeep = view.keepsEndpoints && others.length === 0 ? only : undefined;
  const before = mayKeep && kept.get(mayKeep);
  if (before !== undefined) return before;
  const name = nameBelow(label, view.name);
  if (name === undefined) return undefined;
  const sets = addressSets(distinctAddresses(endpoints), view.ttl);
  const group = { name, endpoints, sets, addresses: namedSets(name, sets) };
  if (mayKeep !== undefined) kept.set(mayKeep, group);
  return group;
}

/** An address may stand there twice, under two hostnames. */
export function distinctAddresses(endpoints: readonly Endpoint[]): readonly string[] {
  const addresses = endpoints.map(({ address }) => address);
  return addresses.length === 1 ? addresses : [...new Set(addresses)];
}

/** Nodes by what they were made from: the same group makes the same node. */
const nodes = new WeakMap<NamedEndpoints, ZoneNode>();
const reverse = new WeakMap<NamedEndpoints, readonly ReverseName[]>();

/** The names of endpoints and of their addresses, added to those that are there. */
export function* addEndpointNodes(
  named: readonly NamedEndpoints[],
  { ttl, keepsEndpoints }: ServiceView,
  derived: { readonly nodes: ZoneNode[]; readonly reverse: ReverseName[] },
): Steps<void> {
  for (const [index, group] of named.entries()) {
    const node = (keepsEndpoints ? nodes.get(group) : undefined) ?? endpointNode(group, ttl);
    const names = (keepsEndpoints ? reverse.get(group) : undefined) ?? endpointReverse(group);
    if (keepsEndpoints) {
      nodes.set(group, node);
      reverse.set(group, names);
    }
    derived.nodes.push(node);
    derived.reverse.push(...names);
    if (index % ENDPOINTS_PER_STEP === ENDPOINTS_PER_STEP - 1) yield;
  }
}

/** Addresses, and SRV records of all ports that lead to the name itself. */
function endpointNode({ name, endpoints, sets, addresses }: NamedEndpoints, ttl: number): ZoneNode {
  const targets = endpoints.flatMap(({ ports }) => ports.map(({ port }) => ({ name, port, addresses })));
  return {
    name,
    sets: targets.length === 0 ? sets : [...sets, ...serviceSets(targets, targets.length, ttl)],
    alias: undefined,
    below: COMPLETE,
    outcome: OUTCOME.endpoint,
  };
}

function endpointReverse({ name, endpoints }: NamedEndpoints): readonly ReverseName[] {
  return endpoints.map(({ address }) => ({ address, target: name, isService: false }));
}

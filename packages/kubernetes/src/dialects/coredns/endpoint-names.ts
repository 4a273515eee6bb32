/**
 * The names of endpoints below their service: a hostname, or the address with dashes. Endpoints of one hostname share it.
 */
import { type NameKey, TYPE } from '@portolan/dns/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { NamedSet, RecordSet } from '@portolan/kernel/zone/record-set.ts';
import { type Endpoint, endpointLabel } from '../../names/endpoints.ts';
import { groupByLabel, type LabelGroup } from '../../names/label-groups.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { portLabels } from '../../names/ports.ts';
import { addressSets, namedSets } from '../../names/record-sets.ts';
import type { ReverseName } from '../../names/reverse-name.ts';
import type { ServicePort } from '../../objects/objects.ts';
import type { ServiceView } from '../dialect.ts';
import { computeWeight, makeSrvData } from './service-set.ts';

/** Endpoints that share a name, and what is derived from them. */
export interface NamedEndpoints {
  readonly name: NameKey;
  readonly addresses: readonly NamedSet[];
  /** Each pair of an endpoint and one of its ports. */
  readonly pairs: readonly EndpointPort[];
  readonly node: ZoneNode;
  readonly reverse: readonly ReverseName[];
}

export interface EndpointPort {
  readonly endpoint: Endpoint;
  readonly port: ServicePort;
  /** Labels of the port's name, if it has one. */
  readonly labels: string | undefined;
}

export function nameEndpoints(view: ServiceView): readonly NamedEndpoints[] {
  return groupByLabel(view.endpoints, endpointLabel)
    .map((group) => nameGroup(group, view))
    .filter((named) => named !== undefined);
}

function nameGroup({ label, endpoints }: LabelGroup, view: ServiceView): NamedEndpoints | undefined {
  const name = nameBelow(label, view.name);
  if (name === undefined) return undefined;
  const sets = addressSets(distinctAddresses(endpoints), view.ttl);
  const addresses = namedSets(name, sets);
  const pairs = endpoints.flatMap(listEndpointPorts);
  const node = endpointNode(name, sets, addresses, pairs, view.ttl);
  const reverse = endpoints.map(({ address }) => ({ address, target: name, isService: false }));
  return { name, addresses, pairs, node, reverse };
}

function listEndpointPorts(endpoint: Endpoint): readonly EndpointPort[] {
  return endpoint.ports.map((port) => ({ endpoint, port, labels: portLabels(port) }));
}

/** An address may occur twice, with two hostnames. */
export function distinctAddresses(endpoints: readonly Endpoint[]): readonly string[] {
  return [...new Set(endpoints.map(({ address }) => address))];
}

/** Addresses, and SRV records of all ports with the name itself as target. */
function endpointNode(
  name: NameKey,
  sets: readonly RecordSet[],
  addresses: readonly NamedSet[],
  pairs: readonly EndpointPort[],
  ttl: number,
): ZoneNode {
  const data = makeSrvData(
    name,
    pairs.map(({ port }) => port.port),
    computeWeight(pairs.length),
  );
  return {
    name,
    sets: pairs.length === 0 ? sets : [...sets, { type: TYPE.SRV, ttl, data, additional: addresses }],
    alias: undefined,
    below: COMPLETE,
    outcome: OUTCOME.endpoint,
  };
}

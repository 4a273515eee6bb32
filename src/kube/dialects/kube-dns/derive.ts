/**
 * Derives the names of a service from its entries.
 */
import { inSteps, PIECES_PER_STEP, type Steps } from '../../../base/steps.ts';
import type { Below } from '../../../table/types.ts';
import { TYPE } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import { recordSet } from '../../../zone/record-set.ts';
import { canonicalAddresses, type Endpoint } from '../../names/endpoints.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { emptyNonTerminals } from '../../names/record-sets.ts';
import type { ReverseName } from '../../names/reverse-index.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import { type Entry, entriesNode, entriesNodeInSteps, shareAddressSets } from './entry.ts';
import {
  ENDPOINTS_PER_STEP,
  externalEntry,
  headlessEntries,
  portalEntries,
  type ServiceEntries,
} from './service-entries.ts';

const NOTHING: DerivedService = { nodes: [], reverse: [] };

export function* deriveService(view: ServiceView): Steps<DerivedService> {
  const { address } = view.service;
  switch (address.kind) {
    case 'clusterIPs': {
      const nodes = yield* entriesNodes(view, portalEntries(view, address.addresses), OUTCOME.clusterIP);
      const reverse = canonicalAddresses(address.addresses).map(
        (ip): ReverseName => ({ address: ip, target: view.name, isService: true }),
      );
      return { nodes, reverse };
    }
    case 'headless':
      return {
        nodes: yield* entriesNodes(view, yield* headlessEntries(view), OUTCOME.headless),
        reverse: yield* hostnames(view),
      };
    case 'externalName': {
      const entry = externalEntry(view, address.name);
      return entry === undefined ? NOTHING : { nodes: [aliasNode(entry, view.ttl)], reverse: [] };
    }
  }
}

/** The entries of ports have names too, which are made when a client asks. */
const ASK_FOR_KEYS: Below = { kind: 'ask', labels: 1 };

function* entriesNodes(
  view: ServiceView,
  { own, ports }: ServiceEntries,
  outcome: number,
): Steps<readonly ZoneNode[]> {
  if (own.length === 0) return [];
  const { name, ttl } = view;
  const addressesOf = shareAddressSets();
  yield;
  const nodes = [
    yield* entriesNodeInSteps(name, own, ttl, outcome, COMPLETE, addressesOf),
    ...emptyNonTerminals(ports, name, outcome),
  ];
  for (const [labels, entries] of ports) {
    const portName = nameBelow(labels, name);
    yield;
    if (portName === undefined) continue;
    nodes.push(yield* entriesNodeInSteps(portName, entries, ttl, outcome, ASK_FOR_KEYS, addressesOf));
  }
  let made = 0;
  for (const entry of own) {
    const kept = keptNodes.get(entry);
    nodes.push(kept ?? endpointNode(entry, view));
    made += kept === undefined ? 1 / ENDPOINTS_PER_STEP : 1 / PIECES_PER_STEP;
    if (made < 1) continue;
    made = 0;
    yield;
  }
  return nodes;
}

/** Nodes by entry, of services with many endpoints: an unchanged entry has the same node. */
const keptNodes = new WeakMap<Entry, ZoneNode>();

function endpointNode(entry: Entry, { ttl, keptGroups }: ServiceView): ZoneNode {
  const node = entriesNode(entry.name, [entry], ttl, OUTCOME.endpoint);
  if (keptGroups !== undefined) keptNodes.set(entry, node);
  return node;
}

/** The node of an entry for an external name, or for an address written in its place. */
export function aliasNode(entry: Entry, ttl: number): ZoneNode {
  const node = entriesNode(entry.name, [entry], ttl, OUTCOME.externalName);
  if (entry.host.kind !== 'name') return node;
  const cname = recordSet(TYPE.CNAME, ttl, [{ kind: 'CNAME', target: entry.host.target }]);
  return { ...node, sets: [cname, ...node.sets] };
}

const keptReverse = new WeakMap<Endpoint, ReverseName>();

/** Only endpoints with a hostname have PTR records. */
function* hostnames(view: ServiceView): Steps<readonly ReverseName[]> {
  const names: ReverseName[] = [];
  yield* inSteps(view.endpoints, (endpoint) => {
    const { address, hostname } = endpoint;
    const target = hostname === undefined ? undefined : nameBelow(hostname, view.name);
    if (target === undefined) return;
    const reverse = keptReverse.get(endpoint) ?? { address, target, isService: false };
    if (view.keptGroups !== undefined) keptReverse.set(endpoint, reverse);
    names.push(reverse);
  });
  return names;
}

/**
 * Derives the names of a service from its entries.
 */
import { toKey } from '@portolan/dns/name.ts';
import { type AbsoluteName, type NameKey, TYPE } from '@portolan/dns/types.ts';
import type { Below } from '@portolan/kernel/table/types.ts';
import type { ZoneNode } from '@portolan/kernel/zone/node.ts';
import { recordSet } from '@portolan/kernel/zone/record-set.ts';
import { canonicalAddresses } from '../../names/endpoints.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { emptyNonTerminals } from '../../names/record-sets.ts';
import type { ReverseName } from '../../names/reverse-name.ts';
import type { DerivedService, ServiceView } from '../dialect.ts';
import { httpsNodes, ownHttpsSets } from '../https-records.ts';
import { entriesNode, type KubeDnsEntry } from './entry.ts';
import { externalEntry, headlessEntries, portalEntries, type ServiceEntries } from './service-entries.ts';

const NOTHING: DerivedService = { nodes: [], reverse: [] };

export function deriveService(view: ServiceView): DerivedService {
  const { address } = view.service;
  switch (address.kind) {
    case 'clusterIPs': {
      const nodes = entriesNodes(view, portalEntries(view, address.addresses), OUTCOME.clusterIP);
      const reverse = canonicalAddresses(address.addresses).map(
        (ip): ReverseName => ({ address: ip, target: view.name, isService: true }),
      );
      return { nodes, reverse };
    }
    case 'headless':
      return {
        nodes: entriesNodes(view, headlessEntries(view), OUTCOME.headless),
        reverse: hostnames(view),
      };
    case 'externalName': {
      const entry = externalEntry(view, address.name);
      return entry === undefined ? NOTHING : { nodes: [aliasNode(entry, view.ttl)], reverse: [] };
    }
  }
}

/** The entries of ports have names too, which are made when a client asks. */
const ASK_FOR_KEYS: Below = { kind: 'ask', labels: 1 };

function entriesNodes(
  view: ServiceView,
  { own, ports }: ServiceEntries,
  outcome: number,
): readonly ZoneNode[] {
  if (own.length === 0) return [];
  const { name, ttl } = view;
  const node = entriesNode(name, own, ttl, outcome);
  const sets = [...node.sets, ...ownHttpsSets(view)];
  const nodes = [{ ...node, sets }, ...emptyNonTerminals(ports, name, outcome), ...httpsNodes(view, outcome)];
  for (const [labels, entries] of ports) {
    const portName = nameBelow(labels, name);
    if (portName !== undefined) nodes.push(entriesNode(portName, entries, ttl, outcome, ASK_FOR_KEYS));
  }
  for (const entry of own) nodes.push(entriesNode(entry.name, [entry], ttl, OUTCOME.endpoint));
  return nodes;
}

/** The node of an entry for an external name, or for an address written in its place. */
export function aliasNode(entry: KubeDnsEntry, ttl: number): ZoneNode {
  const node = entriesNode(entry.name, [entry], ttl, OUTCOME.externalName);
  if (entry.host.kind !== 'name') return node;
  const cname = recordSet(TYPE.CNAME, ttl, [{ kind: 'CNAME', target: entry.host.target }]);
  return { ...node, sets: [cname, ...node.sets] };
}

/** Only endpoints with a hostname have PTR records. */
function hostnames(view: ServiceView): readonly ReverseName[] {
  return view.endpoints.flatMap(({ address, hostname }) => {
    const target = hostname === undefined ? undefined : nameBelow(hostname, view.name);
    return target === undefined ? [] : [{ address, target, isService: false }];
  });
}

/** Seconds: the target may change with every endpoint, so kube-dns forbids caching it. */
const FEDERATION_TTL = 0;

/** The name of a service in a federation: an alias for the local service, or for the federation's service. */
export function federationNode(name: NameKey, target: AbsoluteName): ZoneNode {
  return aliasNode({ name, host: { kind: 'name', target: toKey(target) }, port: 0 }, FEDERATION_TTL);
}

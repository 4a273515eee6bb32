/**
 * Names and answers as CoreDNS has them.
 */
import { type NameKey, type RecordData, TYPE } from '@portolan/dns/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import { type RecordSet, recordSet } from '@portolan/kernel/zone/record-set.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import { externalTarget } from '../../names/external-target.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { addressOfPod } from '../../names/pods.ts';
import { addressSets, namedSets } from '../../names/record-sets.ts';
import type { ClusterDirectory, DerivedService, Dialect, ServiceView, ZoneFacts } from '../dialect.ts';
import { aliasTo } from './aliases.ts';
import { deriveClusterIp } from './cluster-ip.ts';
import { deriveHeadless } from './headless.ts';
import { serviceSets } from './service-set.ts';
import { shortPortName } from './short-names.ts';

/** Seconds: maximum TTL of the SOA record itself. */
const MAX_SOA_TTL = 300;
const VERSION_TTL = 28_800;
/** Of the Kubernetes DNS specification. */
const SPECIFICATION_VERSION = '1.1.0';
const outcome = OUTCOME.zone;

function zone(apex: NameKey, view: ZoneFacts): Zone {
  const soa = {
    kind: 'SOA',
    primary: toNameserver(apex),
    // A key: labels below an apex, whose length was checked.
    mailbox: `hostmaster.${apex}` as NameKey,
    serial: view.serial,
    refresh: 7200,
    retry: 1800,
    expire: 86_400,
    minimum: view.ttl,
  } as const;
  return { apex, soa, negativeTtl: Math.min(MAX_SOA_TTL, view.ttl), authoritativeNxdomain: true };
}

const toNameserver = (apex: NameKey) => `ns.dns.${apex}` as NameKey;

function apexNodes({ apex, soa, negativeTtl }: Zone, view: ZoneFacts): readonly ZoneNode[] {
  const nameserver = toNameserver(apex);
  const addresses = addressSets(view.nameservers, view.ttl);
  const isReverse = apex !== view.domain;
  const own = [recordSet(TYPE.SOA, negativeTtl, [soa]), nameserverSet(apex, view)];
  const nodes = [
    // An upstream may know names of the reverse tree that we do not hold.
    { name: apex, sets: own, alias: undefined, below: isReverse ? ASK : COMPLETE, outcome },
    plainNode(`dns.${apex}`, []),
    plainNode(nameserver, addresses),
  ];
  if (isReverse) return nodes;
  const version = Uint8Array.from(Buffer.from(SPECIFICATION_VERSION, 'latin1'));
  const text = recordSet(TYPE.TXT, VERSION_TTL, [{ kind: 'TXT', strings: [version] }]);
  return [
    ...nodes,
    plainNode(`dns-version.${apex}`, [text]),
    plainNode(`svc.${apex}`, []),
    plainNode(`pod.${apex}`, []),
  ];
}

/** The names of this server: those of the services that have it as endpoint, as in CoreDNS, or the one of the zone. */
function nameserverSet(apex: NameKey, { domain, nameservers, serverNames, ttl }: ZoneFacts): RecordSet {
  const isNamed = apex === domain && serverNames.length > 0;
  const servers = isNamed ? serverNames : [{ name: toNameserver(apex), addresses: nameservers }];
  const data = servers.map(({ name }): RecordData => ({ kind: 'NS', target: name }));
  const additional = servers.flatMap(({ name, addresses }) => namedSets(name, addressSets(addresses, ttl)));
  return { type: TYPE.NS, ttl, data, additional };
}

const ASK = { kind: 'ask', labels: 0 } as const;

function plainNode(name: string, sets: ZoneNode['sets']): ZoneNode {
  // A key: labels below an apex, whose length was checked.
  return { name: name as NameKey, sets, alias: undefined, below: COMPLETE, outcome };
}

const NOTHING: DerivedService = { nodes: [], reverse: [] };

function derive(view: ServiceView): DerivedService {
  const { address } = view.service;
  switch (address.kind) {
    case 'clusterIPs':
      return deriveClusterIp(view, address.addresses);
    case 'headless':
      return deriveHeadless(view);
    case 'externalName': {
      const node = externalNameNode(view, address.name);
      return node === undefined ? NOTHING : { nodes: [node], reverse: [] };
    }
  }
}

export const coreDns: Dialect = {
  name: 'coredns',
  usesNamespaces: true,
  recursionAvailable: false,
  anyQuestions: 'minimal',
  hasWildcards: false,
  ownsReverseZones: true,
  zone,
  apexNodes,
  derive,
  namespaceNode: (name) => ({
    name,
    sets: [],
    alias: undefined,
    below: COMPLETE,
    outcome: OUTCOME.namespace,
  }),
  nameBelowService(view, name, labels, findNode) {
    return shortPortName(name, labels, view.name, findNode);
  },
  podNamespaceNode,
  podName,
  wildcardName: () => undefined,
};

/**
 * Kubernetes DNS specification, section 2.5. The CNAME is followed only for addresses.
 *
 * An external name that is an address has no node, as in CoreDNS. Names below an alias do not exist.
 */
function externalNameNode(view: ServiceView, externalName: string): ZoneNode | undefined {
  const target = externalTarget(externalName);
  if (target.kind !== 'name') return undefined;
  const contents = aliasTo(target.name, view);
  return { name: view.name, ...contents, below: COMPLETE, outcome: OUTCOME.externalName };
}

const ASK_FOR_PODS = { kind: 'ask', labels: 1 } as const;

/** Pods have names only in namespaces that exist, for addresses of both families, with SRV records. */
function podNamespaceNode(
  name: NameKey,
  namespace: string,
  directory: ClusterDirectory,
): ZoneNode | undefined {
  if (directory.pods === 'disabled' || !directory.namespaceExists(namespace)) return undefined;
  return { name, sets: [], alias: undefined, below: ASK_FOR_PODS, outcome: OUTCOME.pod };
}

function podName(
  name: NameKey,
  labels: readonly string[],
  directory: ClusterDirectory,
): ZoneNode | undefined {
  const { pods, ttl } = directory;
  const [label, namespace] = labels;
  if (pods === 'disabled' || labels.length !== 2 || label === undefined || namespace === undefined)
    return undefined;
  const address = addressOfPod(label);
  if (address === undefined || !directory.namespaceExists(namespace)) return undefined;
  if (pods === 'verified' && !directory.hasPod(namespace, address)) return undefined;
  const addresses = addressSets([address], ttl);
  const services = serviceSets([{ name, port: 0, addresses: namedSets(name, addresses) }], 1, ttl);
  return { name, sets: [...addresses, ...services], alias: undefined, below: COMPLETE, outcome: OUTCOME.pod };
}

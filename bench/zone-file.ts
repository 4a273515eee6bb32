/**
 * The cluster as a zone file, for servers that read one.
 */
import { type Cluster, type ClusterService, isHeadless, PORT, ZONE } from './cluster.ts';

const TTL = 3600;

export function writeZoneFile(cluster: Cluster): string {
  return [
    `$ORIGIN ${ZONE}.`,
    `$TTL ${TTL}`,
    `@ SOA ns.dns hostmaster 1 7200 1800 86400 ${TTL}`,
    '@ NS ns.dns',
    'ns.dns A 10.96.0.2',
    ...cluster.services.flatMap(listRecords),
    '',
  ].join('\n');
}

function listRecords(service: ClusterService): readonly string[] {
  const name = `${service.name}.${service.namespace}.svc`;
  const port = `_${PORT.name}._tcp.${name}`;
  if (!isHeadless(service)) {
    return [...service.addresses.map((address) => addressRecord(name, address)), srvRecord(port, name)];
  }
  return service.endpoints.flatMap(({ hostname, address }) => [
    addressRecord(name, address),
    addressRecord(`${hostname}.${name}`, address),
    srvRecord(port, `${hostname}.${name}`),
  ]);
}

function addressRecord(owner: string, address: string): string {
  return `${owner} ${address.includes(':') ? 'AAAA' : 'A'} ${address}`;
}

function srvRecord(owner: string, target: string): string {
  return `${owner} SRV 0 100 ${PORT.number} ${target}`;
}

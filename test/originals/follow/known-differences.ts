/**
 * Differences from the originals that are meant, by their keys, each with its reason.
 */
import { DEVIATIONS, type DeviationId } from '@portolan/kernel/deviations/table.ts';

const ACME = 'an ACME client writes the files: docs/how-to/coming-from-coredns.md';
const WITHOUT_EFFECT = 'read with a warning: it has no effect in CoreDNS either';
const NOT_SERVED = 'HTTP/3 and QUIC are refused, with what to write instead';
const NOT_BUILT = 'not built: docs/how-to/coming-from-coredns.md';

function findReason(id: DeviationId): string {
  return DEVIATIONS.find((row) => row.id === id)?.why ?? '';
}

export const KNOWN_DIFFERENCES: ReadonlyMap<string, string> = new Map([
  ['coredns flag windows-service', 'Portolan runs on Linux'],
  ['coredns plugin portolan', findReason('own-directives')],
  ['coredns directive kubernetes.multicluster', NOT_BUILT],
  ['coredns directive kubernetes.zonal', NOT_BUILT],
  ['coredns directive tsig.algorithm', 'a word of key files, which are read as in CoreDNS'],
  ...['acme', 'ca', 'ca_root', 'email', 'resolver', 'storage'].map(
    (word) => [`coredns directive tls.${word}`, ACME] as const,
  ),
  ...[
    'auto.upstream',
    'etcd.debug',
    'etcd.stubzones',
    'etcd.upstream',
    'file.upstream',
    'template.upstream',
  ].map((word) => [`coredns directive ${word}`, WITHOUT_EFFECT] as const),
  ['coredns metric coredns_dns_https3_responses_total', NOT_SERVED],
  ['coredns metric coredns_dns_quic_responses_total', NOT_SERVED],
]);

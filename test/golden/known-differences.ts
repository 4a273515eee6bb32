/**
 * The deviations that the recorded answers show. All other answers must be equal.
 *
 * Each difference has its questions and the right answer. The first match counts.
 */
import type { DeviationId } from '@portolan/kernel/deviations/table.ts';
import type { DialectName } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import type { RecordedAnswer } from './recorded-answer.ts';

export interface KnownDifference {
  readonly dialects: readonly DialectName[];
  readonly deviation: DeviationId;
  /** What the questions show of it. */
  readonly shows: string;
  /** The name in lower case. */
  readonly isAbout: (name: string, type: string, recorded: RecordedAnswer) => boolean;
  readonly right: (recorded: RecordedAnswer, dialect: DialectName) => RecordedAnswer;
}

const COREDNS = ['coredns'] as const;
const KUBE_DNS = ['kube-dns'] as const;

const isPtrName = (name: string) => name.endsWith('.in-addr.arpa.') && name.split('.').length === 7;
const isPodName = (name: string) => name.endsWith('.pod.cluster.local.');

/** Names of the recorded cluster that have others below them. */
const NON_TERMINAL =
  /^(_tcp\.(cart\.shop|lonely\.shop|(db|eager|split)\.data)\.svc|_udp\.(cart\.shop|workers\.data)\.svc|((data|default|shop)\.)?svc|pod)\.cluster\.local\.$/;
/** Its services with addresses. */
const SERVICE = /^((cart|single|lonely)\.shop|(db|workers|eager|split)\.data)\.svc\./;
/** The addresses that two endpoints of one hostname have. */
const SHARED = ['10.244.1.50', '10.244.1.51'];

function soa(name: string, dialect: DialectName): string {
  const apex = name.endsWith('.in-addr.arpa.') ? 'in-addr.arpa.' : 'cluster.local.';
  const [ttl, timers] = dialect === 'coredns' ? [30, '7200 1800 86400 30'] : [60, '28800 7200 604800 60'];
  return `${apex} ${ttl} SOA ns.dns.${apex} hostmaster.${apex} 0 ${timers}`;
}

function noData({ name, type }: RecordedAnswer, dialect: DialectName): RecordedAnswer {
  const authority = [soa(name.toLowerCase(), dialect)];
  return { name, type, rcode: 'NOERROR', aa: true, answer: [], authority, additional: [] };
}

function noName(recorded: RecordedAnswer, dialect: DialectName): RecordedAnswer {
  return { ...noData(recorded, dialect), rcode: 'NXDOMAIN', aa: dialect === 'coredns' };
}

/** Each record of `same`'s one recorded address again with its other. */
function withSharedAddress(records: readonly string[]): readonly string[] {
  return records.flatMap((record) => {
    const [kept = '', other = ''] = [...SHARED].reverse();
    return record.endsWith(` A ${kept}`) ? [record, record.replace(kept, other)] : [record];
  });
}

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    dialects: COREDNS,
    deviation: 'name-exists',
    shows:
      'a name that has records of other types exists (RFC 2308): the apex asked for TXT, dns-version for A',
    isAbout: (name, type) =>
      (name === 'cluster.local.' && type === 'TXT') ||
      (name === 'dns-version.cluster.local.' && type === 'A'),
    right: noData,
  },
  {
    dialects: COREDNS,
    deviation: 'name-exists',
    shows: 'the name of a protocol exists, since names of ports stand below it (RFC 8020)',
    isAbout: (name, _type, { rcode }) => NON_TERMINAL.test(name) && rcode === 'NXDOMAIN',
    right: noData,
  },
  {
    dialects: COREDNS,
    deviation: 'soa-passed-on',
    shows: 'what is passed on is passed on for type SOA too: existence does not depend on the type',
    isAbout: (name, type) => type === 'SOA' && name === '10.in-addr.arpa.',
    right: ({ name, type }) => ({
      name,
      type,
      rcode: 'REFUSED',
      aa: false,
      answer: [],
      authority: [],
      additional: [],
    }),
  },
  {
    dialects: COREDNS,
    deviation: 'type-has-no-say',
    shows: 'a name that does not exist does not exist for type SOA either (RFC 2308)',
    isAbout: (name, type) =>
      type === 'SOA' && /^(db-2\.db\.data|nobody\.data|ipname\.shop)\.svc\./.test(name),
    right: noName,
  },
  {
    dialects: COREDNS,
    deviation: 'name-exists',
    shows: 'the name of an address that has a PTR record exists for all types (RFC 2308)',
    isAbout: (name, type) =>
      isPtrName(name) && type !== 'PTR' && (hasPointer(name) || OTHERS_OF_COREDNS.test(name)),
    right: noData,
  },
  {
    dialects: KUBE_DNS,
    deviation: 'kube-dns-pointer-types',
    shows: 'the name of an address that has a PTR record exists for all types (RFC 2308)',
    isAbout: (name, type, { rcode }) =>
      isPtrName(name) && type !== 'PTR' && rcode !== 'NOERROR' && hasPointer(name),
    right: noData,
  },
  {
    dialects: KUBE_DNS,
    deviation: 'pointer-authority',
    shows: 'we are the authority for the PTR records that we give',
    isAbout: (name, type, { rcode }) => isPtrName(name) && type === 'PTR' && rcode === 'NOERROR',
    right: (recorded) => ({ ...recorded, aa: true }),
  },
  {
    dialects: KUBE_DNS,
    deviation: 'kube-dns-name-exists',
    shows: 'names exist that have others below them, and the apex (RFC 8020)',
    isAbout: (name, _type, { rcode }) =>
      rcode === 'NXDOMAIN' && (name === 'cluster.local.' || NON_TERMINAL.test(name)),
    right: noData,
  },
  {
    dialects: KUBE_DNS,
    deviation: 'kube-dns-name-exists',
    shows:
      'every namespace is taken to have pods, so every name right below pod has others below it (RFC 8020)',
    isAbout: (name, _type, { rcode }) =>
      isPodName(name) && name.split('.').length === 5 && rcode === 'NXDOMAIN',
    right: noData,
  },
  {
    dialects: KUBE_DNS,
    deviation: 'nodata-has-soa',
    shows: 'NODATA carries the SOA record (RFC 2308 section 2.2)',
    isAbout: (name, type) => isPodName(name) && type === 'SRV',
    right: noData,
  },
  {
    dialects: KUBE_DNS,
    deviation: 'nodata-has-soa',
    shows: 'there was no answer, since the server had just crashed; the next type of these names got NODATA',
    isAbout: (_name, _type, { rcode }) => rcode === 'TIMEOUT',
    right: noData,
  },
  {
    dialects: KUBE_DNS,
    deviation: 'cname-type',
    shows: 'a name that exists does so for type CNAME too (RFC 2308)',
    isAbout: (name, type) => type === 'CNAME' && SERVICE.test(name),
    right: noData,
  },
  {
    dialects: KUBE_DNS,
    deviation: 'kube-dns-type-has-no-say',
    shows: 'a name that does not exist does not exist for type NS either (RFC 2308)',
    isAbout: (name, type) =>
      type === 'NS' && /^(ns\.dns|(empty|no-such-ns)\.svc|(db-2\.db|nobody)\.data\.svc)\./.test(name),
    right: noName,
  },
  {
    dialects: KUBE_DNS,
    deviation: 'cname-stands-alone',
    shows:
      'a CNAME stands alone, and has no place in an answer about a whole namespace (RFC 1034 section 3.6.2)',
    isAbout: (name, type) => type === 'A' && /^(\*\.)?shop\.svc\./.test(name),
    right: (recorded) => ({ ...recorded, answer: [`${recorded.name} 30 A 192.0.2.7`] }),
  },
  {
    dialects: KUBE_DNS,
    deviation: 'cname-stands-alone',
    shows:
      'ports of several endpoints would be several CNAMEs of one name (RFC 2181 section 10.1): the addresses instead',
    isAbout: (name, type, { rcode }) =>
      type === 'A' && rcode === 'NOERROR' && /^_\w+\._\w+\.\w+\.data\.svc\./.test(name),
    right: (recorded) => {
      const addresses = withSharedAddress(recorded.answer).filter((record) => record.includes(' A '));
      return { ...recorded, answer: addresses.map((record) => record.replace(/^\S+/, recorded.name)) };
    },
  },
  {
    dialects: KUBE_DNS,
    deviation: 'shared-hostname',
    shows:
      'two endpoints that share a hostname both have their address there (Kubernetes DNS specification 2.4.1)',
    isAbout: (_name, _type, { answer, additional }) =>
      [...answer, ...additional].some((record) => record.endsWith(` A ${SHARED[1]}`)),
    right: (recorded) => ({
      ...recorded,
      answer: withSharedAddress(recorded.answer),
      additional: withSharedAddress(recorded.additional),
    }),
  },
];

/** The recorded addresses of services, of endpoints that have a PTR record in both dialects, and in CoreDNS alone. */
const SERVICES = /^1[012]\.10\.96\.10\./;
const HOSTNAMES = /^(20\.[12]|[45][01]\.1)\.244\.10\./;
const OTHERS_OF_COREDNS = /^(10\.[12]|3[012]\.1|52\.1)\.244\.10\./;

function hasPointer(name: string): boolean {
  return SERVICES.test(name) || HOSTNAMES.test(name);
}

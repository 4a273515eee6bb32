/**
 * Deviations in answers about a cluster, from CoreDNS and from kube-dns.
 */
import { TYPE } from '@portolan/dns/types.ts';
import type { DeviationRow } from './deviation.ts';
import {
  type DifferingReplies,
  hasAll,
  hasFlag,
  isAddressType,
  isAlias,
  isNoData,
  isOnly,
  isReverse,
  soaOwner,
} from './differing-replies.ts';

const KUBERNETES = ['kubernetes', 'kubernetai'] as const;

/** From CoreDNS with the plugin `kubernetes`. */
export const CLUSTER_ROWS = [
  {
    id: 'name-exists',
    plugins: KUBERNETES,
    original:
      'NXDOMAIN for TXT of the apex, A of `dns-version`, missing types of `ns.dns` and of names with PTR records (passed on with `fallthrough`); for `_tcp.<service>`, `dns.<domain>` and `10.in-addr.arpa`, which have names below them',
    portolan:
      'NODATA; `fallthrough` passes on none but the reverse tree above addresses, for types other than SOA',
    why: 'such a name exists (RFC 2308, RFC 8020)',
    text: 'A name with names below it, or with records of other types, exists: NODATA (RFC 2308, RFC 8020).',
    inCompat: 'restored',
    leavesToChain: ['names'],
    appliesTo: () => true,
    shownBy: (replies: DifferingReplies) =>
      isNoData(replies.other) &&
      ((isNonTerminal(replies) && replies.one.rcode === 'NXDOMAIN') || isPassedOnPointer(replies)),
  },
  {
    id: 'type-has-no-say',
    plugins: KUBERNETES,
    original: 'NODATA for SOA of a name that does not exist',
    portolan: 'NXDOMAIN',
    why: 'existence does not depend on the type (RFC 2308)',
    text: 'Whether a name exists does not depend on the type of the question: NXDOMAIN for SOA and NS too (RFC 2308).',
    inCompat: 'restored',
    leavesToChain: ['names'],
    shownBy: ({ question: { type }, one, other }: DifferingReplies) =>
      (type === TYPE.SOA || type === TYPE.NS) && isNoData(one) && other.rcode === 'NXDOMAIN',
  },
  {
    id: 'soa-passed-on',
    plugins: KUBERNETES,
    original: '`fallthrough` does not pass on SOA of a name that does not exist',
    portolan: 'it does',
    why: 'the same',
    text: 'A question for SOA is passed on where those for other types are.',
    inCompat: 'restored',
    with: 'type-has-no-say',
    shownBy: (replies: DifferingReplies) =>
      replies.question.type === TYPE.SOA &&
      isReverse(replies) &&
      hasFlag(replies.one, 'aa') &&
      // An upstream server may have authority too.
      (!hasFlag(replies.other, 'aa') || (hasFlag(replies.other, 'ra') && !hasFlag(replies.one, 'ra'))),
  },
  {
    id: 'reverse-of-special-addresses',
    plugins: KUBERNETES,
    original: 'PTR of a loopback, link-local, multicast or metadata address that an endpoint lists',
    portolan: 'no name of the cluster',
    why: "a tenant must not name the cloud's metadata service",
    text: 'Loopback, link-local, multicast and metadata addresses have no reverse name, whoever lists them as endpoints.',
    inCompat: 'restored',
    appliesTo: () => true,
  },
  {
    id: 'endpoint-ranges',
    plugins: KUBERNETES,
    original: 'PTR of an endpoint at any address, for every service that lists it',
    portolan:
      'outside [`--endpoint-ranges`](../reference/flags.md) or `endpoint_ranges`, only by services with a selector',
    why: 'without a selector, any tenant may list any address',
    inCompat: 'stays',
  },
  {
    id: 'selected-names-first',
    plugins: KUBERNETES,
    original: 'PTR of an address that several services list: all their names alike',
    portolan: 'those of services with a selector come first',
    why: "a service that merely lists a pod's address must not hide the pod's own",
    inCompat: 'stays',
  },
] as const satisfies readonly DeviationRow[];

/** From kube-dns. They have no plugin: `kube-dns` and `serve` answer so. */
export const KUBE_DNS_ROWS = [
  {
    id: 'kube-dns-name-exists',
    plugins: [],
    original: 'NXDOMAIN for `cluster.local`, `svc.cluster.local`, namespaces, `<namespace>.pod`',
    portolan: 'NODATA',
    why: 'there are names below (RFC 8020)',
    inCompat: 'stays',
  },
  {
    id: 'cname-type',
    plugins: [],
    original: 'NXDOMAIN for type CNAME of names that exist',
    portolan: 'NODATA',
    why: 'it exists for type CNAME too (RFC 2308)',
    text: 'A name that exists does so for type CNAME too: NODATA (RFC 2308).',
    inCompat: 'stays',
    shownBy: ({ question: { type }, one, other }: DifferingReplies) =>
      type === TYPE.CNAME && one.rcode === 'NXDOMAIN' && isNoData(other) && soaOwner(other) !== undefined,
  },
  {
    id: 'kube-dns-type-has-no-say',
    plugins: [],
    original: 'NODATA for type NS of names that do not exist',
    portolan: 'NXDOMAIN',
    why: 'existence does not depend on the type (RFC 2308)',
    inCompat: 'stays',
  },
  {
    id: 'kube-dns-pointer-types',
    plugins: [],
    original: 'REFUSED for other types of a name that has a PTR record',
    portolan: 'NODATA',
    why: 'it exists for all types (RFC 2308)',
    inCompat: 'stays',
  },
  {
    id: 'cname-stands-alone',
    plugins: [],
    original:
      'A records beside a CNAME, CNAMEs in answers about a whole namespace, one CNAME out of several endpoints',
    portolan: 'only the addresses',
    why: 'RFC 1034 section 3.6.2, RFC 2181 section 10.1',
    text: 'A CNAME stands alone: answers about several services or endpoints have only the addresses (RFC 1034, RFC 2181).',
    inCompat: 'stays',
    shownBy: ({ question, one, other }: DifferingReplies) =>
      isAddressType(question) &&
      one.answer.some(isAlias) &&
      other.answer.length > 0 &&
      !other.answer.some(isAlias),
  },
  {
    id: 'shared-hostname',
    plugins: [],
    original: 'one address where two endpoints share a hostname',
    portolan: 'both',
    why: 'Kubernetes DNS specification 2.4.1',
    text: 'Endpoints that share a hostname all have their addresses there (Kubernetes DNS specification).',
    inCompat: 'stays',
    shownBy: ({ one, other, parts }: DifferingReplies) =>
      parts.every((part) => part === 'answer' || part === 'additional') &&
      hasMoreEndpointAddresses([...one.answer, ...one.additional], [...other.answer, ...other.additional]),
  },
  {
    id: 'pointer-authority',
    plugins: [],
    original: 'PTR without the AA bit',
    portolan: 'with the AA bit',
    why: 'Portolan is authoritative for these zones',
    text: 'PTR answers have the AA bit: Portolan is authoritative for these zones.',
    inCompat: 'stays',
    shownBy: ({ question: { type }, one, other, parts }: DifferingReplies) =>
      type === TYPE.PTR && isOnly(parts, 'flags') && !hasFlag(one, 'aa') && hasFlag(other, 'aa'),
  },
  {
    id: 'nodata-has-soa',
    plugins: [],
    original: 'an empty answer for SRV of a pod name, and then a crash',
    portolan: 'NODATA with the SOA record',
    why: 'RFC 2308 section 2.2',
    text: 'NODATA carries the SOA record (RFC 2308 section 2.2).',
    inCompat: 'stays',
    shownBy: ({ one, other }: DifferingReplies) =>
      isNoData(one) && isNoData(other) && one.authority.length === 0 && soaOwner(other) !== undefined,
  },
  {
    id: 'kube-dns-reverse-of-special-addresses',
    plugins: [],
    original: 'PTR of a loopback, link-local, multicast or metadata address that an endpoint lists',
    portolan: 'no name of the cluster',
    why: 'as with [CoreDNS](#against-coredns)',
    inCompat: 'stays',
  },
] as const satisfies readonly DeviationRow[];

/** Names of a cluster, without its domain, that have names below them or records of few types. */
const NON_TERMINAL =
  /^(?:(?:ns\.)?dns\.|dns-version\.|_[^.]+\.[^.]+\.[^.]+\.svc\.|(?:[^.]+\.)?(?:svc|pod)\.)?$/;

function isNonTerminal({ question: { name }, other }: DifferingReplies): boolean {
  const asked = name.toLowerCase();
  const apex = soaOwner(other)?.toLowerCase();
  return apex !== undefined && asked.endsWith(apex) && NON_TERMINAL.test(asked.slice(0, -apex.length));
}

/** Other types of a name with a PTR record: the original denies them, or passes them on, whatever the answer is then. */
function isPassedOnPointer(replies: DifferingReplies): boolean {
  const { question, one, other } = replies;
  const isDenied = one.rcode === 'NXDOMAIN' || (one.rcode !== 'NOERROR' && !hasFlag(one, 'aa'));
  return isReverse(replies) && question.type !== TYPE.PTR && isDenied && hasFlag(other, 'aa');
}

/** An endpoint with a hostname: `HOST.SERVICE.NAMESPACE.svc…`. */
const ENDPOINT = /^([^._][^.]*\.[^.]+\.[^.]+\.svc\.\S*) \S+ (?:IN )?(A|AAAA) \S+$/i;

function hasMoreEndpointAddresses(ones: readonly string[], others: readonly string[]): boolean {
  const known = new Set(ones);
  const more = others.filter((record) => !known.has(record));
  const owners = new Set(ones.flatMap((record) => ENDPOINT.exec(record)?.[1] ?? []));
  const isOfKnownOwner = (record: string) => owners.has(ENDPOINT.exec(record)?.[1] ?? '');
  return more.length > 0 && hasAll(others, ones) && more.every(isOfKnownOwner);
}

/**
 * Where Portolan deliberately answers otherwise than what it replaces: rows of docs/explanation/dialects.md that a reply shows.
 *
 * A row names its replies narrowly. A difference that only resembles one must not pass for it.
 */
import { CLASS, type Question, TYPE } from '../../wire/types.ts';
import type { DescribedReply } from './described-reply.ts';

export interface KnownDeviation {
  /** A word for the row. */
  readonly name: string;
  /** What Portolan does, and why: a sentence. */
  readonly text: string;
  /** The page and section with the row. */
  readonly page: string;
}

/** Two replies that differ: `one` is of the original, `other` of Portolan. */
export interface DifferingReplies {
  readonly question: Question;
  readonly one: DescribedReply;
  readonly other: DescribedReply;
  /** The parts that differ, sorted. */
  readonly parts: readonly string[];
}

interface DeviationRow extends KnownDeviation {
  readonly isShownBy: (replies: DifferingReplies) => boolean;
}

const PAGE = 'docs/explanation/dialects.md';
const CLUSTER = `${PAGE}#against-coredns`;
const KUBE_DNS = `${PAGE}#against-kube-dns`;
const PLUGINS = `${PAGE}#against-the-plugins-of-coredns`;
const FORWARD = `${PAGE}#forward`;
const NO_SWITCH = `${PAGE}#without-a-switch`;

/** The first row that two replies show; undefined: none. */
export function findDeviation(replies: DifferingReplies): KnownDeviation | undefined {
  const row = ROWS.find(({ isShownBy }) => isShownBy(replies));
  return row && { name: row.name, text: row.text, page: row.page };
}

const ROWS: readonly DeviationRow[] = [
  {
    name: 'name-exists',
    text: 'A name with names below it, or with records of other types, exists: NODATA (RFC 2308, RFC 8020).',
    page: CLUSTER,
    isShownBy: (replies) =>
      isNoData(replies.other) &&
      ((isNonTerminal(replies) && replies.one.rcode === 'NXDOMAIN') || isPassedOnPointer(replies)),
  },
  {
    name: 'type-has-no-say',
    text: 'Whether a name exists does not depend on the type of the question: NXDOMAIN for SOA and NS too (RFC 2308).',
    page: CLUSTER,
    isShownBy: ({ question: { type }, one, other }) =>
      (type === TYPE.SOA || type === TYPE.NS) && isNoData(one) && other.rcode === 'NXDOMAIN',
  },
  {
    name: 'soa-passed-on',
    text: 'A question for SOA is passed on where those for other types are.',
    page: CLUSTER,
    isShownBy: (replies) =>
      replies.question.type === TYPE.SOA &&
      isReverse(replies) &&
      hasFlag(replies.one, 'aa') &&
      // An upstream server may have authority too.
      (!hasFlag(replies.other, 'aa') || (hasFlag(replies.other, 'ra') && !hasFlag(replies.one, 'ra'))),
  },
  {
    name: 'cname-type',
    text: 'A name that exists does so for type CNAME too: NODATA (RFC 2308).',
    page: KUBE_DNS,
    isShownBy: ({ question: { type }, one, other }) =>
      type === TYPE.CNAME && one.rcode === 'NXDOMAIN' && isNoData(other) && soaOwner(other) !== undefined,
  },
  {
    name: 'cname-stands-alone',
    text: 'A CNAME stands alone: answers about several services or endpoints have only the addresses (RFC 1034, RFC 2181).',
    page: KUBE_DNS,
    isShownBy: ({ question: { type }, one, other }) =>
      (type === TYPE.A || type === TYPE.AAAA) &&
      one.answer.some(isAlias) &&
      other.answer.length > 0 &&
      !other.answer.some(isAlias),
  },
  {
    name: 'shared-hostname',
    text: 'Endpoints that share a hostname all have their addresses there (Kubernetes DNS specification).',
    page: KUBE_DNS,
    isShownBy: ({ one, other, parts }) =>
      parts.every((part) => part === 'answer' || part === 'additional') &&
      hasMoreEndpointAddresses([...one.answer, ...one.additional], [...other.answer, ...other.additional]),
  },
  {
    name: 'pointer-authority',
    text: 'PTR answers have the AA bit: Portolan is authoritative for these zones.',
    page: KUBE_DNS,
    isShownBy: ({ question: { type }, one, other, parts }) =>
      type === TYPE.PTR && isOnly(parts, 'flags') && !hasFlag(one, 'aa') && hasFlag(other, 'aa'),
  },
  {
    name: 'nodata-has-soa',
    text: 'NODATA carries the SOA record (RFC 2308 section 2.2).',
    page: KUBE_DNS,
    isShownBy: ({ one, other }) =>
      isNoData(one) && isNoData(other) && one.authority.length === 0 && soaOwner(other) !== undefined,
  },
  {
    name: 'slices-counted-once',
    text: 'An endpoint in two slices counts once for the weights of SRV records.',
    page: NO_SWITCH,
    isShownBy: ({ question: { type }, one, other, parts }) =>
      type === TYPE.SRV &&
      isOnly(parts, 'answer') &&
      isSame(one.answer.map(withoutWeight), other.answer.map(withoutWeight)),
  },
  {
    name: 'not-listed-yet',
    text: 'While the cluster is not listed, SERVFAIL has neither AA nor an SOA record: a failure says nothing about the zone.',
    page: PLUGINS,
    isShownBy: ({ one, other }) =>
      one.rcode === 'SERVFAIL' &&
      other.rcode === 'SERVFAIL' &&
      soaOwner(one) !== undefined &&
      other.authority.length === 0,
  },
  {
    name: 'names-lower-case',
    text: 'The names in SOA and SRV records are lower case: they are data, not a copy of the question.',
    page: NO_SWITCH,
    isShownBy: ({ one, other, parts }) =>
      parts.every((part) => part === 'answer' || part === 'authority') &&
      isSameButForCapitals(one.answer, other.answer) &&
      isSameButForCapitals(one.authority, other.authority),
  },
  {
    name: 'additional-left-out',
    text: 'Additional records that do not fit are left out without TC: the answer is whole (RFC 2181 section 9).',
    page: NO_SWITCH,
    isShownBy: ({ one, other }) =>
      hasFlag(one, 'tc') &&
      !hasFlag(other, 'tc') &&
      other.answer.some((record) => / SRV /.test(record)) &&
      isSameButForCapitals(one.answer, other.answer) &&
      isSameButForCapitals(one.authority, other.authority),
  },
  {
    name: 'class-of-its-own',
    text: 'An answer of class IN from the cache is none to a question of another class.',
    page: NO_SWITCH,
    isShownBy: ({ question, one, other }) =>
      question.class !== CLASS.IN &&
      !isFailure(one) &&
      // Of an alias of the cluster, the target alone comes from the cache.
      (isFailure(other) || (hasAll(one.answer, other.answer) && other.answer.some(isAlias))),
  },
  {
    name: 'whole-reply',
    text: 'A truncated reply of an upstream server is fetched as a whole over TCP.',
    page: FORWARD,
    isShownBy: ({ one, other }) => isForwarded(one, other) && hasFlag(one, 'tc') && !hasFlag(other, 'tc'),
  },
  {
    name: 'foreign-records',
    text: 'Records that do not belong to the question are dropped from replies of upstream servers (RFC 5452 section 6).',
    page: FORWARD,
    isShownBy: ({ one, other, parts }) =>
      isForwarded(one, other) &&
      parts.every((part) => part === 'authority' || part === 'additional' || isOfOwnQuery(part)) &&
      hasAll(one.authority, other.authority) &&
      hasAll(one.additional, other.additional) &&
      parts.some((part) => !isOfOwnQuery(part)),
  },
  {
    name: 'own-query',
    text: 'Portolan asks upstream servers with an OPT record of its own and AD set, so that one reply serves all clients.',
    page: FORWARD,
    isShownBy: ({ one, other, parts }) =>
      isForwarded(one, other) &&
      parts.every(isOfOwnQuery) &&
      one.flags.filter((flag) => flag !== 'ad').join() === other.flags.filter((flag) => flag !== 'ad').join(),
  },
];

const hasFlag = ({ flags }: DescribedReply, flag: string) => flags.includes(flag);
const isNoData = ({ rcode, answer }: DescribedReply) => rcode === 'NOERROR' && answer.length === 0;
const isFailure = ({ rcode }: DescribedReply) => rcode === 'REFUSED' || rcode === 'SERVFAIL';
const isOnly = (parts: readonly string[], part: string) => parts.every((each) => each === part);
const isOfOwnQuery = (part: string) => part === 'flags' || part === 'edns';
const isForwarded = (one: DescribedReply, other: DescribedReply) =>
  !hasFlag(one, 'aa') && !hasFlag(other, 'aa');
const isAlias = (record: string) => / CNAME \S+$/.test(record);
const lower = (record: string) => record.toLowerCase();
/** Without the TTL too: that of a cached record counts down. */
const normal = (record: string) => lower(record.replace(/^(\S+) \S+/, '$1'));
const withoutWeight = (record: string) => record.replace(/( SRV \d+) \d+ /, '$1 any ');

function isSame(ones: readonly string[], others: readonly string[]): boolean {
  const sorted = others.toSorted();
  return ones.length === others.length && ones.toSorted().every((each, place) => each === sorted[place]);
}

/** Whether `others` are the same records, in lower case. */
function isSameButForCapitals(ones: readonly string[], others: readonly string[]): boolean {
  return isSame(ones.map(normal), others.map(normal));
}

/** Whether all of `others` are among `ones`, whatever their TTLs. */
function hasAll(ones: readonly string[], others: readonly string[]): boolean {
  const known = new Set(ones.map(normal));
  return others.every((record) => known.has(normal(record)));
}

/** The zone that answers: the owner of the SOA record. */
function soaOwner({ answer, authority }: DescribedReply): string | undefined {
  return [...answer, ...authority]
    .map((record) => /^(\S+) \S+ (?:\S+ )?SOA /.exec(record)?.[1])
    .find((owner) => owner !== undefined);
}

/** Names of a cluster, without its domain, that have names below them or records of few types. */
const NON_TERMINAL =
  /^(?:(?:ns\.)?dns\.|dns-version\.|_[^.]+\.[^.]+\.[^.]+\.svc\.|(?:[^.]+\.)?(?:svc|pod)\.)?$/;

function isNonTerminal({ question: { name }, other }: DifferingReplies): boolean {
  const [asked, apex] = [name.toLowerCase(), soaOwner(other)?.toLowerCase()];
  return apex !== undefined && asked.endsWith(apex) && NON_TERMINAL.test(asked.slice(0, -apex.length));
}

/** Other types of a name with a PTR record: the original denies them, or passes them on, whatever the answer is then. */
function isPassedOnPointer(replies: DifferingReplies): boolean {
  const { question, one, other } = replies;
  const isDenied = one.rcode === 'NXDOMAIN' || (one.rcode !== 'NOERROR' && !hasFlag(one, 'aa'));
  return isReverse(replies) && question.type !== TYPE.PTR && isDenied && hasFlag(other, 'aa');
}

function isReverse({ question: { name } }: DifferingReplies): boolean {
  return /\.(?:in-addr|ip6)\.arpa\.$/i.test(name);
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

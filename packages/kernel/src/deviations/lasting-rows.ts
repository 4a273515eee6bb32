/**
 * Deviations from CoreDNS without a switch. Most are there because CoreDNS violates a standard, or harms itself or its clients.
 */
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import type { DeviationRow } from './deviation.ts';
import {
  type DifferingReplies,
  hasAll,
  hasFlag,
  isAlias,
  isFailure,
  isOnly,
  isSame,
  isSameButForCapitals,
} from './differing-replies.ts';

const ZONES = ['file', 'auto', 'secondary'] as const;
const CLUSTER = ['kubernetes', 'kubernetai'] as const;

/** The options of `template` and `rewrite`, as far as rows look at them. */
interface FollowsAliases {
  readonly templates?: readonly { readonly answer: object }[];
  readonly rules?: readonly { readonly field: string }[];
}

const CLIENT_ROWS = [
  {
    id: 'alias-loops',
    plugins: ['template', 'rewrite'],
    original: 'aliases in a loop keep a core busy',
    portolan: 'an alias to the question itself is not followed, and at most 32 names are asked for',
    why: 'no question may cost so much',
    text: 'An alias to the question itself is not followed, and at most 32 names are asked for.',
    inCompat: 'stays',
    appliesTo: ({ templates = [], rules = [] }: FollowsAliases) =>
      templates.some(({ answer }) => Array.isArray(answer) && answer.length > 0) ||
      rules.some(({ field }) => field === 'cname'),
  },
  {
    id: 'bounds-of-expressions',
    plugins: ['view', 'template'],
    original: 'an expression has no bounds',
    portolan: 'after a million steps or 4 MB of text it has no value; 1,000 nested nodes are refused',
    why: 'a query must not keep a core busy',
    inCompat: 'stays',
  },
  {
    id: 'searches-from-the-end',
    plugins: ['view', 'template'],
    original:
      '`findLast` and `findLastIndex` without a result drop the elements before them: `[1, findLast([1], # > 2)]` is `[false, nil]`',
    portolan: '`[1, nil]`',
    why: 'that is what it says',
    inCompat: 'stays',
  },
  {
    id: 'references-filled-once',
    plugins: ['rewrite'],
    original: 'the text inserted for `{1}` is searched for `{2}`',
    portolan: 'each reference is filled once',
    why: "a client's name must not grow",
    text: 'Each reference such as {1} is filled in once.',
    inCompat: 'stays',
    appliesTo: () => true,
  },
  {
    id: 'invalid-rewritten-name',
    plugins: ['rewrite'],
    original: 'no answer if its name becomes invalid',
    portolan: 'the name is not changed',
    why: 'a client should not wait',
    text: 'An answer whose name would be invalid keeps its name.',
    inCompat: 'stays',
    appliesTo: () => true,
  },
  {
    id: 'one-process-on-a-port',
    plugins: [],
    original: 'a second process on a port starts, and the kernel spreads clients over both',
    portolan: 'it ends; with `--takeover` it replaces the first. SIGUSR2 starts no process',
    why: 'clients would be answered by chance',
    inCompat: 'stays',
  },
  {
    id: 'records-without-ttl',
    plugins: ['file', 'auto'],
    original: 'records without class and TTL are refused',
    portolan: 'TTL 0, with a warning',
    why: 'as those with a class',
    inCompat: 'stays',
  },
  {
    id: 'changed-certificates',
    plugins: ['tls'],
    original: 'certificate and key are read at the start',
    portolan: 'changes are used within 10 s',
    why: 'short-lived certificates need no restart',
    inCompat: 'stays',
  },
  {
    id: 'https-denials',
    plugins: [],
    original: '`https://`: caches may keep a denial for the TTL of its SOA record',
    portolan: 'for its minimum at most',
    why: 'RFC 8484 section 5.1',
    inCompat: 'stays',
  },
  {
    id: 'dns64-names',
    plugins: ['dns64'],
    original: 'behind `rewrite`, the rewritten question and name',
    portolan: 'those that the client asked about',
    why: 'the client would drop the answer',
    inCompat: 'stays',
  },
  {
    id: 'dns64-properties',
    plugins: ['dns64'],
    original: '`dns64 PREFIX { … }` ignores its properties',
    portolan: 'they have their effect',
    why: 'they are written to have one',
    inCompat: 'stays',
  },
  {
    id: 'links-of-config-maps',
    plugins: ['auto'],
    original: 'serves former files of a ConfigMap while their folder exists',
    portolan: 'follows links, and leaves out names that begin with two dots',
    why: 'they are the current files',
    inCompat: 'stays',
  },
  {
    id: 'apex-exists',
    plugins: ['file', 'secondary'],
    original: 'with `fallthrough`, an apex with only SOA and NS records is passed on',
    portolan: 'NODATA',
    why: 'the name exists',
    inCompat: 'stays',
  },
  {
    id: 'search-domain-itself',
    plugins: ['autopath'],
    original: 'SERVFAIL for the first domain of a search list itself',
    portolan: 'answered as without it',
    why: 'the name exists',
    inCompat: 'stays',
  },
  {
    id: 'pod-of-one-cluster',
    plugins: ['autopath'],
    original: '`@kubernetai`: a pod must have its address in each cluster, and gets the domains of all',
    portolan: 'in one cluster, whose domains it gets',
    why: 'a pod is in one cluster',
    inCompat: 'stays',
  },
  {
    id: 'own-search-lists',
    plugins: ['autopath'],
    original:
      '`@kubernetes`: pods with `hostNetwork`, `dnsPolicy: None` or `Default`, or `dnsConfig.searches`, are like others',
    portolan: "[the pod's own list, or none](../../packages/kubernetes/src/plugins/autopath/README.md)",
    why: 'another list finds other names',
    inCompat: 'stays',
  },
  {
    id: 'one-alias-of-a-search',
    plugins: ['autopath'],
    original: 'puts a second CNAME before an ExternalName that it finds at once',
    portolan: 'one',
    why: 'RFC 1034 section 3.6.2',
    inCompat: 'stays',
  },
  {
    id: 'own-authors',
    plugins: ['chaos'],
    original: "without arguments, names CoreDNS's authors",
    portolan: "names Portolan's",
    why: 'they wrote it',
    text: "authors.bind names Portolan's authors.",
    inCompat: 'stays',
    appliesTo: ({ authors }: { readonly authors?: unknown }) => authors === undefined,
  },
] as const satisfies readonly DeviationRow[];

const KUBERNETES_ROWS = [
  {
    id: 'external-transfers',
    plugins: ['k8s_external'],
    original:
      'a transfer repeats addresses, lacks service records, has wrong targets for ports of named load balancers, and shows hidden namespaces; nobody is notified',
    portolan: 'it has the records of answers; a NOTIFY a second after a change, at most one in 5 s',
    why: 'an alias with other records is refused',
    text: 'A transferred zone has the records that its questions are answered with, and changes are notified.',
    inCompat: 'stays',
    appliesTo: () => true,
  },
  {
    id: 'imports-apart',
    plugins: ['kubernetes'],
    original:
      '`multicluster`: until service imports are listed, missing names of all zones are SERVFAIL, and the server is not ready',
    portolan: 'only those of the cluster set',
    why: "the cluster's own names need no imports",
    inCompat: 'stays',
  },
  {
    id: 'slices-counted-once',
    plugins: CLUSTER,
    original: 'an endpoint in two slices counts twice for SRV weights',
    portolan: 'counts once',
    why: 'it is one endpoint',
    text: 'An endpoint in two slices counts once for the weights of SRV records.',
    inCompat: 'stays',
    shownBy: ({ question: { type }, one, other, parts }: DifferingReplies) =>
      type === TYPE.SRV &&
      isOnly(parts, 'answer') &&
      isSame(one.answer.map(withoutWeight), other.answer.map(withoutWeight)),
  },
  {
    id: 'names-of-slices',
    plugins: CLUSTER,
    original: 'several slices of `addressType: FQDN`, or one beside addresses: several CNAME records',
    portolan: 'the addresses; without any, the first name in the alphabet',
    why: 'RFC 2181 section 10.1',
    inCompat: 'stays',
  },
  {
    id: 'cluster-transfers',
    plugins: ['kubernetes'],
    original: 'a transferred reverse zone has the names of services; nobody is notified',
    portolan: 'reverse zones are refused; a NOTIFY a second after a change, at most one in 5 s',
    why: 'a secondary server would have foreign and old records',
    inCompat: 'stays',
  },
  {
    id: 'spellings-of-pods',
    plugins: CLUSTER,
    original: '`pods verified`: one spelling of an IPv6 address',
    portolan: 'every spelling',
    why: 'they are the same address',
    inCompat: 'stays',
  },
  {
    id: 'pointers-below-the-root',
    plugins: CLUSTER,
    original: 'no reply to PTR with the root as its zone',
    portolan: 'NXDOMAIN',
    why: 'a client would wait',
    inCompat: 'stays',
  },
  {
    id: 'names-lower-case',
    plugins: CLUSTER,
    original: 'names in SOA records and SRV targets take the capitals of the question',
    portolan: 'lower case',
    why: 'they are data',
    text: 'The names in SOA and SRV records are lower case: they are data, not a copy of the question.',
    inCompat: 'stays',
    shownBy: ({ one, other, parts }: DifferingReplies) =>
      parts.every((part) => part === 'answer' || part === 'authority') &&
      isSameButForCapitals(one.answer, other.answer) &&
      isSameButForCapitals(one.authority, other.authority),
  },
  {
    id: 'too-long-by-dname',
    plugins: ZONES,
    original: 'NXDOMAIN if a DNAME makes a name too long',
    portolan: 'YXDOMAIN',
    why: 'RFC 6672 section 2.2',
    inCompat: 'stays',
  },
  {
    id: 'owners-as-asked',
    plugins: ['file', 'auto'],
    original: 'addresses beyond 512 octets have the owner in lower case',
    portolan: 'from a reader, in the letters of the question',
    why: 'only records of one length can rotate; whole owners would make answers too long',
    inCompat: 'stays',
  },
  {
    id: 'additional-left-out',
    plugins: [...CLUSTER, 'file'],
    original: 'TC when additional addresses do not fit',
    portolan: 'left out without TC',
    why: 'the answer is whole (RFC 2181 section 9)',
    text: 'Additional records that do not fit are left out without TC: the answer is whole (RFC 2181 section 9).',
    inCompat: 'stays',
    shownBy: ({ one, other }: DifferingReplies) =>
      hasFlag(one, 'tc') &&
      !hasFlag(other, 'tc') &&
      other.answer.some((record) => / SRV /.test(record)) &&
      isSameButForCapitals(one.answer, other.answer) &&
      isSameButForCapitals(one.authority, other.authority),
  },
  {
    id: 'pointers-need-services',
    plugins: CLUSTER,
    original: 'PTR of an endpoint whose Service does not exist',
    portolan: 'no such name',
    why: 'the name in it does not exist',
    inCompat: 'stays',
  },
] as const satisfies readonly DeviationRow[];

const TRANSPORT_ROWS = [
  {
    id: 'class-of-its-own',
    plugins: ['cache'],
    original: 'a question of another class gets the cached answer of class IN',
    portolan: 'asked upstream',
    why: 'it is another question',
    text: 'An answer of class IN from the cache does not answer a question of another class.',
    inCompat: 'stays',
    shownBy: ({ question, one, other }: DifferingReplies) =>
      question.class !== CLASS.IN &&
      !isFailure(one) &&
      // Of an alias of the cluster, the target alone comes from the cache.
      (isFailure(other) || (hasAll(one.answer, other.answer) && other.answer.some(isAlias))),
  },
  {
    id: 'pipelined-queries',
    plugins: ['forward'],
    original: 'one query at a time on a TCP or TLS connection',
    portolan: 'many, once a [trial](../adr/0100-pipeline-depth.md) has shown that the server takes them',
    why: 'half the processor time',
    inCompat: 'stays',
  },
  {
    id: 'replies-to-other-questions',
    plugins: ['forward'],
    original: 'a reply to another question causes FORMERR',
    portolan: 'it is ignored',
    why: 'anybody can guess an id (RFC 5452 section 9.1)',
    inCompat: 'stays',
  },
  {
    id: 'broken-data-unread',
    plugins: [],
    original:
      'FORMERR for broken data in an authority or additional record, or in an option other than a client subnet',
    portolan: 'answered',
    why: 'no handler reads this data',
    inCompat: 'stays',
  },
  {
    id: 'ipv4-behind-proxies',
    plugins: ['proxyproto'],
    original:
      'over UDP, an IPv4 client of a header counts as IPv6 in `whoami`, the client subnet of `rewrite`, and metrics',
    portolan: 'it counts as IPv4',
    why: 'it is one',
    inCompat: 'stays',
  },
  {
    id: 'proxies-after-reload',
    plugins: ['proxyproto'],
    original: 'a listener without `proxyproto` gets it at the next start',
    portolan: 'with the new plan',
    why: 'a reload that succeeds is in force',
    inCompat: 'stays',
  },
  {
    id: 'local-proxy-headers',
    plugins: ['proxyproto'],
    original: "over UDP, the command LOCAL is dropped, or has the client's addresses",
    portolan: 'the sender is the client',
    why: 'PROXY protocol section 2.2',
    inCompat: 'stays',
  },
  {
    id: 'trace-of-a-forward',
    plugins: ['trace'],
    original: 'each query of `forward` has a span `connect`',
    portolan: 'the queries of a question share one',
    why: 'equal questions share queries',
    inCompat: 'stays',
  },
  {
    id: 'traces-begin-here',
    plugins: ['trace'],
    original: 'over HTTPS, a trace continues the one that `x-b3-…` names',
    portolan: 'each query begins a trace',
    why: 'clients must not choose what is traced',
    inCompat: 'stays',
  },
  {
    id: 'spans-for-datadog',
    plugins: ['trace'],
    original: 'Datadog gets MessagePack, facts about the process, and telemetry',
    portolan: 'spans in JSON',
    why: 'agents take both',
    inCompat: 'stays',
  },
  {
    id: 'https-content-types',
    plugins: [],
    original: '`https://`: a POST of any content type is a query',
    portolan: '415 unless it is `application/dns-message`, or none is named',
    why: 'RFC 8484 section 4.1',
    inCompat: 'stays',
  },
  {
    id: 'grpc-without-response',
    plugins: [],
    original: '`grpc://`: a query without an answer comes back as it was, with the status OK',
    portolan: 'the status INTERNAL',
    why: 'a client would take its query for a response',
    inCompat: 'stays',
  },
  {
    id: 'grpc-times',
    plugins: ['grpc'],
    original: 'a silent server takes all of the 5 s',
    portolan: 'each server gets its share of the time; one that failed is asked last for 5 s',
    why: 'a server that is down costs no answer',
    inCompat: 'stays',
  },
  {
    id: 'grpc-other-questions',
    plugins: ['grpc'],
    original: 'a reply to another question causes FORMERR',
    portolan: 'it is a failure: the next server is asked',
    why: 'that may know the answer',
    inCompat: 'stays',
  },
  {
    id: 'grpc-schemes',
    plugins: ['grpc'],
    original: 'queries to `grpc://` servers fail',
    portolan: 'they are asked, on port 443 by default',
    why: 'the scheme leaves no doubt',
    inCompat: 'stays',
  },
  {
    id: 'grpc-bounds',
    plugins: ['grpc_server'],
    original: '`max_streams 0`, `max_connections 0`: any number',
    portolan: '1,000 calls on a connection, connections as over TCP',
    why: 'no client may take all memory',
    inCompat: 'stays',
  },
  {
    id: 'names-of-servers',
    plugins: ['forward'],
    original: "`tls://`, `https://`: host names by Go's resolver",
    portolan: 'by `resolv.conf` and `resolver`',
    why: 'the same names, without mDNS and NIS',
    inCompat: 'stays',
  },
] as const satisfies readonly DeviationRow[];

export const LASTING_ROWS = [...CLIENT_ROWS, ...KUBERNETES_ROWS, ...TRANSPORT_ROWS] as const;

const withoutWeight = (record: string) => record.replace(/( SRV \d+) \d+ /, '$1 any ');

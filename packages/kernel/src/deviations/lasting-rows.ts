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
    original: 'aliases that form a loop keep a core busy without end',
    portolan: 'an alias to the question itself is not followed, and at most 32 names are asked for in all',
    why: 'one question must not cost more than another',
    text: 'An alias to the question itself is not followed, and at most 32 names are asked for.',
    inCompat: 'stays',
    appliesTo: ({ templates = [], rules = [] }: FollowsAliases) =>
      templates.some(({ answer }) => Array.isArray(answer) && answer.length > 0) ||
      rules.some(({ field }) => field === 'cname'),
  },
  {
    id: 'bounds-of-expressions',
    plugins: ['view', 'template'],
    original: 'an expression loops and makes texts as long as it likes',
    portolan:
      'one that takes a million steps, or makes 4 MB of text, has no value; 1,000 nodes in each other are refused',
    why: 'a query must not keep a core busy',
    inCompat: 'stays',
  },
  {
    id: 'searches-from-the-end',
    plugins: ['view', 'template'],
    original:
      '`findLast` and `findLastIndex`, where they find nothing, take away what stands before them: `[1, findLast([1], # > 2)]` is `[false, nil]`',
    portolan: '`[1, nil]`',
    why: 'the value that one reads there',
    inCompat: 'stays',
  },
  {
    id: 'references-filled-once',
    plugins: ['rewrite'],
    original: 'the text inserted for `{1}` is searched for `{2}` again',
    portolan: 'each reference is filled in once',
    why: "a client's name must not grow with each group",
    text: 'Each reference such as {1} is filled in once.',
    inCompat: 'stays',
    appliesTo: () => true,
  },
  {
    id: 'invalid-rewritten-name',
    plugins: ['rewrite'],
    original: 'an answer whose name becomes invalid is not sent',
    portolan: 'the name is not changed',
    why: 'a client should not wait in vain',
    text: 'An answer whose name would be invalid keeps its name.',
    inCompat: 'stays',
    appliesTo: () => true,
  },
  {
    id: 'one-process-on-a-port',
    plugins: [],
    original:
      'a second process on the same address and port starts, and the kernel spreads clients over both',
    portolan:
      'it ends, and names the port; with `--takeover` it joins the port, and the first process ends. SIGUSR2 starts no process',
    why: 'two processes by mistake would answer clients by chance, each with its own data',
    inCompat: 'stays',
  },
  {
    id: 'records-without-ttl',
    plugins: ['file', 'auto'],
    original: 'records without a class and a TTL are refused',
    portolan: 'they have the TTL 0, with a warning',
    why: 'those with a class have, too',
    inCompat: 'stays',
  },
  {
    id: 'changed-certificates',
    plugins: ['tls'],
    original: 'certificate and key are read at the start',
    portolan: 'a changed certificate is used within 10 s',
    why: 'short-lived certificates need no restart',
    inCompat: 'stays',
  },
  {
    id: 'https-denials',
    plugins: [],
    original: '`https://`: caches may keep a denial for the TTL of its SOA record',
    portolan: 'for the minimum in the SOA record at most',
    why: 'RFC 8484 section 5.1',
    inCompat: 'stays',
  },
  {
    id: 'dns64-names',
    plugins: ['dns64'],
    original: 'behind `rewrite`, answers with the rewritten question and name',
    portolan: 'with those that the client asked about',
    why: 'the client would not take the answer',
    inCompat: 'stays',
  },
  {
    id: 'dns64-properties',
    plugins: ['dns64'],
    original: '`dns64 PREFIX { … }` ignores the properties in braces',
    portolan: 'they have their effect',
    why: 'they are written to have one',
    inCompat: 'stays',
  },
  {
    id: 'links-of-config-maps',
    plugins: ['auto'],
    original: 'serves the former files of a ConfigMap while their folder is there',
    portolan: 'follows the links, and leaves out names with two dots in front',
    why: 'they are the current files',
    inCompat: 'stays',
  },
  {
    id: 'apex-exists',
    plugins: ['file', 'secondary'],
    original: 'with `fallthrough`, questions about an apex with only SOA and NS records are passed on',
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
    original:
      '`@kubernetai`: the pod must have its address in each of the clusters, and gets the domains of all of them',
    portolan: 'its address is that of a pod in one of them, whose domains it gets',
    why: 'a pod is in one cluster',
    inCompat: 'stays',
  },
  {
    id: 'own-search-lists',
    plugins: ['autopath'],
    original:
      '`@kubernetes`: pods with `hostNetwork`, `dnsPolicy: None` or `Default`, or `dnsConfig.searches`, are searched for as any other',
    portolan: "[the pod's own list, or none](../../packages/kubernetes/src/plugins/autopath/README.md)",
    why: 'another list finds other names',
    inCompat: 'stays',
  },
  {
    id: 'one-alias-of-a-search',
    plugins: ['autopath'],
    original: 'puts a second CNAME before an ExternalName that it finds at once',
    portolan: 'one',
    why: 'two CNAMEs of one name are not allowed (RFC 1034 section 3.6.2)',
    inCompat: 'stays',
  },
  {
    id: 'own-authors',
    plugins: ['chaos'],
    original: "without arguments, names CoreDNS's authors",
    portolan: "names Portolan's",
    why: 'they wrote the server that answers',
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
      'a transfer repeats addresses, lacks service records, names a wrong target for the ports of a load balancer with a name, and shows hidden namespaces; changes are not notified',
    portolan:
      'it has the records that questions are answered with; secondary servers get a NOTIFY a second after a change, at most one in 5 s',
    why: 'secondary servers refuse an alias with other records',
    text: 'A transferred zone has the records that its questions are answered with, and changes are notified.',
    inCompat: 'stays',
    appliesTo: () => true,
  },
  {
    id: 'imports-apart',
    plugins: ['kubernetes'],
    original:
      '`multicluster`: missing names of all zones get SERVFAIL, and the server is not ready, until the API server has listed service imports',
    portolan: 'only those of the cluster set',
    why: "the cluster's own names do not depend on imports",
    inCompat: 'stays',
  },
  {
    id: 'slices-counted-once',
    plugins: CLUSTER,
    original: 'an endpoint in two slices counts twice for the weights of SRV records',
    portolan: 'counts once',
    why: 'it is one endpoint, which moves from one slice to the other',
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
    original:
      'endpoints of several slices of `addressType: FQDN`, or of one beside addresses: several CNAME records at one name, beside addresses too',
    portolan: 'the addresses; without any, the first name in the order of the alphabet',
    why: 'RFC 2181 section 10.1',
    inCompat: 'stays',
  },
  {
    id: 'cluster-transfers',
    plugins: ['kubernetes'],
    original:
      'with `transfer`: a reverse zone is transferred with the names of services; changes are not notified',
    portolan: 'reverse zones are refused; a NOTIFY a second after a change, at most one in 5 s',
    why: 'a secondary server would have records outside its zone, and old ones for two hours',
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
    original: 'with the root as its zone: no reply to PTR',
    portolan: 'NXDOMAIN',
    why: 'a client that gets no reply waits',
    inCompat: 'stays',
  },
  {
    id: 'names-lower-case',
    plugins: CLUSTER,
    original: 'the names in SOA records and the targets of SRV records take the capitals of the question',
    portolan: 'lower case',
    why: 'they are data, not a copy of the question',
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
    original: 'a DNAME that makes a name too long is NXDOMAIN, with that name',
    portolan: 'YXDOMAIN',
    why: 'RFC 6672 section 2.2',
    inCompat: 'stays',
  },
  {
    id: 'owners-as-asked',
    plugins: ['file', 'auto'],
    original: 'a set of addresses beyond 512 octets has the owner in lower case',
    portolan: 'from a reader, in the letters of the question',
    why: 'only records of one length can rotate, and with the whole owner in each of them the answer would be too long for many clients',
    inCompat: 'stays',
  },
  {
    id: 'additional-left-out',
    plugins: [...CLUSTER, 'file'],
    original: 'TC when the additional addresses of SRV or MX records do not fit',
    portolan: 'they are left out without TC',
    why: 'the answer is whole (RFC 2181 section 9), so the client needs no second query',
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
    why: 'the name that the record would have does not exist either',
    inCompat: 'stays',
  },
] as const satisfies readonly DeviationRow[];

const TRANSPORT_ROWS = [
  {
    id: 'class-of-its-own',
    plugins: ['cache'],
    original: 'a question of another class gets the answer of class IN that the cache holds',
    portolan: 'it is asked upstream',
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
    portolan: 'it is ignored, and Portolan waits for the true reply',
    why: 'anybody who guesses an id can send such a reply (RFC 5452 section 9.1)',
    inCompat: 'stays',
  },
  {
    id: 'broken-data-unread',
    plugins: [],
    original:
      'a query with broken data in a record of its authority or additional section, or in an option other than a client subnet: FORMERR',
    portolan: 'answered',
    why: 'no handler reads this data, and reader threads need not',
    inCompat: 'stays',
  },
  {
    id: 'ipv4-behind-proxies',
    plugins: ['proxyproto'],
    original:
      'over UDP, an IPv4 client of a header counts as one of IPv6: in `whoami`, the client subnet of `rewrite`, and metrics',
    portolan: 'it counts as one of IPv4',
    why: 'it is one',
    inCompat: 'stays',
  },
  {
    id: 'proxies-after-reload',
    plugins: ['proxyproto'],
    original: 'a listener that was opened without `proxyproto` gets it at the next start',
    portolan: 'it gets it with the new plan',
    why: 'a reload that succeeds is in force',
    inCompat: 'stays',
  },
  {
    id: 'local-proxy-headers',
    plugins: ['proxyproto'],
    original: 'over UDP, a header of the command LOCAL is dropped, or its addresses are those of the client',
    portolan: 'the sender is the client',
    why: 'a proxy that asks for itself gets an answer, and the PROXY protocol says so (section 2.2)',
    inCompat: 'stays',
  },
  {
    id: 'trace-of-a-forward',
    plugins: ['trace'],
    original: 'each query to a server of `forward` has a span `connect` with its address',
    portolan: 'the queries of a question share one, with the address of the server that replied',
    why: 'equal questions share the queries to servers',
    inCompat: 'stays',
  },
  {
    id: 'traces-begin-here',
    plugins: ['trace'],
    original:
      'over HTTPS, a trace continues that of the headers `x-b3-…`; with `client_server`, in the same span',
    portolan: 'each query begins a trace',
    why: 'a client must not choose which queries are traced, and with which ids',
    inCompat: 'stays',
  },
  {
    id: 'spans-for-datadog',
    plugins: ['trace'],
    original: 'Datadog gets spans in MessagePack, with facts about the process, and telemetry',
    portolan: 'the same spans in JSON, and nothing else',
    why: 'agents take both; nobody hears of the server but by its spans',
    inCompat: 'stays',
  },
  {
    id: 'https-content-types',
    plugins: [],
    original: '`https://`: a POST of any content type is a query',
    portolan: '415 unless it is `application/dns-message`, or none is named',
    why: 'RFC 8484 section 4.1; a form of a web page is no query',
    inCompat: 'stays',
  },
  {
    id: 'grpc-without-response',
    plugins: [],
    original: '`grpc://`: a query that no plugin answers comes back as it was, with the status OK',
    portolan: 'the call ends with the status INTERNAL',
    why: 'a client would take its query for a response',
    inCompat: 'stays',
  },
  {
    id: 'grpc-times',
    plugins: ['grpc'],
    original: 'a server that does not reply takes all of the 5 s, and no other one is asked',
    portolan:
      'each server gets its share of the time that is left, and one that has failed is asked last for 5 s',
    why: 'a server that is down costs no answer',
    inCompat: 'stays',
  },
  {
    id: 'grpc-other-questions',
    plugins: ['grpc'],
    original: 'a reply to another question causes FORMERR',
    portolan: 'it counts as a failure, and the next server is asked',
    why: 'another server may know the answer',
    inCompat: 'stays',
  },
  {
    id: 'grpc-schemes',
    plugins: ['grpc'],
    original: 'each query to a server with the scheme `grpc://` fails',
    portolan: 'it is asked, on port 443 if it names none',
    why: 'the scheme leaves no doubt',
    inCompat: 'stays',
  },
  {
    id: 'grpc-bounds',
    plugins: ['grpc_server'],
    original: '`max_streams 0`, `max_connections 0`: any number',
    portolan: '1,000 calls on a connection, and as many connections as over TCP',
    why: 'no client may take all memory',
    inCompat: 'stays',
  },
  {
    id: 'names-of-servers',
    plugins: ['forward'],
    original: "`tls://`, `https://`: host names by Go's resolver",
    portolan: 'by `resolv.conf` and `resolver`',
    why: 'the same names; mDNS and NIS are not asked',
    inCompat: 'stays',
  },
] as const satisfies readonly DeviationRow[];

export const LASTING_ROWS = [...CLIENT_ROWS, ...KUBERNETES_ROWS, ...TRANSPORT_ROWS] as const;

const withoutWeight = (record: string) => record.replace(/( SRV \d+) \d+ /, '$1 any ');

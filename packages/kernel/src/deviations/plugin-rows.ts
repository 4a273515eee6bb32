/**
 * Deviations of the plugins of a Corefile and of the server around them, which `-compat` restores.
 */
import type { DeviationRow } from './deviation.ts';
import { type DifferingReplies, soaOwner } from './differing-replies.ts';

const ZONES = ['file', 'auto', 'secondary'] as const;
const CLUSTER = ['kubernetes', 'kubernetai'] as const;

interface WithFallthrough {
  readonly fallthrough: readonly unknown[];
}

/** Of the server, with any plugins. */
const SERVER_ROWS = [
  {
    id: 'extended-errors',
    plugins: [],
    original: 'a failure has no reason; `acl` and `template` alone send extended errors (RFC 8914)',
    portolan:
      'to clients that send EDNS: [a code](../how-to/debugging.md#query-from-a-pod), without text, and those of the upstream server behind it, which `cache` keeps; they never change or cut the answer',
    why: '`dig` in a pod says why, without rights or tools',
    inCompat: 'restored',
  },
  {
    id: 'udp-size-bound',
    plugins: ['cache', ...ZONES],
    original: 'a response over UDP has as many octets as the client offers',
    portolan: 'it has 4096 at most, once it was cached or if it comes from a zone',
    why: 'larger responses serve attacks by amplification',
    inCompat: 'restored',
    leavesToChain: ['forwarding'],
  },
  {
    id: 'findings',
    plugins: [],
    original: 'the server does not judge itself',
    portolan:
      'it finds [faults](../reference/reasons.md) of itself and its cluster, and logs and counts them',
    why: 'what is wrong shows before somebody asks',
    inCompat: 'restored',
  },
  {
    id: 'sudden-loss',
    plugins: [...CLUSTER, ...ZONES, 'etcd'],
    original: 'a source that loses all its names at once empties the answers at once',
    portolan:
      'names that a source [loses in a sudden loss](sudden-loss.md) are answered for 10 minutes more, with the extended error 3 (Stale Answer); a few go at once',
    why: 'an empty list, a cut zone file or a restored backup is far more often a fault than a wish, and NXDOMAIN for all names is an outage',
    text: 'Half of the names of a source, and at least 20, that it loses within 30 s are answered for 10 minutes more, as stale.',
    inCompat: 'restored',
  },
  {
    id: 'own-directives',
    plugins: [],
    original: 'the directive `portolan`, the plugins that Portolan adds and `-query-log` are unknown',
    portolan: 'they are known',
    why: 'they have features that CoreDNS lacks',
    inCompat: 'restored',
  },
  {
    id: 'discovery',
    plugins: [],
    original: '`_dns.resolver.arpa` is forwarded as any name is',
    portolan:
      'with `portolan { discovery }` it is answered from the certificates of the encrypted listeners (RFC 9462)',
    why: 'the answer of an upstream server leads clients past the cluster',
    inCompat: 'restored',
    with: 'own-directives',
  },
  {
    id: 'nftset',
    plugins: [],
    original: 'no set of nftables is filled',
    portolan:
      'with `portolan { nftset }`, addresses of answers go into sets of nftables before the answers leave',
    why: 'policies about names need the address before the first connection',
    inCompat: 'restored',
    with: 'own-directives',
  },
  {
    id: 'tenants',
    plugins: ['kubernetes'],
    original: 'every client sees the services of all namespaces',
    portolan: 'with `portolan { tenants }`, a client sees those of its own tenant, and shared ones',
    why: 'teams that share a cluster need not learn the names of each other',
    inCompat: 'restored',
    with: 'own-directives',
  },
  {
    id: 'https-records',
    plugins: ['kubernetes'],
    original: 'services have no HTTPS records',
    portolan:
      'with `portolan { https_records }`, services with `appProtocol: https` have them, and `_https` and `_PORT._https` are names',
    why: 'RFC 9460: clients need no redirection from `http`, and learn of HTTP/3',
    inCompat: 'restored',
    with: 'own-directives',
  },
  {
    id: 'drain',
    plugins: [],
    original: 'after the stop signal, ends once `lameduck` is over',
    portolan: 'in a pod, answers on while queries arrive, as `drain` of `portolan` says',
    why: 'the routes of nodes change some time after the stop signal',
    inCompat: 'restored',
  },
  {
    id: 'reload-keeps-state',
    plugins: [],
    original: 'a reload empties `cache`, lists the cluster again, and closes connections to upstream servers',
    portolan: 'a plugin of an unchanged server block keeps what it has',
    why: 'its answers are still right',
    inCompat: 'restored',
  },
  {
    id: 'reload-tries-again',
    plugins: ['reload'],
    original: 'a Corefile that failed is tried again only when it changes',
    portolan: 'it is tried again each time',
    why: 'an import or an interface may become available later',
    inCompat: 'restored',
  },
  {
    id: 'reload-failures',
    plugins: ['reload'],
    original:
      'a Corefile that does not parse has a warning at each check; `coredns_reload_failed_total` counts neither it nor a failed SIGUSR1',
    portolan: 'one warning, and each failed reload counts once',
    why: 'an alert on the counter sees every broken Corefile',
    inCompat: 'restored',
  },
  {
    id: 'ready-reasons',
    plugins: ['ready'],
    original: '`/ready` does not mention a Corefile that failed, or packet filter rules that are not set',
    portolan: 'a second line of its body does',
    why: 'people look there',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

const COUNT_ROWS = [
  {
    id: 'further-questions',
    plugins: ['prometheus'],
    original: 'a question that a plugin asks for a query counts in `coredns_dns_*`',
    portolan: 'only queries of clients count',
    why: 'one query counts once, whether a reader or the chain answers it',
    inCompat: 'restored',
    leavesToChain: ['names', 'searches'],
  },
  {
    id: 'plugin-label',
    plugins: ['prometheus'],
    original: 'the label `plugin` of `coredns_dns_responses_total` is the plugin behind `prometheus`',
    portolan: 'the plugin that answered',
    why: 'the label says what it means',
    inCompat: 'restored',
  },
  {
    id: 'size-as-received',
    plugins: ['log', 'prometheus'],
    original: '`{size}` and the size in metrics are those of the query after `rewrite`',
    portolan: 'the size of the query as received, in metrics and for answers of reader threads',
    why: 'it is what the client sent',
    inCompat: 'restored',
  },
  {
    id: 'error-lines',
    plugins: ['errors'],
    original: 'each error has a line',
    portolan: 'five lines a minute for each server block, then a count',
    why: 'a client must not fill the log',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

const CLUSTER_PLUGIN_ROWS = [
  {
    id: 'unreached-cluster',
    plugins: CLUSTER,
    original: 'with `fallthrough`, and an API server that was never reached: names go to the next plugin',
    portolan: 'SERVFAIL',
    why: "another server would deny the cluster's name, and the denial would be cached",
    text: 'Until the cluster is listed, its names are SERVFAIL where CoreDNS passes them on.',
    inCompat: 'restored',
    leavesToChain: ['names'],
    appliesTo: ({ fallthrough = [] }: Partial<WithFallthrough>) => fallthrough.length > 0,
  },
  {
    id: 'not-listed-yet',
    plugins: CLUSTER,
    original: 'while the cluster is not listed: SERVFAIL with AA and an SOA record, whose serial is 0',
    portolan: 'SERVFAIL without AA and SOA',
    why: 'a failure says nothing about the zone',
    text: 'While the cluster is not listed, SERVFAIL has neither AA nor an SOA record: a failure says nothing about the zone.',
    inCompat: 'restored',
    leavesToChain: ['names'],
    shownBy: ({ one, other }: DifferingReplies) =>
      one.rcode === 'SERVFAIL' &&
      other.rcode === 'SERVFAIL' &&
      soaOwner(one) !== undefined &&
      other.authority.length === 0,
  },
  {
    id: 'reload-waits',
    plugins: CLUSTER,
    original:
      'in a changed Corefile: waits `startup_timeout` (5 s) for the API server, then answers SERVFAIL',
    portolan: 'waits at least 30 s; the former Corefile answers meanwhile',
    why: 'a reload beside a slow API server must cost no name',
    inCompat: 'restored',
  },
  {
    id: 'cluster-labels',
    plugins: ['kubernetes'],
    original: '`multicluster`: the label of a cluster below a service does not exist',
    portolan: 'exists (NODATA) while the cluster has endpoints',
    why: 'there are names below it (RFC 8020)',
    inCompat: 'restored',
    leavesToChain: ['names'],
  },
  {
    id: 'transferred-ttls',
    plugins: ['kubernetes'],
    original: 'in a transferred zone, the addresses of the name server have TTL 0',
    portolan: 'the TTL of the zone',
    why: 'a secondary server would answer with other TTLs',
    inCompat: 'restored',
  },
  {
    id: 'client-of-address',
    plugins: ['kubernetes'],
    original: 'with `metadata`: an address that several pods have is of one of them',
    portolan: 'of no pod',
    why: 'a view would choose by a pod that may not have asked',
    inCompat: 'restored',
  },
  {
    id: 'external-serial',
    plugins: ['k8s_external'],
    original: 'the serial number is 0 until a service changes',
    portolan: 'the time of the last change or of the first list',
    why: 'a secondary server would keep an old zone after a restart of the primary',
    text: 'The serial number is the time of the last change, not 0 until a service changes.',
    inCompat: 'restored',
    appliesTo: () => true,
  },
  {
    id: 'external-unlisted',
    plugins: ['k8s_external'],
    original: 'while services are not listed: NXDOMAIN',
    portolan: 'SERVFAIL for names without an answer',
    why: 'the denial would be cached',
    inCompat: 'restored',
  },
  {
    id: 'external-aliases',
    plugins: ['k8s_external'],
    original: 'a service with several load balancers has several CNAME records, beside addresses too',
    portolan: 'one, and only without addresses',
    why: 'RFC 2181 section 10.1',
    text: 'A service has one alias at most, alone.',
    inCompat: 'restored',
    appliesTo: () => true,
  },
  {
    id: 'search-of-services',
    plugins: ['autopath'],
    original: '`@kubernetes` searches for names that may be services or endpoints themselves',
    portolan: 'they are denied, and the client walks its list',
    why: 'the search could find an unrelated name',
    inCompat: 'restored',
    leavesToChain: ['searches'],
  },
  {
    id: 'search-elsewhere',
    plugins: ['autopath'],
    original: 'in a block without a plugin for the names outside: SERVFAIL',
    portolan: 'the other server blocks are asked',
    why: "the client's own walk would ask them",
    inCompat: 'restored',
    leavesToChain: ['searches'],
  },
  {
    id: 'search-counts',
    plugins: ['autopath'],
    original: '`coredns_autopath_success_total` counts names that exist as they are, too',
    portolan: 'answers with another name',
    why: 'readers answer these without `autopath`',
    inCompat: 'restored',
    leavesToChain: ['names', 'searches'],
  },
] as const satisfies readonly DeviationRow[];

const CACHE_ROWS = [
  {
    id: 'cluster-in-cache',
    plugins: ['cache'],
    original: 'answers about the cluster are kept after its objects have changed',
    portolan: 'they are dropped with the change',
    why: 'a new service is not denied for the rest of the TTL',
    text: 'Answers about the cluster are dropped when its objects change; CoreDNS keeps them for their TTL.',
    inCompat: 'restored',
    // Readers find the records of the cluster before the cache, and so each change.
    leavesToChain: ['names'],
    byLeaving: true,
    appliesTo: () => true,
  },
  {
    id: 'negative-ttl',
    plugins: ['cache'],
    original:
      'a negative answer is kept for the TTL of its SOA record, from `MINTTL` (5 s by default) to `TTL`',
    portolan:
      'for the lesser of TTL and minimum of the SOA record, at most for `TTL`; a `MINTTL` raises it only if you write one',
    why: 'RFC 2308 section 5: the zone says how soon a new name may be seen',
    text: 'Negative answers are kept for the minimum in their SOA record at most, and MINTTL raises that only if it is given.',
    inCompat: 'restored',
    leavesToChain: ['names'],
    appliesTo: () => true,
  },
] as const satisfies readonly DeviationRow[];

const ZONE_ROWS = [
  {
    id: 'ixfr-over-udp',
    plugins: ['transfer'],
    original: 'a question for IXFR over UDP is REFUSED',
    portolan: 'the SOA record',
    why: 'RFC 1995 section 2: the client then asks over TCP',
    inCompat: 'restored',
  },
  {
    id: 'truncated-target',
    plugins: ZONES,
    original: 'an alias whose target an upstream server truncates has no TC, and `cache` keeps the answer',
    portolan: 'it has TC, and is not kept',
    why: 'the client would not know that records are missing',
    inCompat: 'restored',
  },
  {
    id: 'generated-ttl',
    plugins: ['file', 'auto'],
    original: 'records of `$GENERATE` have the TTL 3600',
    portolan: 'that of `$TTL`',
    why: 'the file says so',
    text: 'Records of $GENERATE have the TTL of $TTL, not 3600.',
    inCompat: 'restored',
    appliesTo: () => true,
  },
  {
    id: 'alias-to-nothing',
    plugins: ZONES,
    original:
      'an alias whose target lacks the type has the name servers of the zone in its authority section',
    portolan: 'the SOA record',
    why: 'RFC 2308 section 2.2: nobody could cache it otherwise',
    inCompat: 'restored',
  },
  {
    id: 'alias-to-elsewhere',
    plugins: ZONES,
    original: "behind an alias that leaves the zone, the zone's own name servers, or its SOA record",
    portolan: 'those of the zone of the last name, or no records',
    why: 'they say nothing of names elsewhere',
    inCompat: 'restored',
  },
  {
    id: 'alias-circles',
    plugins: ZONES,
    original: 'aliases in a circle are repeated ten times; DNAMEs in a circle are SERVFAIL',
    portolan: 'each alias once, NOERROR',
    why: 'as BIND, Knot, NSD and PowerDNS answer',
    inCompat: 'restored',
  },
  {
    id: 'alias-chains',
    plugins: ZONES,
    original: 'at most ten aliases inside a zone',
    portolan: 'seventeen',
    why: 'a chain without its end reads as "no such record"',
    inCompat: 'restored',
  },
  {
    id: 'service-bindings',
    plugins: ZONES,
    original:
      'a service binding without a target of its own has no addresses, an alias of one no service bindings',
    portolan: 'both are in the additional section',
    why: 'RFC 9460 section 4.1',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

const SIGNING_ROWS = [
  {
    id: 'signed-denials',
    plugins: ['dnssec'],
    original:
      'an alias that leads to nothing has no proof, and with NXDOMAIN no signature; the NSEC record of an unsigned delegation is about the name of the question; an answer to NSEC has one signature',
    portolan:
      'the alias is signed, and its target denied; the record is about the delegation; each key signs',
    why: 'validators take such answers for forged',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

const LOOP_ROWS = [
  {
    id: 'forward-to-itself',
    plugins: ['forward'],
    original: 'to a file that names this server: `loop` ends the process, again and again',
    portolan: 'the server is left out, with a warning',
    why: 'names of the cluster are still answered',
    inCompat: 'restored',
  },
  {
    id: 'loop-goes-on',
    plugins: ['loop'],
    original: 'a query that comes back ends the process, again and again',
    portolan:
      'SERVFAIL for names that would take the loop, `ready` fails, and the server is tested every 5 s',
    why: 'no upstream server may end the process',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

export const PLUGIN_ROWS = [
  ...SERVER_ROWS,
  ...COUNT_ROWS,
  ...CLUSTER_PLUGIN_ROWS,
  ...CACHE_ROWS,
  ...ZONE_ROWS,
  ...SIGNING_ROWS,
  ...LOOP_ROWS,
] as const;

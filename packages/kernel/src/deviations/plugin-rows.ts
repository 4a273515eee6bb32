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
    original: 'only `acl` and `template` send extended errors (RFC 8914)',
    portolan:
      'clients that send EDNS get [a code](../how-to/debugging.md#query-from-a-pod), also of the upstream server; `cache` keeps it',
    why: '`dig` in a pod says why',
    inCompat: 'restored',
  },
  {
    id: 'udp-size-bound',
    plugins: ['cache', ...ZONES],
    original: 'as many octets over UDP as the client offers',
    portolan: '4096 at most, from a cache or a zone',
    why: 'larger ones serve amplification',
    inCompat: 'restored',
    leavesToChain: ['forwarding'],
  },
  {
    id: 'findings',
    plugins: [],
    original: 'the server does not judge itself',
    portolan: 'finds [faults](../reference/reasons.md) of itself and its cluster',
    why: 'faults show before somebody asks',
    inCompat: 'restored',
  },
  {
    id: 'sudden-loss',
    plugins: [...CLUSTER, ...ZONES, 'etcd'],
    original: 'a source that loses its names empties the answers',
    portolan:
      'after a [sudden loss](sudden-loss.md), names are answered for 10 minutes more, with the extended error 3 (Stale Answer)',
    why: 'an empty list or a cut file is far more often a fault than a wish',
    text: 'Half of the names of a source, and at least 20, that it loses within 30 s are answered for 10 minutes more, as stale.',
    inCompat: 'restored',
  },
  {
    id: 'own-directives',
    plugins: [],
    original: 'unknown: the directive `portolan`, plugins that Portolan adds, `-query-log`',
    portolan: 'known',
    why: 'CoreDNS lacks their features',
    inCompat: 'restored',
  },
  {
    id: 'discovery',
    plugins: [],
    original: '`_dns.resolver.arpa` is forwarded',
    portolan:
      'with `portolan { discovery }`, answered from the certificates of encrypted listeners (RFC 9462)',
    why: 'an upstream server leads clients past the cluster',
    inCompat: 'restored',
    with: 'own-directives',
  },
  {
    id: 'nftset',
    plugins: [],
    original: 'no set of nftables is filled',
    portolan: 'with `portolan { nftset }`, addresses go into sets before the answers leave',
    why: 'policies need the address before the first connection',
    inCompat: 'restored',
    with: 'own-directives',
  },
  {
    id: 'tenants',
    plugins: ['kubernetes'],
    original: 'clients see the services of all namespaces',
    portolan: 'with `portolan { tenants }`, those of their own tenant, and shared ones',
    why: 'teams need not see each other',
    inCompat: 'restored',
    with: 'own-directives',
  },
  {
    id: 'https-records',
    plugins: ['kubernetes'],
    original: 'services have no HTTPS records',
    portolan:
      'with `portolan { https_records }`, those with `appProtocol: https` have them, at `_https` and `_PORT._https` too',
    why: 'RFC 9460: no redirection from `http`, and HTTP/3',
    inCompat: 'restored',
    with: 'own-directives',
  },
  {
    id: 'drain',
    plugins: [],
    original: 'ends after `lameduck`',
    portolan: 'in a pod, answers on while queries arrive (`drain` of `portolan`)',
    why: 'routes change later',
    inCompat: 'restored',
  },
  {
    id: 'reload-keeps-state',
    plugins: [],
    original: 'empties `cache`, lists the cluster again, closes connections to upstream servers',
    portolan: 'plugins of an unchanged block keep what they have',
    why: 'it is still right',
    inCompat: 'restored',
  },
  {
    id: 'reload-tries-again',
    plugins: ['reload'],
    original: 'a Corefile that failed is tried again when it changes',
    portolan: 'each time',
    why: 'an import or an interface may appear later',
    inCompat: 'restored',
  },
  {
    id: 'reload-failures',
    plugins: ['reload'],
    original:
      'a Corefile that does not parse has a warning at each check; `coredns_reload_failed_total` counts neither it nor a failed SIGUSR1',
    portolan: 'one warning, and each failed reload counts once',
    why: 'an alert sees every broken Corefile',
    inCompat: 'restored',
  },
  {
    id: 'ready-reasons',
    plugins: ['ready'],
    original: '`/ready` does not mention a failed Corefile, or missing packet filter rules',
    portolan: 'its second line does',
    why: 'people look there',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

const COUNT_ROWS = [
  {
    id: 'further-questions',
    plugins: ['prometheus'],
    original: 'questions that plugins ask count in `coredns_dns_*`',
    portolan: 'only queries of clients count',
    why: 'one query counts once',
    inCompat: 'restored',
    leavesToChain: ['names', 'searches'],
  },
  {
    id: 'plugin-label',
    plugins: ['prometheus'],
    original: '`plugin` of `coredns_dns_responses_total` is the plugin behind `prometheus`',
    portolan: 'the plugin that answered',
    why: 'the label says what it means',
    inCompat: 'restored',
  },
  {
    id: 'size-as-received',
    plugins: ['log', 'prometheus'],
    original: '`{size}` and the size in metrics follow `rewrite`',
    portolan: 'that of the query as received',
    why: 'it is what the client sent',
    inCompat: 'restored',
  },
  {
    id: 'error-lines',
    plugins: ['errors'],
    original: 'each error has a line',
    portolan: 'five a minute for each server block, then a count',
    why: 'a client must not fill the log',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

const CLUSTER_PLUGIN_ROWS = [
  {
    id: 'unreached-cluster',
    plugins: CLUSTER,
    original: 'with `fallthrough`, names go to the next plugin if the API server was never reached',
    portolan: 'SERVFAIL',
    why: "another server's denial would be cached",
    text: 'Until the cluster is listed, its names are SERVFAIL where CoreDNS passes them on.',
    inCompat: 'restored',
    leavesToChain: ['names'],
    appliesTo: ({ fallthrough = [] }: Partial<WithFallthrough>) => fallthrough.length > 0,
  },
  {
    id: 'not-listed-yet',
    plugins: CLUSTER,
    original: 'before the cluster is listed: SERVFAIL with AA and an SOA record of serial 0',
    portolan: 'SERVFAIL without both',
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
    original: 'a changed Corefile waits `startup_timeout` (5 s) for the API server, then answers SERVFAIL',
    portolan: 'at least 30 s, while the former one answers',
    why: 'no name may be lost',
    inCompat: 'restored',
  },
  {
    id: 'cluster-labels',
    plugins: ['kubernetes'],
    original: "`multicluster`: a cluster's label below a service does not exist",
    portolan: 'NODATA while the cluster has endpoints',
    why: 'names below it exist (RFC 8020)',
    inCompat: 'restored',
    leavesToChain: ['names'],
  },
  {
    id: 'transferred-ttls',
    plugins: ['kubernetes'],
    original: 'transferred addresses of the name server have TTL 0',
    portolan: 'the TTL of the zone',
    why: 'secondary servers would answer with other TTLs',
    inCompat: 'restored',
  },
  {
    id: 'client-of-address',
    plugins: ['kubernetes'],
    original: 'with `metadata`: an address of several pods is of one of them',
    portolan: 'of no pod',
    why: 'a view might choose by the wrong pod',
    inCompat: 'restored',
  },
  {
    id: 'external-serial',
    plugins: ['k8s_external'],
    original: 'serial number 0 until a service changes',
    portolan: 'the time of the last change or the first list',
    why: 'a restart would leave an old zone in secondary servers',
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
    original: 'a CNAME record for each load balancer, beside addresses too',
    portolan: 'one, only without addresses',
    why: 'RFC 2181 section 10.1',
    text: 'A service has one alias at most, alone.',
    inCompat: 'restored',
    appliesTo: () => true,
  },
  {
    id: 'search-of-services',
    plugins: ['autopath'],
    original: '`@kubernetes` searches for names of services or endpoints',
    portolan: 'they are denied, and the client walks its list',
    why: 'it could find an unrelated name',
    inCompat: 'restored',
    leavesToChain: ['searches'],
  },
  {
    id: 'search-elsewhere',
    plugins: ['autopath'],
    original: 'SERVFAIL in a block without a plugin for the names outside',
    portolan: 'other server blocks are asked',
    why: 'the client would ask them',
    inCompat: 'restored',
    leavesToChain: ['searches'],
  },
  {
    id: 'search-counts',
    plugins: ['autopath'],
    original: '`coredns_autopath_success_total` also counts names that exist as they are',
    portolan: 'answers with another name',
    why: 'readers answer the former without `autopath`',
    inCompat: 'restored',
    leavesToChain: ['names', 'searches'],
  },
] as const satisfies readonly DeviationRow[];

const CACHE_ROWS = [
  {
    id: 'cluster-in-cache',
    plugins: ['cache'],
    original: 'answers about the cluster are kept after a change',
    portolan: 'they are dropped with it',
    why: 'a new service must not stay denied',
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
    original: 'a denial is kept for the TTL of its SOA record, from `MINTTL` (5 s) to `TTL`',
    portolan:
      'for the lesser of TTL and minimum of the SOA record, at most `TTL`; only a written `MINTTL` raises it',
    why: 'RFC 2308 section 5',
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
    original: 'IXFR over UDP is REFUSED',
    portolan: 'the SOA record',
    why: 'RFC 1995 section 2',
    inCompat: 'restored',
  },
  {
    id: 'truncated-target',
    plugins: ZONES,
    original: 'an alias whose target an upstream server truncates has no TC, and is kept',
    portolan: 'TC, and not kept',
    why: 'the client would miss records',
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
    original: "an alias whose target lacks the type has the zone's NS records in its authority section",
    portolan: 'the SOA record',
    why: 'RFC 2308 section 2.2',
    inCompat: 'restored',
  },
  {
    id: 'alias-to-elsewhere',
    plugins: ZONES,
    original: "an alias that leaves the zone has the zone's name servers or SOA record",
    portolan: "those of the last name's zone, or no records",
    why: 'they say nothing of names elsewhere',
    inCompat: 'restored',
  },
  {
    id: 'alias-circles',
    plugins: ZONES,
    original: 'aliases in a circle are repeated ten times; DNAMEs are SERVFAIL',
    portolan: 'each alias once, NOERROR',
    why: 'as BIND, Knot, NSD and PowerDNS',
    inCompat: 'restored',
  },
  {
    id: 'alias-chains',
    plugins: ZONES,
    original: 'at most ten aliases inside a zone',
    portolan: 'seventeen',
    why: 'a cut chain reads as "no such record"',
    inCompat: 'restored',
  },
  {
    id: 'service-bindings',
    plugins: ZONES,
    original: 'a service binding without a target has no addresses, an alias of one no service bindings',
    portolan: 'they are in the additional section',
    why: 'RFC 9460 section 4.1',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

const SIGNING_ROWS = [
  {
    id: 'signed-denials',
    plugins: ['dnssec'],
    original:
      'an alias to nothing has no proof, and with NXDOMAIN no signature; the NSEC record of an unsigned delegation names the question; an answer to NSEC has one signature',
    portolan: 'the alias is signed, its target denied; the record names the delegation; each key signs',
    why: 'validators reject such answers',
    inCompat: 'restored',
  },
] as const satisfies readonly DeviationRow[];

const LOOP_ROWS = [
  {
    id: 'forward-to-itself',
    plugins: ['forward'],
    original: 'a file that names this server: `loop` ends the process',
    portolan: 'the server is left out, with a warning',
    why: 'the cluster is still answered',
    inCompat: 'restored',
  },
  {
    id: 'loop-goes-on',
    plugins: ['loop'],
    original: 'a query that comes back ends the process',
    portolan:
      'names that would take the loop are SERVFAIL, a server that starts is not ready, and the loop is tested every 5 s',
    why: 'no upstream server may end it',
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

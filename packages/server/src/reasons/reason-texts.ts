/**
 * The vocabulary of reasons and findings: one name for explanations, log lines, metrics, checks and documentation.
 *
 * Names are stable: users match them in alerts.
 */
import type { ReasonKind } from './reason.ts';

/** Findings that are no reason of an answer. */
export const FINDING_ONLY_KINDS = [
  'api-forbidden',
  'api-unreachable',
  'config-rejected',
  'conntrack-full',
  'conntrack-race',
  'data-stale',
  'fqdn-endpoints',
  'host-network-policy',
  'names-lost',
  'network-policy',
  'no-reverse-zone',
  'node-firewall',
  'node-local-unserved',
  'node-nameserver-silent',
  'node-resolv-conf',
  'node-rules-missing',
  'notrack-missing',
  'replicas-differ',
  'search-path-amplification',
  'udp-buffer-full',
  'udp-checksum-errors',
  'udp-receive-errors',
  'upstream-slow',
] as const;

export type FindingKind = ReasonKind | (typeof FINDING_ONLY_KINDS)[number];

export interface ReasonText {
  /** What it means: sentences in Markdown. */
  readonly meaning: string;
  /** What to do: sentences in Markdown. */
  readonly remedy: string;
}

export const REASON_TEXTS: Readonly<Record<FindingKind, ReasonText>> = {
  'no-such-namespace': {
    meaning: 'The cluster has no such namespace, or the namespace has no service.',
    remedy:
      'Correct the namespace in the name. If a search list added it, the name has too few labels: write `SERVICE.NAMESPACE`.',
  },
  'no-such-service': {
    meaning:
      'The namespace exists and has no such service. A short name is looked up in the namespace of the pod.',
    remedy: 'Write `SERVICE.NAMESPACE` for a service of another namespace, or create the service.',
  },
  'no-such-endpoint': {
    meaning: 'The service exists, and none of its endpoints has this name.',
    remedy:
      'A pod has a name below the service if its `hostname` is set and its `subdomain` is the name of the service. A StatefulSet sets both, from `serviceName`.',
  },
  'endpoints-not-ready': {
    meaning: 'The pods of a headless service exist, and none that was asked for is ready.',
    remedy:
      'Repair the readiness probe. If the pods must find each other before they are ready, set `publishNotReadyAddresses: true` in the Service.',
  },
  'selector-matches-nothing': {
    meaning: 'The selector of the service matches no pod of its namespace.',
    remedy: 'Compare the selector with the labels of the pods: `kubectl get pods --show-labels`.',
  },
  'no-endpoints': {
    meaning:
      'A headless service has no ready endpoint. Whether some are not ready was not looked at, or there are none.',
    remedy:
      'List its endpoints and pods: `kubectl get endpointslices -l kubernetes.io/service-name=SERVICE`.',
  },
  'service-without-address': {
    meaning:
      'The service has neither a cluster IP nor `clusterIP: None`: the API server has not given it an address.',
    remedy: 'See the events of the service, and the range of service addresses of the API server.',
  },
  'no-such-port': {
    meaning: 'The service has no port with this name and protocol.',
    remedy: 'Use the name of the port in the Service, as in `_http._tcp`.',
  },
  'not-a-name-form': {
    meaning: 'No service, endpoint or pod can have a name of this form. Search lists make such names.',
    remedy: 'Write a final dot behind complete names, or set `ndots: 2` in the `dnsConfig` of the pod.',
  },
  'no-data': {
    meaning:
      'The name exists and has no record of this type: AAAA, for instance, if the service has IPv4 addresses only.',
    remedy: 'Ask for a type that the name has.',
  },
  'pods-not-served': {
    meaning: 'Names of pods are turned off, or only pods that exist have names and no pod has this address.',
    remedy: 'Set `pods insecure` in the Corefile or `--pods=insecure`, or use a headless service.',
  },
  'excluded-by-config': {
    meaning:
      'The configuration leaves the name out: by `namespaces`, `namespace_labels`, `labels` or `ignore empty_service`.',
    remedy: 'Change the configuration of the plugin `kubernetes`.',
  },
  'other-tenant': {
    meaning:
      'Tenants are apart ([tenants](../how-to/tenants.md)), and the client sees neither the service nor its namespace. It gets the answer for a name that does not exist.',
    remedy:
      'Share the service or its namespace, by the annotation `portolan-tenants/shared: "true"`, or correct the label of the namespace.',
  },
  'zone-not-known': {
    meaning: 'The cluster is not listed yet, so the server does not deny names.',
    remedy: 'See `portolan control status`: it says which kind of object is missing, and why.',
  },
  'external-name-target': {
    meaning:
      'The service is an ExternalName whose target is an address, leads back to the service, or leads to no address. ExternalName is a CNAME: it needs a name.',
    remedy:
      'Give a name that resolves. For an address, create a Service without selector and an EndpointSlice.',
  },
  blocked: {
    meaning: 'A plugin of the configuration refuses the query.',
    remedy: 'Look at the rules of this plugin.',
  },
  'denied-locally': {
    meaning: 'A plugin of the configuration answers for the name, and its data lacks it.',
    remedy: 'Add the name to the data of the plugin, or let the plugin fall through.',
  },
  'upstream-said': {
    meaning: 'An upstream server denied the name or failed, now or while its answer is cached.',
    remedy: 'Ask the upstream server itself. `portolan control cache flush NAME` drops the cached answer.',
  },
  'upstream-unreachable': {
    meaning: 'All upstream servers for the name are down or silent.',
    remedy:
      'Query a server from the node. Check the firewall and the masquerading of the way out, or take the server out of the list.',
  },
  'upstream-slow': {
    meaning: 'An upstream server answers, but needs a second or more on average.',
    remedy:
      'Query the server from the node. If it is as slow there, use another one, or let `stale` and `prefetch` hide it.',
  },
  'forwarding-loop': {
    meaning: 'An upstream server sends our queries back to us.',
    remedy:
      'Give kubelet the resolv.conf with the real servers, by `resolvConf`, and recreate the pods of the DNS server.',
  },
  'not-forwarded': {
    meaning: 'No server block or no upstream server is configured for the name.',
    remedy: 'Add a `forward` for it, or a server block.',
  },
  'api-forbidden': {
    meaning: 'The server may not list a kind of object.',
    remedy: 'Apply the ClusterRole and its binding again.',
  },
  'api-unreachable': {
    meaning: 'The server cannot reach the API server, and has not listed the cluster yet.',
    remedy: 'Check the address of the API server, and the way to it from the node of the server.',
  },
  'config-rejected': {
    meaning: 'The latest configuration has an error, so an earlier one is in force.',
    remedy: 'Correct the configuration; the log names the line or the key.',
  },
  'fqdn-endpoints': {
    meaning:
      'EndpointSlices of the service have the `addressType` FQDN, so its names are aliases. Kubernetes deprecates this type.',
    remedy: 'Make the service an ExternalName, or give its slices addresses.',
  },
  'no-reverse-zone': {
    meaning:
      'The plugin `kubernetes` names ranges of addresses, and services have addresses outside of these: a ServiceCIDR was added. Names of these addresses are asked of the next plugin.',
    remedy:
      'Add the range to the line `kubernetes`, or write `in-addr.arpa` and `ip6.arpa`, which have all addresses.',
  },
  'data-stale': {
    meaning: 'The server has not heard from the API server for a while. Names may be old.',
    remedy:
      'The server connects again by itself. If this repeats, a load balancer before the API server may cut idle connections.',
  },
  'names-lost': {
    meaning:
      'A source has lost many of its names at once: half of them and at least 20, unless you set other numbers. They are answered on for a while, with the extended error 3 (Stale Answer), since a source that goes wrong must not take names away. See [Sudden loss](../explanation/sudden-loss.md).',
    remedy:
      'If the names were deleted on purpose, run `portolan control accept` in each replica, or wait. Otherwise repair the source: the names are current again as soon as it has them.',
  },
  'host-network-policy': {
    meaning:
      'A pod with `hostNetwork` has the policy ClusterFirst, which Kubernetes then treats as Default: it asks the servers of the node.',
    remedy: 'Set `dnsPolicy: ClusterFirstWithHostNet`.',
  },
  'network-policy': {
    meaning: 'A NetworkPolicy selects pods for egress, and none lets UDP and TCP to port 53 pass.',
    remedy: 'Add a policy that allows egress to the pods of the DNS server, port 53, UDP and TCP.',
  },
  'foreign-cluster-domain': {
    meaning:
      'Upstream servers deny names of services in another cluster domain: kubelet gives pods a domain that this server does not serve.',
    remedy: 'Set the same domain for kubelet (`clusterDomain`) and this server, and recreate the pods.',
  },
  'replicas-differ': {
    meaning:
      'Two replicas have different services, or different addresses or ports of one. The dashboard compares them. A replica that is a few seconds behind is no finding.',
    remedy:
      'See with `portolan control status` whether the replica follows all kinds of objects. Restart the replica: it then lists the cluster again.',
  },
  'search-path-amplification': {
    meaning: 'Most queries of a namespace are names that the search list made.',
    remedy:
      'Write a final dot behind outside names, or set `ndots: 2` in the `dnsConfig` of the pods. `portolan ndots` finds the value that breaks no name.',
  },
  'conntrack-full': {
    meaning:
      'The table of connections of a node is full or nearly full, so the kernel drops packets or forgets connections.',
    remedy:
      'Raise `conntrack.maxPerCore` of kube-proxy or `net.netfilter.nf_conntrack_max`. A DNS cache on each node keeps queries out of the table.',
  },
  'conntrack-race': {
    meaning:
      'The kernel of a node drops packets because two equal connections are entered at once, as for A and AAAA from one socket. glibc then waits for 5 s.',
    remedy:
      'Use a DNS cache on each node, which sets NOTRACK, a newer kernel, or `options single-request-reopen` (glibc).',
  },
  'udp-buffer-full': {
    meaning:
      'The kernel of a node drops datagrams because the buffer of a socket or the memory for UDP is full.',
    remedy:
      'Find the socket by the last column of `/proc/net/udp`. For a DNS server, remove its CPU limit or raise `net.core.rmem_max`.',
  },
  'udp-checksum-errors': {
    meaning:
      'The kernel of a node drops datagrams because their checksum is wrong: often checksum offload of an overlay network fails.',
    remedy:
      'Turn the offload off, for instance with `ethtool -K flannel.1 tx-checksum-ip-generic off`, or update the kernel.',
  },
  'udp-receive-errors': {
    meaning:
      'The kernel of a node drops datagrams because a filter of a socket or a policy of IPsec says so.',
    remedy: 'See `ip xfrm policy`. Filters of sockets are set by the programs that own them.',
  },
  'node-local-unserved': {
    meaning: 'A node has the address of its DNS cache, and no program listens there.',
    remedy:
      'See whether the pod of the DNS cache runs on the node. If it was removed, remove the interface `nodelocaldns` too.',
  },
  'node-firewall': {
    meaning:
      'A rule of iptables or nftables may drop queries of pods to the DNS cache of the node, or its answers.',
    remedy: 'Accept UDP and TCP to and from port 53 of its address before this rule.',
  },
  'notrack-missing': {
    meaning:
      'Queries to the DNS cache of the node take places in the table of connections, because no rule with NOTRACK matches them.',
    remedy: 'Let node-cache set its rules: leave out `-setupiptables=false` and `--rules=none`.',
  },
  'node-resolv-conf': {
    meaning:
      'The resolv.conf that kubelet gives to pods has no name server, names a stub resolver of the node, has more than three servers, or a long search list.',
    remedy:
      'Give kubelet the file with the real servers, by `resolvConf`. Leave three servers and the domains that pods need.',
  },
  'node-rules-missing': {
    meaning:
      'The cache of a node is to set packet filter rules, and has none: queries to the address of the Service go to the Service, not to the cache.',
    remedy:
      'The finding and the log of node-cache give the reason: a program that fails, a missing capability, or a firewall. Once it is gone, the rules are set within a minute.',
  },
  'node-nameserver-silent': {
    meaning: 'A name server of the resolv.conf of a node does not answer.',
    remedy: 'Query it from the node. Check the firewall of the node, or take the server out of the file.',
  },
};

/** The kinds of reasons that an answer may have. */
export const REASON_KINDS: readonly string[] = Object.keys(REASON_TEXTS)
  .filter((kind) => !FINDING_ONLY_KINDS.some((only) => only === kind))
  .sort();

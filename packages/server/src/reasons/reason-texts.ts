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
    remedy: 'Correct the namespace. If a search list added it, write `SERVICE.NAMESPACE`.',
  },
  'no-such-service': {
    meaning: 'The namespace has no such service. A short name is looked up in the namespace of the pod.',
    remedy: 'Write `SERVICE.NAMESPACE` for a service of another namespace, or create the service.',
  },
  'no-such-endpoint': {
    meaning: 'No endpoint of the service has this name.',
    remedy:
      'Set the `hostname` of the pod, and its `subdomain` to the name of the service. A StatefulSet sets both, from `serviceName`.',
  },
  'endpoints-not-ready': {
    meaning: 'None of the pods of a headless service that were asked for is ready.',
    remedy:
      'Repair the readiness probe. If the pods must find each other before they are ready, set `publishNotReadyAddresses: true`.',
  },
  'selector-matches-nothing': {
    meaning: 'The selector of the service matches no pod of its namespace.',
    remedy: 'Compare the selector with the labels of the pods: `kubectl get pods --show-labels`.',
  },
  'no-endpoints': {
    meaning: 'A headless service has no ready endpoint. Unready ones were not looked for, or there are none.',
    remedy:
      'List its endpoints and pods: `kubectl get endpointslices -l kubernetes.io/service-name=SERVICE`.',
  },
  'service-without-address': {
    meaning: 'The API server has given the service no cluster IP, and it has no `clusterIP: None`.',
    remedy: 'See the events of the service, and the service addresses of the API server.',
  },
  'no-such-port': {
    meaning: 'The service has no port with this name and protocol.',
    remedy: 'Use the name of the port in the Service, as in `_http._tcp`.',
  },
  'not-a-name-form': {
    meaning: 'No service, endpoint or pod can have this name. Search lists make such names.',
    remedy: 'End complete names with a dot, or set `ndots: 2` in the `dnsConfig` of the pod.',
  },
  'no-data': {
    meaning: 'The name has no record of this type, such as AAAA of a service with IPv4 addresses only.',
    remedy: 'Ask for a type that the name has.',
  },
  'pods-not-served': {
    meaning: 'Pods have no names, or only pods that exist have one and none has this address.',
    remedy: 'Set `pods insecure` in the Corefile or `--pods=insecure`, or use a headless service.',
  },
  'excluded-by-config': {
    meaning:
      'The configuration leaves the name out, by `namespaces`, `namespace_labels`, `labels` or `ignore empty_service`.',
    remedy: 'Change the configuration of the plugin `kubernetes`.',
  },
  'other-tenant': {
    meaning:
      'The client has another [tenant](../how-to/tenants.md): for it, neither the service nor its namespace exists.',
    remedy:
      'Share the service or its namespace by the annotation `portolan-tenants/shared: "true"`, or correct the label of the namespace.',
  },
  'zone-not-known': {
    meaning: 'The cluster is not listed yet, so the server does not deny names.',
    remedy: '`portolan control status` says which kind of object is missing, and why.',
  },
  'external-name-target': {
    meaning:
      'The target of an ExternalName is an address, leads back to the service, or leads to no address.',
    remedy:
      'Give a name that resolves. For an address, create a Service without a selector, and an EndpointSlice.',
  },
  blocked: {
    meaning: 'A plugin refuses the query.',
    remedy: 'Look at the rules of this plugin.',
  },
  'denied-locally': {
    meaning: 'A plugin answers for the name, and its data lacks it.',
    remedy: 'Add the name to its data, or let the plugin fall through.',
  },
  'upstream-said': {
    meaning: 'An upstream server denied the name or failed, now or while its answer is cached.',
    remedy: 'Ask the server itself. `portolan control cache flush NAME` drops the cached answer.',
  },
  'upstream-unreachable': {
    meaning: 'All upstream servers for the name are down or silent.',
    remedy:
      'Query a server from the node. Check firewall and masquerading, or take the server out of the list.',
  },
  'upstream-slow': {
    meaning: 'An upstream server answers, but needs a second or more on average.',
    remedy:
      'Query it from the node. If it is as slow there, use another one, or let `stale` and `prefetch` hide it.',
  },
  'forwarding-loop': {
    meaning: 'An upstream server sends our queries back.',
    remedy:
      'Give kubelet the resolv.conf with the real servers (`resolvConf`), and recreate the pods of the DNS server.',
  },
  'not-forwarded': {
    meaning: 'No server block or no upstream server is configured for the name.',
    remedy: 'Add a `forward` or a server block for it.',
  },
  'api-forbidden': {
    meaning: 'The server may not list a kind of object.',
    remedy: 'Apply the ClusterRole and its binding again.',
  },
  'api-unreachable': {
    meaning: 'The server cannot reach the API server, and has not listed the cluster yet.',
    remedy: 'Check its address, and the way to it from the node of the server.',
  },
  'config-rejected': {
    meaning: 'The latest configuration has an error, so an earlier one is in force.',
    remedy: 'Correct the configuration; the log names the line or the key.',
  },
  'fqdn-endpoints': {
    meaning:
      'EndpointSlices of the service have the `addressType` FQDN, which Kubernetes deprecates. Its names are aliases.',
    remedy: 'Make the service an ExternalName, or give its slices addresses.',
  },
  'no-reverse-zone': {
    meaning:
      'Services have addresses outside the ranges that the plugin `kubernetes` names, since a ServiceCIDR was added. The next plugin is asked for their names.',
    remedy: 'Add the range to the line `kubernetes`, or `in-addr.arpa` and `ip6.arpa` for all addresses.',
  },
  'data-stale': {
    meaning: 'The server has not heard from the API server for a while. Names may be old.',
    remedy:
      'The server connects again. If this repeats, a load balancer before the API server may cut idle connections.',
  },
  'names-lost': {
    meaning:
      'A source has lost many names at once: half of them and at least 20, unless you set other numbers. They are [answered on for a while](../explanation/sudden-loss.md), with the extended error 3 (Stale Answer).',
    remedy:
      'If they were deleted on purpose, run `portolan control accept` in each replica, or wait. Otherwise repair the source.',
  },
  'host-network-policy': {
    meaning:
      'A pod with `hostNetwork` has the policy ClusterFirst, which is then treated as Default: it asks the servers of the node.',
    remedy: 'Set `dnsPolicy: ClusterFirstWithHostNet`.',
  },
  'network-policy': {
    meaning: 'A NetworkPolicy selects pods for egress, and none allows UDP and TCP to port 53.',
    remedy: 'Allow egress to the pods of the DNS server, port 53, UDP and TCP.',
  },
  'foreign-cluster-domain': {
    meaning:
      'Upstream servers deny names of services in another cluster domain, which kubelet gives to pods and this server does not serve.',
    remedy: 'Give kubelet (`clusterDomain`) the domain of this server, and recreate the pods.',
  },
  'replicas-differ': {
    meaning:
      'The dashboard has found replicas with different services, addresses or ports, for more than a few seconds.',
    remedy:
      'See with `portolan control status` whether the replica follows all kinds of objects. Restart it to list the cluster again.',
  },
  'search-path-amplification': {
    meaning: 'Most queries of a namespace are for names that search lists made.',
    remedy:
      'End outside names with a dot, or set `ndots` in the `dnsConfig` of the pods: `portolan ndots` finds the value that breaks no name.',
  },
  'conntrack-full': {
    meaning:
      'The table of connections is full or nearly full: the kernel drops packets or forgets connections.',
    remedy:
      'Raise `conntrack.maxPerCore` of kube-proxy or `net.netfilter.nf_conntrack_max`. A DNS cache on each node keeps queries out.',
  },
  'conntrack-race': {
    meaning:
      'The kernel drops packets because two equal connections are entered at once, as for A and AAAA from one socket. glibc then waits for 5 s.',
    remedy:
      'Use a DNS cache on each node, which sets NOTRACK, a newer kernel, or `options single-request-reopen` (glibc).',
  },
  'udp-buffer-full': {
    meaning: 'The kernel drops datagrams: the buffer of a socket or the memory for UDP is full.',
    remedy:
      'Find the socket by the last column of `/proc/net/udp`. For a DNS server, remove its CPU limit or raise `net.core.rmem_max`.',
  },
  'udp-checksum-errors': {
    meaning:
      'The kernel drops datagrams with a wrong checksum. Often the checksum offload of an overlay network fails.',
    remedy: 'Turn it off, as with `ethtool -K flannel.1 tx-checksum-ip-generic off`, or update the kernel.',
  },
  'udp-receive-errors': {
    meaning: 'The kernel drops datagrams by a filter of a socket or a policy of IPsec.',
    remedy: 'See `ip xfrm policy`. Programs set the filters of their sockets.',
  },
  'node-local-unserved': {
    meaning: "No program listens at the address of the node's DNS cache.",
    remedy:
      'See whether its pod runs on the node. If it was removed, remove the interface `nodelocaldns` too.',
  },
  'node-firewall': {
    meaning: "A rule of iptables or nftables may drop queries to the node's DNS cache, or its answers.",
    remedy: 'Accept UDP and TCP to and from port 53 of its address before this rule.',
  },
  'notrack-missing': {
    meaning:
      "Queries to the node's DNS cache take places in the table of connections: no rule with NOTRACK matches them.",
    remedy: 'Let node-cache set its rules: leave out `-setupiptables=false` and `--rules=none`.',
  },
  'node-resolv-conf': {
    meaning:
      'The resolv.conf that kubelet gives to pods has no name server, a stub resolver of the node, more than three servers, or a long search list.',
    remedy:
      'Give kubelet the file with the real servers (`resolvConf`). Leave three servers and the domains that pods need.',
  },
  'node-rules-missing': {
    meaning:
      "A node's cache could not set its packet filter rules: queries to the address of the Service pass it by.",
    remedy:
      'The finding and the log of node-cache give the reason: a program that fails, a missing capability, or a firewall. Rules are set within a minute of its end.',
  },
  'node-nameserver-silent': {
    meaning: 'A name server in the resolv.conf of a node does not answer.',
    remedy: 'Query it from the node. Check its firewall, or take the server out of the file.',
  },
};

/** The kinds of reasons that an answer may have. */
export const REASON_KINDS: readonly string[] = Object.keys(REASON_TEXTS)
  .filter((kind) => !FINDING_ONLY_KINDS.some((only) => only === kind))
  .sort();

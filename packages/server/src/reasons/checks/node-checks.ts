/**
 * Checks of a node, for `portolan doctor --on-node`: where packets of queries are lost although all servers are well.
 */
import { writeDig } from '../describe-reason.ts';
import type { Check, Finding } from '../finding.ts';
import type { Growth, NodeEvidence, NodeResolvConf } from '../node-evidence.ts';
import type { FindingKind } from '../reason-texts.ts';

/** Since the node started. Fewer lost packets may have any cause. */
const MIN_TOTAL = 100;
/** The share of received datagrams from which errors of long ago matter. */
const MIN_SHARE = 1e-4;
/** The share of the table of connections that a burst of queries can fill. */
const FULL = 0.9;
/** glibc asks no more servers. */
const MAX_NAMESERVERS = 3;
/** glibc before 2.26, and kubelet before 1.28. */
const MAX_SEARCH_DOMAINS = 6;
const MAX_SEARCH_LENGTH = 256;

type NodeCheck = Check<NodeEvidence>;
type Witness = keyof NodeEvidence;

/** @param find gets the part of the evidence that it needs */
function ofNode<Needed extends Witness>(
  kind: FindingKind,
  witness: Needed,
  find: (evidence: NonNullable<NodeEvidence[Needed]>) => readonly Omit<Finding, 'kind'>[],
): NodeCheck {
  return {
    kind,
    needs: [witness],
    find: (evidence) => {
      const part = evidence[witness];
      return part === undefined ? [] : find(part).map((finding) => ({ kind, ...finding }));
    },
  };
}

/** What grows now is a problem; what grew much before is a risk. */
function gradeGrowth({ total, recent }: Growth, minTotal = MIN_TOTAL): Finding['severity'] | undefined {
  if (recent > 0) return 'problem';
  return total >= minTotal ? 'risk' : undefined;
}

function describeGrowth({ total, recent }: Growth): string {
  return recent > 0
    ? `${recent} while it was watched, ${total} since the node started`
    : `${total} since the node started, none while it was watched`;
}

/** A finding about a counter, if it says something. */
function ofGrowth(
  growth: Growth,
  finding: Omit<Finding, 'kind' | 'severity'>,
  minTotal?: number,
): readonly Omit<Finding, 'kind'>[] {
  const severity = gradeGrowth(growth, minTotal);
  if (severity === undefined) return [];
  return [{ ...finding, severity, sentence: `${finding.sentence}: ${describeGrowth(growth)}` }];
}

const conntrackFull = ofNode(
  'conntrack-full',
  'conntrack',
  ({ entries, maxEntries, dropped, earlyDropped }) => {
    const remedies = [
      { sentence: 'Raise the limit: conntrack.maxPerCore of kube-proxy, or net.netfilter.nf_conntrack_max.' },
      { sentence: 'Keep queries out of the table with a DNS cache on each node, which sets NOTRACK.' },
    ];
    const subject = 'conntrack table';
    const share = `${entries} of ${maxEntries} entries`;
    const isFull = maxEntries > 0 && entries >= FULL * maxEntries;
    const full = {
      ...({ subject, severity: 'problem', remedies } as const),
      sentence: `the table of connections is full: ${share}`,
    };
    return [
      ...(isFull ? [full] : []),
      ...ofGrowth(dropped, {
        subject,
        remedies,
        sentence: 'packets were dropped because the table of connections was full',
      }),
      ...ofGrowth(earlyDropped, {
        subject,
        remedies,
        sentence: 'connections were forgotten because the table of connections was full',
      }),
    ];
  },
);

const conntrackRace = ofNode('conntrack-race', 'conntrack', ({ insertFailed }) =>
  ofGrowth(insertFailed, {
    subject: 'conntrack table',
    sentence: 'packets were dropped because an equal connection was entered at the same time',
    remedies: [
      { sentence: 'Keep queries out of the table with a DNS cache on each node, which sets NOTRACK.' },
      { sentence: 'Or set "options single-request-reopen" in the dnsConfig of pods with glibc.' },
    ],
  }),
);

const udpBufferFull = ofNode('udp-buffer-full', 'udp', ({ bufferErrors, received }) =>
  ofGrowth(
    bufferErrors,
    {
      subject: 'UDP',
      sentence: 'datagrams were dropped because the buffer of a socket was full',
      remedies: [
        {
          sentence: 'Find the socket: its last column grows.',
          command: 'sort -k13 -n /proc/net/udp | tail -n 3',
        },
        { sentence: 'If it is that of the DNS server, remove its CPU limit, or raise net.core.rmem_max.' },
      ],
    },
    minErrors(received),
  ),
);

const udpChecksumErrors = ofNode('udp-checksum-errors', 'udp', ({ checksumErrors, received }) =>
  ofGrowth(
    checksumErrors,
    {
      subject: 'UDP',
      sentence: 'datagrams came with a wrong checksum and were dropped',
      remedies: [
        {
          sentence: 'If packets between nodes are lost, turn checksum offload of the overlay off.',
          command: 'ethtool -K flannel.1 tx-checksum-ip-generic off',
        },
      ],
    },
    minErrors(received),
  ),
);

const udpReceiveErrors = ofNode('udp-receive-errors', 'udp', ({ refused, received }) =>
  ofGrowth(
    refused,
    {
      subject: 'UDP',
      sentence: 'datagrams were dropped by the filter of a socket or by a policy of IPsec',
      remedies: [{ sentence: 'See which policies there are.', command: 'ip xfrm policy' }],
    },
    minErrors(received),
  ),
);

const minErrors = ({ total }: Growth): number => Math.max(MIN_TOTAL, total * MIN_SHARE);

const nodeLocalUnserved = ofNode('node-local-unserved', 'listeners', (listeners) =>
  listeners
    .filter(({ isServed }) => !isServed)
    .map(({ address }) => ({
      subject: address,
      severity: 'problem',
      sentence: `the node has the address ${address} of its DNS cache, and no program listens on port 53 of it`,
      remedies: [
        {
          sentence: 'See whether the DNS cache of this node runs.',
          command: 'kubectl -n kube-system get pods -l k8s-app=node-local-dns -o wide',
        },
      ],
    })),
);

const nodeFirewall = ofNode('node-firewall', 'rules', ({ drops }) =>
  drops.map((rule) => ({
    subject: rule,
    severity: 'problem',
    sentence: `a rule of the packet filter may drop queries to the DNS cache of the node, or its answers: ${rule}`,
    remedies: [
      { sentence: 'Accept UDP and TCP to and from port 53 of the address before this rule.' },
      { sentence: 'portolan node-cache does so with --rules=auto.' },
    ],
  })),
);

const notrackMissing = ofNode('notrack-missing', 'rules', ({ tracked }) =>
  tracked.map((address) => ({
    subject: address,
    severity: 'risk',
    sentence: `no rule with NOTRACK matches queries to ${address}: each takes a place in the table of connections`,
    remedies: [
      { sentence: 'Let node-cache set its rules: leave out -setupiptables=false and --rules=none.' },
    ],
  })),
);

const nodeResolvConf = ofNode('node-resolv-conf', 'resolvConf', (file) =>
  [...problemsOfServers(file), ...risksOfLists(file)].map((finding) => ({ subject: file.path, ...finding })),
);

type ResolvConfFinding = Omit<Finding, 'kind' | 'subject'>;

function problemsOfServers({
  path,
  nameservers,
  problems,
  localAddresses,
}: NodeResolvConf): ResolvConfFinding[] {
  const own = nameservers.filter((server) => isLoopback(server) || localAddresses.includes(server));
  const none = {
    severity: 'problem',
    sentence: `${path} has no name server: pods with dnsPolicy Default, such as DNS servers, can ask nobody`,
    remedies: [
      { sentence: 'Add the name servers of the network, or give kubelet another file as resolvConf.' },
    ],
  } as const;
  return [
    ...(nameservers.length === 0 ? [none] : []),
    ...own.map((server) => ({
      severity: 'problem' as const,
      sentence: `${path} names ${server}, which in a pod is the pod itself, or leads back to the DNS server: queries go in a circle`,
      remedies: [
        {
          sentence: 'Give kubelet the file with the real servers, and recreate the pods of the DNS server.',
          command: 'resolvConf: /run/systemd/resolve/resolv.conf   # in the configuration of kubelet',
        },
      ],
    })),
    ...problems.map((problem) => ({
      severity: 'risk' as const,
      sentence: `${path} has a name server that cannot be used: ${problem}`,
      remedies: [{ sentence: 'Correct the line.' }],
    })),
  ];
}

function risksOfLists({ path, nameservers, search }: NodeResolvConf): ResolvConfFinding[] {
  const { length } = search.join(' ');
  const tooMany = {
    severity: 'risk',
    sentence: `${path} has ${nameservers.length} name servers: pods ask only the first ${MAX_NAMESERVERS}`,
    remedies: [{ sentence: `Leave ${MAX_NAMESERVERS} in the file.` }],
  } as const;
  const tooLong = {
    severity: 'risk',
    sentence: `the search list of ${path} has ${search.length} domains and ${length} characters: pods try each of them for each name outside, and old ones cut the list`,
    remedies: [
      { sentence: 'Take out domains that pods do not need, or give kubelet another file as resolvConf.' },
    ],
  } as const;
  return [
    ...(nameservers.length > MAX_NAMESERVERS ? [tooMany] : []),
    ...(search.length > MAX_SEARCH_DOMAINS || length > MAX_SEARCH_LENGTH ? [tooLong] : []),
  ];
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

const nodeNameserverSilent = ofNode('node-nameserver-silent', 'nameservers', (servers) => {
  const silent = servers.filter(({ isAnswering }) => !isAnswering);
  return silent.map(({ server }) => ({
    subject: server,
    severity: silent.length === servers.length ? 'problem' : 'risk',
    sentence: `name server ${server} of the node does not answer`,
    remedies: [
      { sentence: 'Query it from the node.', command: writeDig(server) },
      { sentence: 'Check the firewall of the node, or take the server out of the list.' },
    ],
  }));
});

export const NODE_CHECKS: readonly NodeCheck[] = [
  conntrackFull,
  conntrackRace,
  udpBufferFull,
  udpChecksumErrors,
  udpReceiveErrors,
  nodeLocalUnserved,
  nodeFirewall,
  notrackMissing,
  nodeResolvConf,
  nodeNameserverSilent,
];

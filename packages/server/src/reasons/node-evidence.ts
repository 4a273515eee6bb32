/**
 * What checks of a node look at: counters of its kernel, its packet filter, and its resolv.conf.
 */

/** `undefined`: could not be looked at. */
export interface NodeEvidence {
  readonly conntrack: ConntrackEvidence | undefined;
  readonly udp: UdpEvidence | undefined;
  readonly listeners: readonly LocalCacheEvidence[] | undefined;
  readonly rules: RulesEvidence | undefined;
  readonly resolvConf: NodeResolvConf | undefined;
  /** Only if packets may be sent. */
  readonly nameservers: readonly NameserverEvidence[] | undefined;
}

/** A counter of the kernel. */
export interface Growth {
  /** Since the node started. */
  readonly total: number;
  /** While it was watched. */
  readonly recent: number;
}

/** The table of connections. */
export interface ConntrackEvidence {
  readonly entries: number;
  readonly maxEntries: number;
  /** Entries that lost a race against an equal one: their packets are dropped. */
  readonly insertFailed: Growth;
  /** Packets dropped because the table was full. */
  readonly dropped: Growth;
  /** Entries that were removed to make room. */
  readonly earlyDropped: Growth;
}

/** Datagrams of the node's own network namespace. */
export interface UdpEvidence {
  readonly received: Growth;
  /** Dropped because a buffer of a socket or the memory for UDP was full. */
  readonly bufferErrors: Growth;
  readonly checksumErrors: Growth;
  /** Dropped by a filter of a socket, or by a policy of IPsec. */
  readonly refused: Growth;
}

/** A link-local address of the node, where its DNS cache is. */
export interface LocalCacheEvidence {
  readonly address: string;
  /** Whether a socket for UDP is open at its port 53. */
  readonly isServed: boolean;
}

export interface RulesEvidence {
  /** What may drop queries to the node's DNS cache, or its answers: a line of iptables, or a description. */
  readonly drops: readonly string[];
  /** Addresses of the node's DNS cache whose queries take places in the table of connections. */
  readonly tracked: readonly string[];
}

/** The file that kubelet reads for pods. */
export interface NodeResolvConf {
  readonly path: string;
  readonly nameservers: readonly string[];
  /** Lines without a usable address. */
  readonly problems: readonly string[];
  readonly search: readonly string[];
  /** Addresses of the node's DNS cache. */
  readonly localAddresses: readonly string[];
}

export interface NameserverEvidence {
  readonly server: string;
  readonly isAnswering: boolean;
}

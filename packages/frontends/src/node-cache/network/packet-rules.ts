/**
 * The rules that let packets of a node's cache pass the packet filter without connection tracking.
 *
 * Pods send to an address of this node, which may also be that of a Service. Without these rules each query would take a place
 * in the connection table, or be forwarded to the Service's endpoints.
 */

export interface LocalEndpoints {
  /** IP addresses, of one family or of both. */
  readonly addresses: readonly string[];
  readonly dnsPort: number;
  /** Port of the HTTP health check on the first address. */
  readonly healthPort: number;
}

export interface PacketRule {
  readonly table: 'raw' | 'filter';
  readonly chain: 'PREROUTING' | 'INPUT' | 'OUTPUT';
  readonly protocol: 'tcp' | 'udp';
  /** Whether the packet goes to the endpoint or comes from it. */
  readonly direction: 'to' | 'from';
  readonly address: string;
  readonly port: number;
  readonly verdict: 'notrack' | 'accept';
}

type RuleShape = Omit<PacketRule, 'address' | 'port' | 'protocol'>;

/** For DNS, over both protocols. */
const DNS_RULES: readonly RuleShape[] = [
  { table: 'raw', chain: 'PREROUTING', direction: 'to', verdict: 'notrack' },
  { table: 'filter', chain: 'INPUT', direction: 'to', verdict: 'accept' },
  { table: 'raw', chain: 'OUTPUT', direction: 'from', verdict: 'notrack' },
  { table: 'filter', chain: 'OUTPUT', direction: 'from', verdict: 'accept' },
  { table: 'raw', chain: 'OUTPUT', direction: 'to', verdict: 'notrack' },
];

const HEALTH_RULES: readonly RuleShape[] = [
  { table: 'raw', chain: 'OUTPUT', direction: 'to', verdict: 'notrack' },
  { table: 'raw', chain: 'OUTPUT', direction: 'from', verdict: 'notrack' },
];

/** In the order in which node-cache inserts them: each goes to the front of its chain. */
export function listPacketRules({ addresses, dnsPort, healthPort }: LocalEndpoints): readonly PacketRule[] {
  return addresses.flatMap((address) => [
    ...DNS_RULES.flatMap((shape) =>
      (['tcp', 'udp'] as const).map((protocol) => ({ ...shape, protocol, address, port: dnsPort })),
    ),
    ...HEALTH_RULES.map((shape) => ({ ...shape, protocol: 'tcp' as const, address, port: healthPort })),
  ]);
}

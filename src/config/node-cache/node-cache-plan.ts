/**
 * What `portolan node-cache` does beside serving its Corefile.
 */
import type { OrderProfile } from '../../corefile/coredns-version.ts';
import type { FormerNames } from '../server/former-names.ts';

export interface NodeCachePlan {
  /** As given, at least one, all of one family. */
  readonly localAddresses: readonly string[];
  /** The port of DNS, as given. */
  readonly port: number;
  /** The port that the Corefile's `health` listens on: the rules let it pass. */
  readonly healthPort: number;
  /** The Corefile that is written and served. */
  readonly corefile: string;
  readonly template: string;
  /** The folder of kube-dns's ConfigMap; undefined: `/etc/kube-dns` if it is there. */
  readonly configFolder: string | undefined;
  /** The Service in front of the cluster's DNS, whose address is read from the environment. */
  readonly upstreamService: string;
  /** The network interface that gets the addresses; undefined: none is set up. */
  readonly interfaceName: string | undefined;
  readonly rules: RulesChoice;
  /** Milliseconds between two checks of rules and interface, from 1000. */
  readonly syncInterval: number;
  /** Host and port of the metrics of set-up errors. */
  readonly metricsAddress: string;
  /** Host and port of the metrics of DNS, as given: what the template's variable becomes. */
  readonly prometheusAddress: string;
  /** Whether the interface is set up and nothing served. */
  readonly setsUpOnly: boolean;
  /** Whether rules and interface stay when the program ends. */
  readonly skipsTeardown: boolean;
  /** A file whose directives join server blocks of the Corefile; undefined: there is none. */
  readonly blocksExtra: string | undefined;
  /** The version of CoreDNS that is kept to in everything, also where we differ on purpose. */
  readonly compat: OrderProfile | undefined;
  /** The version whose names of metrics are shown beside those of today. */
  readonly metricsCompat: FormerNames | undefined;
  readonly pidFile: string | undefined;
  /** Neither zones nor version are printed at start. */
  readonly isQuiet: boolean;
  /** Join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
}

/** How packets for the local addresses are kept off connection tracking and let pass. */
export type RulesChoice = 'auto' | 'nft' | 'iptables' | 'none';

/**
 * The settings of `portolan node-cache` beside its Corefile.
 */
import type { FormerNames } from '@portolan/server/plan/former-names.ts';
import type { QueryLogPlan } from '@portolan/server/plan/query-log-plan.ts';
import type { OwnDashboardPlan } from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import type { Compat } from '../../coredns/settings/compat.ts';

export interface NodeCachePlan {
  /** As given; at least one, of one address family or of both. */
  readonly localAddresses: readonly string[];
  /** The DNS port, as given. */
  readonly port: number;
  /** The port of the Corefile's `health`, which the packet filter rules admit. */
  readonly healthPort: number;
  /** The path of the Corefile that is written and served. */
  readonly corefile: string;
  readonly template: string;
  /** The folder of kube-dns's ConfigMap; undefined: `/etc/kube-dns` if it exists. */
  readonly configFolder: string | undefined;
  /** The Service of the cluster's DNS; the environment holds its address. */
  readonly upstreamService: string;
  /** The network interface that gets the local addresses; undefined: do not set up any. */
  readonly interfaceName: string | undefined;
  readonly rules: RulesChoice;
  /** Milliseconds between checks of rules and interface; at least 1000. */
  readonly syncInterval: number;
  /** Host and port of the metrics about set-up errors. */
  readonly metricsAddress: string;
  /** Host and port of the DNS metrics, as given: the value of the template's variable. */
  readonly prometheusAddress: string;
  /** Whether to set up the interface and exit without serving. */
  readonly setsUpOnly: boolean;
  /** Whether to keep rules and interface at exit. */
  readonly skipsTeardown: boolean;
  /** A file whose directives join server blocks of the Corefile; undefined: no file. */
  readonly blocksExtra: string | undefined;
  readonly compat: Compat;
  /** The CoreDNS version whose former metric names are shown beside the current ones. */
  readonly metricsCompat: FormerNames | undefined;
  /** Plugins of others: `NAME=MODULE[:before=WORD]`. */
  readonly plugins: readonly string[];
  /** Undefined: the server shows no dashboard. */
  readonly dashboard: OwnDashboardPlan | undefined;
  /** Undefined: queries are not logged, unless the Corefile says so. */
  readonly queryLog: QueryLogPlan | undefined;
  readonly pidFile: string | undefined;
  /** Whether to omit zones and version from the start-up output. */
  readonly isQuiet: boolean;
  /** Join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
}

/** The tool that exempts packets for the local addresses from connection tracking and admits them. */
export type RulesChoice = 'auto' | 'nft' | 'iptables' | 'none';

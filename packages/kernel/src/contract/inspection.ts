/**
 * What a plugin holds, for explanations, the status and checks. Nothing here answers queries.
 */
import type { Offer } from '../base/capability.ts';

export interface PluginInspection {
  /** The zone whose names come back from the servers that they are forwarded to; undefined: none do. */
  readonly loopingZone?: string;
  /** A plugin that lacks data of names that it answers for, and why. Default: there is no reason to give. */
  readonly denial?: { readonly plugin: string; readonly reason: string };
  /** What only those who know the plugin understand: its cluster, its forwarders. */
  readonly offers?: readonly Offer[];
}

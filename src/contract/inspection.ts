/**
 * What a plugin holds, for explanations, the status and checks. Nothing here answers queries.
 */
import type { Forwarder } from '../forward/forwarder.ts';
import type { Offer } from './capability.ts';

export interface PluginInspection {
  /** One for each of its rules that `Forwarder` asks. */
  readonly forwarders?: readonly Forwarder[];
  /** The zone whose names come back from the servers that they are forwarded to; undefined: none do. */
  readonly loopingZone?: string;
  /** What only those who know the plugin understand. */
  readonly offers?: readonly Offer[];
}

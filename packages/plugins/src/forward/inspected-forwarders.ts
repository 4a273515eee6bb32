/**
 * The forwarders of plugins, for explanations, the status and checks.
 */
import { Capability } from '@portolan/kernel/base/capability.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { Forwarder } from '@portolan/kernel/forward/forwarder.ts';

const FORWARDER = new Capability<Forwarder>('forwarder');

/** @param forwarders one for each route that has its own */
export function inspectForwarders(forwarders: readonly Forwarder[]): PluginInspection {
  return { offers: forwarders.map((forwarder) => FORWARDER.offer(forwarder)) };
}

/** The forwarders of plugins, in their order. */
export function forwardersIn(inspections: readonly PluginInspection[]): readonly Forwarder[] {
  return FORWARDER.findIn(inspections);
}

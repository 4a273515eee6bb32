/**
 * Opens the front end of dnsmasq, and what accompanies its server.
 */
import { networkInterfaces } from 'node:os';
import { DnsmasqFrontEnd } from '@portolan/frontends/dnsmasq/run/dnsmasq-front-end.ts';
import type { DnsmasqPlan } from '@portolan/frontends/dnsmasq/settings/dnsmasq-plan.ts';
import type { Note } from '@portolan/frontends/dnsmasq/settings/findings.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { LocalNamesPlugin } from '@portolan/plugins/local-names/local-names.ts';
import { countCores, readersAtOnceFor } from '@portolan/server/settings/cores.ts';
import type { Companion } from '../process/life-cycle.ts';
import type { OpenRole, RoleContext } from '../process/server-process.ts';
import { VERSION } from '../process/version.ts';
import { openExtraPlugins } from './blocks-extra.ts';
import type { DnsmasqManner } from './dnsmasq-manner.ts';

export interface DnsmasqRun {
  /** The command's name, for messages. */
  readonly command: string;
  readonly plan: DnsmasqPlan;
  readonly notes: readonly Note[];
  /** Until when after the stop signal to answer on while queries arrive: milliseconds. Default: 0, as in dnsmasq. */
  readonly drain?: number;
  /** Makes a companion of the server. */
  readonly accompany?: (context: CompanionContext) => Companion;
}

/** The parts of the server that its companion may use. */
export interface CompanionContext {
  readonly frontEnd: DnsmasqFrontEnd;
  /** Writes the statistics to the log. */
  readonly report: () => void;
  readonly log: Log;
}

export async function openDnsmasq(
  { plan, drain = 0, accompany }: DnsmasqRun,
  { log, report }: DnsmasqManner,
  { server }: RoleContext,
): Promise<OpenRole> {
  const extra = await openExtraPlugins(plan.process.blocksExtra, log);
  const frontEnd = new DnsmasqFrontEnd(plan, {
    extra,
    interfaces: networkInterfaces,
    udpReaders: readersAtOnceFor(countCores()),
    version: VERSION,
    drain,
    findHostsFile: (record) => server().engine.find(LocalNamesPlugin)?.handlers.findHostsFile(record),
    clock: systemClock,
    log,
  });
  return {
    frontEnd,
    accompany: (made) =>
      accompany === undefined ? [] : [accompany({ frontEnd, report: () => report(made), log })],
  };
}

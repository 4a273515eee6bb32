/**
 * Runs a server of `dnsmasq` or `dnsmasq-nanny` until a stop signal.
 */
import { NO_COMPANIONS } from '../process/server-companions.ts';
import { runServerProcess } from '../process/server-process.ts';
import { type DnsmasqManner, failAsDnsmasq, openDnsmasqManner } from './dnsmasq-manner.ts';
import { type DnsmasqRun, openDnsmasq } from './open-dnsmasq.ts';

/** @returns the exit code when the server has stopped or failed to start */
export async function runDnsmasqServer(run: DnsmasqRun): Promise<number> {
  const { command, plan, notes } = run;
  let manner: DnsmasqManner;
  try {
    manner = openDnsmasqManner(command, plan, notes);
  } catch (error) {
    return failAsDnsmasq(command, error);
  }
  return await runServerProcess({
    manner,
    companions: { ...NO_COMPANIONS, dashboard: plan.process.dashboard },
    open: (context) => openDnsmasq(run, manner, context),
  });
}

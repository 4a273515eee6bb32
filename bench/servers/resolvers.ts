/**
 * The compared resolvers, all with the same upstream.
 */
import type { Contestant } from '../costs.ts';
import { KNOWN } from '../outside.ts';
import { isInstalled } from '../programs.ts';
import type { Workplace } from '../workplace.ts';
import { startDnsmasq } from './dnsmasq.ts';
import { startPortolanResolver } from './portolan-resolver.ts';
import { findUnbound, startUnbound } from './unbound.ts';

/** How many times its cost ours may be at most; none: it is measured and not judged. */
export interface ResolverGoals {
  readonly dnsmasq?: number;
  readonly unbound?: number;
}

/** Adds each server to the list as it starts, ours first: the caller stops those in the list whatever happens. */
export type StartContestants = (
  workplace: Workplace,
  upstreamPort: number,
  goals: ResolverGoals,
  contestants: Contestant[],
) => Promise<void>;

export const startResolvers: StartContestants = async (workplace, upstreamPort, goals, contestants) => {
  contestants.push(await startPortolanResolver(workplace, upstreamPort));
  if (isInstalled('dnsmasq')) {
    const server = await startDnsmasq(workplace, upstreamPort, KNOWN);
    contestants.push({ ...server, name: 'dnsmasq', ...(goals.dnsmasq && { goal: goals.dnsmasq }) });
  } else workplace.say('dnsmasq not found: no dnsmasq to compare with');
  if (isInstalled(findUnbound())) {
    const server = await startUnbound(workplace, upstreamPort);
    contestants.push({ ...server, ...(goals.unbound && { goal: goals.unbound }) });
  } else workplace.say('unbound not found: no Unbound to compare with');
};

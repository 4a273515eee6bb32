/**
 * Sets up the network of a node's cache from its plan: chooses the packet filter, the interface and the probe.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { createRunProgram, ProgramError, type RunProgram } from '@portolan/kernel/base/run-program.ts';
import type { NodeCachePlan, RulesChoice } from '../settings/node-cache-plan.ts';
import { AcceptingFilter } from './accepting-filter.ts';
import { FamilyFilters } from './family-filters.ts';
import { IptablesFilter } from './iptables-filter.ts';
import { IptablesLeftovers } from './iptables-leftovers.ts';
import {
  chooseIptables,
  findInstalled,
  type IptablesPrograms,
  type IpVersion,
  toIpVersion,
} from './iptables-programs.ts';
import { isAnsweredAt, isServedAt } from './local-probe.ts';
import { NftFilter } from './nft-filter.ts';
import { NodeInterface } from './node-interface.ts';
import { NodeNetwork, type SetupError } from './node-network.ts';
import { type LocalEndpoints, listPacketRules } from './packet-rules.ts';
import { PathProbe } from './path-probe.ts';

export interface NetworkOptions {
  readonly plan: NodeCachePlan;
  readonly onError: (error: SetupError) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export async function createNodeNetwork({ plan, onError, clock, log }: NetworkOptions): Promise<NodeNetwork> {
  const { localAddresses: addresses, port: dnsPort, healthPort, interfaceName, syncInterval } = plan;
  const run = createRunProgram(clock);
  const endpoints = { addresses, dnsPort, healthPort };
  const [address = ''] = addressesOfOurs(addresses);
  const families = [...new Set(addresses.map(toIpVersion))];
  const installed =
    plan.rules === 'none'
      ? []
      : (await Promise.all(families.map((family) => findInstalled(family, run)))).flat();
  const ownAddresses = addressesOfOurs(addresses);
  const path = new PathProbe({ port: dnsPort, run, clock });
  const findBlocked = async () =>
    ownAddresses.every(isLinkLocal) && (await path.probe(ownAddresses)) === 'silent'
      ? path.unanswered
      : undefined;
  const setting = { endpoints, families, installed, run, findBlocked, onError, clock, log } as const;
  const chosen = await chooseFilter(plan.rules, setting);
  const leftovers = new IptablesLeftovers(installed, listPacketRules(endpoints), run);
  return new NodeNetwork({
    networkInterface:
      interfaceName === undefined ? undefined : new NodeInterface(interfaceName, addresses, run, log),
    ...chosen,
    leftovers: chosen.filter && leftovers,
    clearLeftovers: chosen.isOfNftables ? () => leftovers.remove(chosen.filter?.acceptsIn) : undefined,
    isServed: () => isServedAt(address, dnsPort, clock),
    isAnswered: async (hasRules) => {
      const probed = hasRules ? addresses : ownAddresses;
      const answers = await Promise.all(probed.map((address) => isAnsweredAt(address, dnsPort, clock)));
      if (!answers.every((isAnswered) => isAnswered)) return false;
      // Without rules a packet filter may keep packets of pods out, which our rules accept.
      return !hasRules || (await path.probe(addresses)) !== 'silent';
    },
    probeWay: () => (path.fault === undefined ? { kind: 'path' } : { kind: 'lo', reason: path.fault }),
    endProbes: () => path.remove(),
    syncInterval,
    onError,
    clock,
    log,
  });
}

/**
 * The addresses that are not those of a Service. Without rules kube-proxy translates a Service's address, so that the cluster would
 * answer the probe, or nobody while it is down. All addresses, if they cannot be distinguished.
 */
function addressesOfOurs(addresses: readonly string[]): readonly string[] {
  const linkLocal = addresses.filter(isLinkLocal);
  return linkLocal.length > 0 ? linkLocal : addresses;
}

const isLinkLocal = (address: string): boolean => /^169\.254\.|^fe[89ab]/i.test(address);

type FilterDependencies = Pick<NetworkOptions, 'onError' | 'clock' | 'log'> & {
  readonly endpoints: LocalEndpoints;
  readonly families: readonly IpVersion[];
  readonly installed: readonly IptablesPrograms[];
  readonly run: RunProgram;
  readonly findBlocked: () => Promise<string | undefined>;
};

interface ChosenFilter {
  /** Undefined: no rules are to be set, or none can be. */
  readonly filter: AcceptingFilter | undefined;
  /** Why none can be. */
  readonly filterFault: string | undefined;
  /** Whether the filter is nftables: then our only iptables rules are ACCEPT rules. */
  readonly isOfNftables: boolean;
}

/** `auto` chooses nftables if the kernel and the program support it, since its rules always end with us. */
async function chooseFilter(choice: RulesChoice, setting: FilterDependencies): Promise<ChosenFilter> {
  const { endpoints, families, installed, run, onError, clock, log } = setting;
  if (choice === 'none') return { filter: undefined, filterFault: undefined, isOfNftables: false };
  const options = { ...setting, rules: listPacketRules(endpoints) };
  const accepts = choice === 'auto';
  // Rules of iptables have their ACCEPT rules in the same variant: before them, nothing can be known.
  const unknown = async () => undefined;
  if (choice === 'nft' || (choice === 'auto' && (await hasNftables(run))))
    return {
      filter: new AcceptingFilter({
        ...options,
        filter: new NftFilter(options.rules, clock),
        others: installed,
        accepts,
      }),
      filterFault: undefined,
      isOfNftables: true,
    };
  try {
    const chosen = await Promise.all(
      families.map((family) => {
        const variants = installed.filter((programs) => programs.family === family);
        return chooseIptables(family, variants, run);
      }),
    );
    const others = installed.filter((each) => !chosen.includes(each));
    const filter = new FamilyFilters(chosen.map((programs) => new IptablesFilter(programs, options)));
    const accepting = new AcceptingFilter({ ...options, filter, others, accepts, findBlocked: unknown });
    return { filter: accepting, filterFault: undefined, isOfNftables: false };
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    onError('iptables');
    const remedy = 'Install nftables or iptables, or give -setupiptables=false.';
    log.error('no packet filter: rules not set', { reason: error.message, remedy });
    return { filter: undefined, filterFault: `no packet filter: ${error.message}`, isOfNftables: false };
  }
}

async function hasNftables(run: RunProgram): Promise<boolean> {
  try {
    await run({
      program: 'nft',
      words: ['-c', '-f', '-'],
      input: 'table inet portolan_check { flags owner; }\n',
    });
    return true;
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    return false;
  }
}

/**
 * What a query costs that a Corefile has forwarded: new names through `forward`, beside `hosts` as in the Corefiles of k3s and minikube,
 * and over TCP as in that of a node's cache.
 */
import { KNOWN, listNewNames } from './outside.ts';
import { isInstalled } from './programs.ts';
import type { Report } from './report.ts';
import { measureResolvers } from './resolver-costs.ts';
import { startCoreDns, startPortolanCorefile, type WriteCorefile } from './servers/corefile-servers.ts';
import { startPortolanResolver } from './servers/portolan-resolver.ts';
import type { StartContestants } from './servers/resolvers.ts';
import { findUnbound, startUnbound } from './servers/unbound.ts';
import type { Workplace } from './workplace.ts';

const RATE = 3_000;
/** Below the queries that all of them allow in flight. */
const OUTSTANDING = 100;
/** How many times the cost of the other server ours may be. */
const GOALS = { serve: 1.1, coreDns: 0.5, unbound: 0.95 } as const;

const HOSTS = `hosts {
    192.0.2.9 host.internal.test
    fallthrough
  }`;

interface Variant {
  readonly name: string;
  readonly lines?: string;
  readonly properties?: string;
}

const VARIANTS: readonly Variant[] = [
  { name: 'new names' },
  { name: 'new names beside hosts', lines: HOSTS },
  { name: 'new names over TCP', properties: ' {\n    force_tcp\n  }' },
];

export async function measureCorefileForward(workplace: Workplace): Promise<Report> {
  const reports: Report[] = [];
  for (const variant of VARIANTS)
    reports.push(
      await measureResolvers(workplace, {
        measurement: 'corefile-forward',
        names: variant.name,
        goals: {},
        start: makeStarter(variant),
        rate: RATE,
        outstanding: OUTSTANDING,
        mayRepeat: false,
        listQuestions: (turn) => listNewNames(turn, Math.max(workplace.seconds, 3), 'there'),
      }),
    );
  return {
    measurement: 'corefile-forward',
    tables: reports.flatMap(({ tables }) => tables),
    goals: reports.flatMap(({ goals }) => goals),
    data: reports.map(({ data }) => data),
  };
}

function makeStarter({ lines = '', properties = '' }: Variant): StartContestants {
  return async (workplace, upstreamPort, _, contestants) => {
    const corefile: WriteCorefile = (port, metricsPort) => `.:${port} {
  bind 127.0.0.1
  errors
  prometheus 127.0.0.1:${metricsPort}
  ${lines}
  cache 30
  forward . 127.0.0.1:${upstreamPort}${properties}
  loadbalance
}
`;
    const wishes = { corefile, probe: KNOWN };
    contestants.push(await startPortolanCorefile(workplace, wishes));
    const serve = await startPortolanResolver(workplace, upstreamPort);
    contestants.push({ ...serve, name: 'serve', goal: GOALS.serve });
    const { COREDNS } = process.env;
    if (COREDNS === undefined) workplace.say('COREDNS names no binary: no CoreDNS to compare with');
    else contestants.push({ ...(await startCoreDns(workplace, COREDNS, wishes)), goal: GOALS.coreDns });
    if (isInstalled(findUnbound()))
      contestants.push({ ...(await startUnbound(workplace, upstreamPort)), goal: GOALS.unbound });
    else workplace.say('unbound not found: no Unbound to compare with');
  };
}

/**
 * The cost of a query with the Corefiles of usual clusters: ours against CoreDNS, taking turns in one run.
 */
import { ApiServer } from './api-server.ts';
import { type Cluster, describeCluster, isHeadless, toServiceName, ZONE } from './cluster.ts';
import { type Contestant, type CostTurns, judgeCosts, listCosts, measureTurn, printCosts } from './costs.ts';
import { putLoad } from './dnsperf.ts';
import { machineTime } from './machine.ts';
import { DOMAIN, KNOWN, listKnownNames, saveLines } from './outside.ts';
import { writeQuestions } from './questions.ts';
import type { Report } from './report.ts';
import { takeTurns } from './rounds.ts';
import { startCoreDns, startPortolanCorefile, type WriteCorefile } from './servers/corefile-servers.ts';
import { startUpstream } from './servers/upstream.ts';
import type { Workplace } from './workplace.ts';

const SHAPE = { services: 2_000, endpoints: 4_000 };
const OUTSTANDING_AT_FIRST = 50;
const SECONDS_AT_FIRST = 2;
const NAMES = 2_000;
const MIN_PERCENT_ANSWERED = 99.9;
const MAX_MILLISECONDS_UNTIL_RIGHT = 30_000;
/** Names of services under another domain, and of addresses. */
const ALIASES = 'internal.example';
const MADE = 'made.example';

/** How many times CoreDNS's cost ours may be at most. */
export const GOAL = 0.2;
const GOAL_WITH_LOG = 0.33;
/** Queries a second of which no line of the log is left out: a saturated Portolan leaves some out. */
const LOGGED_RATE = 10_000;

/** A Corefile with its load. */
export interface CorefileCase {
  readonly name: string;
  /** Undefined: it is only shown. */
  readonly goal?: number;
  readonly corefile: WriteCorefile;
  readonly questions: readonly string[];
  readonly probe: string;
  /** Queries a second at most; as many as the server answers if undefined. */
  readonly rate?: number;
}

interface TestEnvironment {
  readonly kubeconfig: string;
  readonly upstreamPort: number;
  readonly cluster: Cluster;
}

export async function measureCoreDns(workplace: Workplace): Promise<Report> {
  const cluster = describeCluster(SHAPE);
  const apiServer = await ApiServer.start(workplace, SHAPE);
  const upstream = await startUpstream(workplace);
  try {
    const cases = listCases({ kubeconfig: apiServer.kubeconfig, upstreamPort: upstream.port, cluster });
    return await measureCorefiles(workplace, 'coredns', cases);
  } finally {
    await Promise.all([apiServer.stop(), upstream.process.stop()]);
  }
}

/** The cost of a query by each of these Corefiles. */
export async function measureCorefiles(
  workplace: Workplace,
  measurement: string,
  cases: readonly CorefileCase[],
): Promise<Report> {
  const measured: { readonly name: string; readonly turns: CostTurns }[] = [];
  for (const each of cases) measured.push({ name: each.name, turns: await measureCase(workplace, each) });
  return {
    measurement,
    tables: measured.map(({ name, turns }) => printCosts(`Corefile: ${name}`, turns)),
    goals: measured.flatMap(({ name, turns }) => judgeCosts(turns, `, ${name}`)),
    data: measured.map(({ name, turns }) => ({ name, costs: listCosts(turns) })),
  };
}

async function measureCase(workplace: Workplace, one: CorefileCase): Promise<CostTurns> {
  const { COREDNS: binary } = process.env;
  const questions = await saveLines(workplace, 'coredns', one.questions);
  const contestants: Contestant[] = [];
  try {
    contestants.push(await startPortolanCorefile(workplace, one));
    if (binary === undefined) workplace.say('COREDNS names no binary: nothing to compare with');
    else {
      const { goal } = one;
      contestants.push({
        ...(await startCoreDns(workplace, binary, one)),
        ...(goal !== undefined && { goal }),
      });
    }
    for (const contestant of contestants) await waitUntilRight(contestant, questions, one.name);
    const measure = (server: Contestant) => measureTurn(workplace, server, questions, one.rate);
    return await takeTurns(contestants, workplace.rounds, measure, workplace.say);
  } finally {
    await Promise.all(contestants.map((server) => server.process.stop()));
  }
}

/**
 * Until it has listed the cluster, CoreDNS answers the names that it has seen, and says SERVFAIL of all others: one
 * answer does not say that it is ready, and a `cache` keeps such a failure for some seconds.
 */
async function waitUntilRight({ name, port }: Contestant, questions: string, what: string): Promise<void> {
  const load = { port, questions, seconds: SECONDS_AT_FIRST, outstanding: OUTSTANDING_AT_FIRST };
  const end = machineTime() + MAX_MILLISECONDS_UNTIL_RIGHT;
  for (;;) {
    const { rcodes } = await putLoad(load);
    const { NOERROR = 0, NXDOMAIN = 0 } = rcodes;
    if (NOERROR + NXDOMAIN >= MIN_PERCENT_ANSWERED) return;
    if (machineTime() > end) throw new Error(`${name} answers wrongly: ${what}: ${JSON.stringify(rcodes)}`);
  }
}

function listCases({ kubeconfig, upstreamPort, cluster }: TestEnvironment): readonly CorefileCase[] {
  const services = cluster.services.filter((service) => !isHeadless(service));
  const probe = services[0] === undefined ? KNOWN : toServiceName(services[0]);
  const forward = `forward . 127.0.0.1:${upstreamPort}`;
  const block =
    (...more: readonly string[]): WriteCorefile =>
    (port, metricsPort) =>
      `.:${port} {
  bind 127.0.0.1
  errors
  kubernetes ${ZONE} in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  prometheus 127.0.0.1:${metricsPort}
  ${forward}
  reload
  loadbalance
  ${more.join('\n  ')}
}
`;
  const nodeLocal: WriteCorefile = (port, metricsPort) => `${DOMAIN}:${port} {
  errors
  cache {
    success 9984 30
    denial 9984 5
  }
  reload
  bind 127.0.0.1
  ${forward} {
    force_tcp
  }
  prometheus 127.0.0.1:${metricsPort}
}
.:${port} {
  errors
  cache 30
  reload
  bind 127.0.0.1
  ${forward}
  prometheus 127.0.0.1:${metricsPort}
}
`;
  const usual = { goal: GOAL, questions: writeQuestions(cluster), probe };
  const logged = { questions: usual.questions, probe, corefile: block('cache 30', 'log') };
  const aliases = services.map(({ name, namespace }) => `${name}.${namespace}.${ALIASES}`);
  const rewrites = Array.from(
    { length: 20 },
    (_, number) => `rewrite name exact alias-${number}.${MADE} ${probe}`,
  );
  const eks = ['cache 30 {', `  disable success ${ZONE}`, `  disable denial ${ZONE}`, '}'];
  const template = [
    `template IN A ${MADE} {`,
    `  match ^ip-(?P<a>[0-9]+)-(?P<b>[0-9]+)[.]${MADE.replace('.', '[.]')}[.]$`,
    '  answer "{{ .Name }} 60 IN A 10.0.{{ .Group.a }}.{{ .Group.b }}"',
    '}',
  ];
  const made = Array.from({ length: NAMES }, (_, number) => `ip-${number >> 8}-${number & 255}.${MADE}`);
  return [
    { ...usual, name: 'kubeadm', corefile: block('cache 30') },
    { ...usual, name: 'EKS', corefile: block(...eks) },
    { name: 'NodeLocal', goal: GOAL, corefile: nodeLocal, questions: listKnownNames(NAMES), probe: KNOWN },
    {
      ...usual,
      name: 'rewrites',
      corefile: block('cache 30', ...rewrites, `rewrite name suffix .${ALIASES}. .svc.${ZONE}. answer auto`),
      questions: aliases.map((name) => `${name} A`),
    },
    {
      ...usual,
      name: 'templates',
      corefile: block('cache 30', ...template),
      questions: made.map((name) => `${name} A`),
    },
    { ...logged, name: 'log of every query', goal: GOAL_WITH_LOG },
    { ...logged, name: `log of every query, ${LOGGED_RATE} a second`, rate: LOGGED_RATE },
  ];
}

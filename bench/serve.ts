/**
 * The cost of a query: our readers, the floor, Knot and dnsmasq with the same names, taking turns in one run.
 */
import { ApiServer } from './api-server.ts';
import { type Cluster, describeCluster, toServiceName } from './cluster.ts';
import { type Contestant, type CostTurns, judgeCosts, listCosts, measureTurn, printCosts } from './costs.ts';
import { putLoad } from './dnsperf.ts';
import { isInstalled } from './programs.ts';
import { NXDOMAIN_PERCENT } from './questions.ts';
import type { Report } from './report.ts';
import { takeTurns } from './rounds.ts';
import { startDnsmasq } from './servers/dnsmasq.ts';
import { startEcho } from './servers/echo.ts';
import { startKnot } from './servers/knot.ts';
import { startPortolan } from './servers/portolan.ts';
import { saveQuestions, type Workplace } from './workplace.ts';

const SHAPE = { services: 2_000, endpoints: 4_000 };
const RATES = [10_000, 30_000] as const;
/** Few enough that nothing is lost while a cache fills. */
const OUTSTANDING_AT_FIRST = 50;
/** All queries make events; as good as none makes a line, so that the cost is that of events. */
const QUERY_LOG = {
  name: 'Portolan, query log',
  flags: ['--query-log=/dev/null', '--query-log-sample=1000000'],
};
/** Readers that share a port: what comes at these rates should cost no more than with one. */
const FOUR_READERS = { name: 'Portolan, 4 readers', flags: [], readers: 4 };
const PACED_GOALS: ReadonlyMap<string, number> = new Map([
  ['Portolan', 1.1],
  ['dnsmasq (cached)', 1],
]);
const TOLERATED_PERCENT = 1;

export async function measureServe(workplace: Workplace): Promise<Report> {
  const cluster = describeCluster(SHAPE);
  const questions = await saveQuestions(workplace, cluster, 'serve');
  const apiServer = await ApiServer.start(workplace, SHAPE);
  const contestants: Contestant[] = [];
  try {
    await startContestants(workplace, cluster, apiServer, contestants);
    await checkAnswers(contestants, questions);
    const turnsAt = (rate: number | undefined) =>
      takeTurns(
        contestants,
        workplace.rounds,
        (server) => measureTurn(workplace, server, questions, rate),
        workplace.say,
      );
    const fastest = await turnsAt(undefined);
    const paced = [];
    for (const rate of RATES) paced.push({ rate, turns: await turnsAt(rate) });
    return {
      measurement: 'serve',
      tables: [
        printCosts('As fast as the server answers', fastest),
        ...paced.map(({ rate, turns }) => printCosts(`At ${rate} queries a second`, turns)),
      ],
      goals: [
        ...judgeCosts(fastest),
        ...paced.flatMap(({ rate, turns }) =>
          judgeCosts(ofFourReaders(turns), `, 4 readers at ${rate} a second`),
        ),
      ],
      data: {
        fastest: listCosts(fastest),
        paced: paced.map(({ rate, turns }) => ({ rate, servers: listCosts(turns) })),
      },
    };
  } finally {
    await Promise.all([...contestants.map((server) => server.process.stop()), apiServer.stop()]);
  }
}

/** The turns with those of four readers first, and with their goals against the others. */
function ofFourReaders(turns: CostTurns): CostTurns {
  const ours = turns.filter(({ subject }) => subject.name === FOUR_READERS.name);
  const others = turns.flatMap(({ subject: { goal: _, ...subject }, results }) => {
    const goal = PACED_GOALS.get(subject.name);
    return goal === undefined ? [] : { subject: { ...subject, goal }, results };
  });
  return [...ours, ...others];
}

/** Adds each to the list as it starts, so that what has started is stopped whatever happens. */
async function startContestants(
  workplace: Workplace,
  cluster: Cluster,
  apiServer: ApiServer,
  contestants: Contestant[],
): Promise<void> {
  const portolan = await startPortolan(workplace, apiServer.kubeconfig);
  contestants.push(portolan);
  contestants.push(await startPortolan(workplace, apiServer.kubeconfig, undefined, QUERY_LOG));
  contestants.push(await startPortolan(workplace, apiServer.kubeconfig, undefined, FOUR_READERS));
  if (isInstalled('gcc')) contestants.push({ ...(await startEcho(workplace)), goal: 1.35 });
  else workplace.say('gcc not found: no floor to compare with');
  if (isInstalled('knotd')) contestants.push({ ...(await startKnot(workplace, cluster)), goal: 1 });
  else workplace.say('knotd not found: no Knot to compare with');
  const known = cluster.services[0];
  if (isInstalled('dnsmasq') && known !== undefined)
    contestants.push({ ...(await startDnsmasq(workplace, portolan.port, toServiceName(known))), goal: 0.6 });
  else workplace.say('dnsmasq not found: no dnsmasq to compare with');
}

/** Fills caches, and makes sure that no server is fast by answering wrongly. */
async function checkAnswers(contestants: readonly Contestant[], questions: string): Promise<void> {
  for (const { name, port } of contestants) {
    const { rcodes } = await putLoad({ port, questions, seconds: 3, outstanding: OUTSTANDING_AT_FIRST });
    const { NXDOMAIN = 0, NOERROR = 0 } = rcodes;
    const isRight = NXDOMAIN + NOERROR > 99.9 && Math.abs(NXDOMAIN - NXDOMAIN_PERCENT) < TOLERATED_PERCENT;
    if (!isRight && !name.includes('echo'))
      throw new Error(
        `${name} answers wrongly: ${JSON.stringify(rcodes)} in percent, ${NXDOMAIN_PERCENT} of NXDOMAIN expected`,
      );
  }
}

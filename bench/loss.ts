/**
 * The results of stub resolvers behind a path upstream that loses packets: `serve`, a Corefile, and Unbound in turns, and CoreDNS
 * where `COREDNS` names it. Each has an upstream that loses the same part of the queries, drawn from the same seed.
 */
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerAll, placeBehind } from '@portolan/testing/upstream/reactions.ts';
import { askAsStubs } from '../test/support/stub-clients.ts';
import { KNOWN } from './outside.ts';
import { isInstalled } from './programs.ts';
import { createRandom } from './random.ts';
import type { Goal, Report, Table } from './report.ts';
import { type Turns, takeTurns } from './rounds.ts';
import { findCoreDns } from './servers/coredns.ts';
import { type CorefileWishes, startCoreDns, startPortolanCorefile } from './servers/corefile-servers.ts';
import { startPortolanResolver } from './servers/portolan-resolver.ts';
import type { DnsServer } from './servers/server.ts';
import { findUnbound, startUnbound } from './servers/unbound.ts';
import { percentile } from './statistics.ts';
import type { Workplace } from './workplace.ts';

const PER_SECOND = 200;
const SEED = 19;
const UNBOUND = 'Unbound';
/** For each loss: the percentile that is compared, and the part of the names in percent that may stay unresolved in any turn. */
const CASES = [
  { loss: 0.1, compared: 95, maxUnresolved: 0.1 },
  { loss: 0.3, compared: 95, maxUnresolved: 0.5 },
  { loss: 0.5, compared: 90, maxUnresolved: 2 },
] as const;
/** Ours may take so many times as long as Unbound, and so many milliseconds more. */
const TIMES_AS_LONG = 1.5;
const MILLISECONDS_MORE = 20;
const TIMES_AS_MANY_QUERIES = 1.1;

interface Subject {
  readonly name: string;
  readonly isOurs: boolean;
  readonly server: DnsServer;
  readonly upstream: LoopbackUpstream;
}

interface Turn {
  readonly milliseconds: readonly number[];
  readonly queries: number;
}

type LossTurns = readonly Turns<Subject, Turn>[];

export async function measureLoss(workplace: Workplace): Promise<Report> {
  const reports: { readonly table: Table; readonly goals: readonly Goal[]; readonly data: unknown }[] = [];
  for (const { loss, compared, maxUnresolved } of CASES) {
    const turns = await measureCase(workplace, loss);
    const about = `${loss * 100} % loss`;
    reports.push({
      table: printTurns(`${about}, ${PER_SECOND} new names a second`, turns),
      goals: turns
        .filter(({ subject }) => subject.isOurs)
        .flatMap((ours) => [
          ...judge(about, compared, ours, turns),
          judgeUnresolved(about, maxUnresolved, ours),
        ]),
      data: { loss, turns: turns.map(({ subject, results }) => ({ name: subject.name, results })) },
    });
  }
  return {
    measurement: 'loss',
    tables: reports.map(({ table }) => table),
    goals: reports.flatMap(({ goals }) => goals),
    data: reports.map(({ data }) => data),
  };
}

async function measureCase(workplace: Workplace, loss: number): Promise<LossTurns> {
  const subjects: Subject[] = [];
  const start = async (
    name: string,
    isOurs: boolean,
    open: (upstreamPort: number) => Promise<DnsServer>,
  ): Promise<void> => {
    const path = { loss: 0, stalledUntil: 0 };
    const react = placeBehind(path, createRandom(SEED), answerAll);
    const upstream = await LoopbackUpstream.start(react, { remembers: false });
    subjects.push({ name, isOurs, server: await open(upstream.port), upstream });
    path.loss = loss;
  };
  const binary = findCoreDns();
  try {
    await start('serve', true, (port) => startPortolanResolver(workplace, port));
    await start('Corefile', true, (port) => startPortolanCorefile(workplace, byCorefile(port)));
    if (binary !== undefined)
      await start('CoreDNS', false, (port) => startCoreDns(workplace, binary, byCorefile(port)));
    if (isInstalled(findUnbound())) await start(UNBOUND, false, (port) => startUnbound(workplace, port));
    else workplace.say('unbound not found: no Unbound to compare with');
    let turn = 0;
    return await takeTurns(
      subjects,
      workplace.rounds,
      (subject) => measureTurn(workplace, subject, turn++),
      workplace.say,
    );
  } finally {
    await Promise.all(subjects.map(({ server }) => server.process.stop()));
    await Promise.all(subjects.map(({ upstream }) => upstream.stop()));
  }
}

const byCorefile = (upstreamPort: number): CorefileWishes => ({
  corefile: (port) =>
    `.:${port} {\n  bind 127.0.0.1\n  errors\n  cache 30\n  forward . 127.0.0.1:${upstreamPort}\n}\n`,
  probe: KNOWN,
});

async function measureTurn(
  { seconds, say }: Workplace,
  { name, server, upstream }: Subject,
  turn: number,
): Promise<Turn> {
  const before = upstream.count;
  const milliseconds = await askAsStubs({
    port: server.port,
    perSecond: PER_SECOND,
    names: PER_SECOND * seconds,
    makeName: (index) => `n${index}.turn-${turn}.outside.example`,
  });
  const queries = upstream.count - before;
  say(`${name}: ${describe({ milliseconds, queries }).join(' ')}`);
  return { milliseconds, queries };
}

function merge(turns: readonly Turn[]): Turn {
  return {
    milliseconds: turns.flatMap(({ milliseconds }) => milliseconds),
    queries: turns.reduce((sum, { queries }) => sum + queries, 0),
  };
}

/** In percent. */
function computeUnresolved({ milliseconds }: Turn): number {
  return (milliseconds.filter((each) => !Number.isFinite(each)).length / milliseconds.length) * 100;
}

function describe(turn: Turn): readonly string[] {
  const times = [50, 90, 95].map((percent) => percentile(turn.milliseconds, percent).toFixed(0));
  const perName = (turn.queries / turn.milliseconds.length).toFixed(2);
  return [(100 - computeUnresolved(turn)).toFixed(2), ...times, perName];
}

function printTurns(title: string, turns: LossTurns): Table {
  return {
    title,
    columns: ['', 'resolved %', 'p50 ms', 'p90 ms', 'p95 ms', 'queries a name'],
    rows: turns.map(({ subject, results }) => [subject.name, ...describe(merge(results))]),
  };
}

function judge(
  about: string,
  compared: number,
  { subject, results }: LossTurns[number],
  turns: LossTurns,
): readonly Goal[] {
  const peer = turns.find(({ subject: { name } }) => name === UNBOUND);
  if (peer === undefined) return [];
  const ours = merge(results);
  const theirs = merge(peer.results);
  return [
    {
      what: `${subject.name}: p${compared} at ${about}`,
      value: percentile(ours.milliseconds, compared),
      limit: TIMES_AS_LONG * percentile(theirs.milliseconds, compared) + MILLISECONDS_MORE,
      unit: 'ms',
    },
    {
      what: `${subject.name}: queries sent against Unbound at ${about}`,
      value: ours.queries / theirs.queries,
      limit: TIMES_AS_MANY_QUERIES,
      unit: 'times',
    },
  ];
}

function judgeUnresolved(about: string, limit: number, { subject, results }: LossTurns[number]): Goal {
  const value = Math.max(...results.map(computeUnresolved));
  return { what: `${subject.name}: names unresolved at ${about}, worst turn`, value, limit, unit: '%' };
}

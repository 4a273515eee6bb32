/**
 * What EDNS options of clients cost: cached and new names by a Corefile, without options and with each kind, against CoreDNS.
 */
import { rm } from 'node:fs/promises';
import { type Cost, measureCost, putLoad } from './dnsperf.ts';
import { KNOWN, listKnownNames, listNewNames, saveLines } from './outside.ts';
import { type Goal, printSummary, type Report, type Table } from './report.ts';
import { type Turns, takeTurns } from './rounds.ts';
import { startCoreDns, startPortolanCorefile, type WriteCorefile } from './servers/corefile-servers.ts';
import type { DnsServer } from './servers/server.ts';
import { startUpstream } from './servers/upstream.ts';
import { summarize } from './statistics.ts';
import type { Workplace } from './workplace.ts';

/** How many times the cost of a query without options one with any of them may be. */
const GOAL = 1.1;
const NAMES = 1_000;
const SECONDS_AT_FIRST = 2;
/** Below the queries that all servers allow in flight, and what fits into the buffer of a socket. */
const OUTSTANDING = 100;

/** As dnsperf takes them; undefined: no OPT record. It sends no option without data, as NSID is. */
const OPTIONS: ReadonlyMap<string, string | undefined> = new Map([
  ['without OPT', undefined],
  ['without options', ''],
  ['COOKIE', '10:0102030405060708'],
  ['PADDING, 68 octets', `12:${'00'.repeat(68)}`],
  ['client subnet', '8:00011800c00002'],
  ['NSID', '3:00'],
  ['unknown', '65001:6f776e'],
]);

/** Which names are asked for in a turn. */
type Names = 'cached names' | 'new names';
const NAMES_ASKED: readonly Names[] = ['cached names', 'new names'];

/** What takes a turn: a server, with the questions that it gets. */
interface Subject {
  readonly server: DnsServer;
  readonly names: Names;
  readonly option: string;
}

export async function measureOptions(workplace: Workplace): Promise<Report> {
  const upstream = await startUpstream(workplace);
  const servers: DnsServer[] = [];
  try {
    const wishes = { corefile: writeCorefile(upstream.port), probe: KNOWN };
    servers.push(await startPortolanCorefile(workplace, wishes));
    const { COREDNS } = process.env;
    if (COREDNS === undefined) workplace.say('COREDNS names no binary: no CoreDNS to compare with');
    else servers.push(await startCoreDns(workplace, COREDNS, wishes));
    const turns = await new OptionTurns(workplace).measure(servers);
    return {
      measurement: 'options',
      tables: NAMES_ASKED.map((names) => printOptions(names, servers, turns)),
      goals: NAMES_ASKED.flatMap((names) => judge(names, servers[0], turns)),
      data: turns.map(({ subject, results }) => ({
        server: subject.server.name,
        names: subject.names,
        option: subject.option,
        rounds: results.map(({ threads, ...cost }) => ({ ...cost, threads: [...threads.values()] })),
      })),
    };
  } finally {
    await Promise.all([...servers, upstream].map((server) => server.process.stop()));
  }
}

const writeCorefile =
  (upstreamPort: number): WriteCorefile =>
  (port, metricsPort) =>
    `.:${port} {
  bind 127.0.0.1
  errors
  prometheus 127.0.0.1:${metricsPort}
  cache 3600
  forward . 127.0.0.1:${upstreamPort}
  loadbalance
}
`;

class OptionTurns {
  readonly #workplace: Workplace;
  #turn = 0;

  constructor(workplace: Workplace) {
    this.#workplace = workplace;
  }

  async measure(servers: readonly DnsServer[]): Promise<readonly Turns<Subject, Cost>[]> {
    const { rounds, say } = this.#workplace;
    const known = await saveLines(this.#workplace, 'options-cached', listKnownNames(NAMES));
    const load = { questions: known, seconds: SECONDS_AT_FIRST, outstanding: OUTSTANDING };
    for (const { port } of servers) await putLoad({ ...load, port });
    const subjects = NAMES_ASKED.flatMap((names) =>
      servers.flatMap((server) => [...OPTIONS.keys()].map((option) => ({ server, names, option }))),
    );
    return await takeTurns(subjects, rounds, (subject) => this.#measureTurn(subject, known), say);
  }

  async #measureTurn({ server, names, option }: Subject, known: string): Promise<Cost> {
    const { seconds, say } = this.#workplace;
    this.#turn += 1;
    const isNew = names === 'new names';
    const questions = isNew
      ? await saveLines(this.#workplace, 'options-new', listNewNames(this.#turn, seconds, 'there'))
      : known;
    const about = { port: server.port, questions, seconds, outstanding: OUTSTANDING };
    const cost = await measureCost(server.process.pid, { ...about, option: OPTIONS.get(option) });
    if (isNew) await rm(questions);
    say(`${server.name}, ${names}, ${option}: ${cost.perQuery.toFixed(2)} us a query, ${cost.lost} lost`);
    return cost;
  }
}

function findCost(
  turns: readonly Turns<Subject, Cost>[],
  server: DnsServer | undefined,
  names: Names,
  option: string,
) {
  const found = turns.find(
    ({ subject }) => subject.server === server && subject.names === names && subject.option === option,
  );
  return summarize((found?.results ?? []).map(({ perQuery }) => perQuery));
}

function printOptions(
  names: Names,
  servers: readonly DnsServer[],
  turns: readonly Turns<Subject, Cost>[],
): Table {
  const [base = ''] = OPTIONS.keys();
  return {
    title: `${names}, us per query`,
    columns: ['', ...servers.flatMap(({ name }) => [name, 'ratio'])],
    rows: [...OPTIONS.keys()].map((option) => [
      option,
      ...servers.flatMap((server) => {
        const cost = findCost(turns, server, names, option);
        const ratio = cost.median / findCost(turns, server, names, base).median;
        return [printSummary(cost, 2), ratio.toFixed(2)];
      }),
    ]),
  };
}

/** Ours with each option, against ours without. */
function judge(
  names: Names,
  ours: DnsServer | undefined,
  turns: readonly Turns<Subject, Cost>[],
): readonly Goal[] {
  const [base = '', ...others] = OPTIONS.keys();
  return others.map((option) => ({
    what: `${names}, ${option}, against ${base}`,
    value: findCost(turns, ours, names, option).median / findCost(turns, ours, names, base).median,
    limit: GOAL,
    unit: 'times',
  }));
}

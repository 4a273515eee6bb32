/**
 * The cost of a query for a resolver: ours, dnsmasq and Unbound before one upstream, taking turns in one run.
 */
import { rm } from 'node:fs/promises';
import { type Contestant, type CostTurns, judgeCosts, listCosts, measureTurn, printCosts } from './costs.ts';
import type { Cost } from './dnsperf.ts';
import { putLoad } from './dnsperf.ts';
import { saveLines } from './outside.ts';
import type { Report } from './report.ts';
import { takeTurns } from './rounds.ts';
import { type ResolverGoals, type StartContestants, startResolvers } from './servers/resolvers.ts';
import { startUpstream } from './servers/upstream.ts';
import type { Workplace } from './workplace.ts';

/** Few enough that nothing is lost while a cache fills. */
const OUTSTANDING_AT_FIRST = 50;
const SECONDS_AT_FIRST = 3;
const MIN_PERCENT_ANSWERED = 99.9;

export interface ResolverLoad {
  readonly measurement: string;
  readonly goals: ResolverGoals;
  /** Starts the servers to compare, ours first. Default: `serve`, dnsmasq and Unbound. */
  readonly start?: StartContestants;
  /** Those of the paced turns, if they differ. */
  readonly pacedGoals?: ResolverGoals;
  /** What is asked for, where there are several such measurements. */
  readonly names?: string;
  /** Queries a second, of the paced turns. */
  readonly rate: number;
  /** Questions that wait for an answer at a time, over all 16 clients. */
  readonly outstanding: number;
  /** Whether a turn may ask for a name twice. */
  readonly mayRepeat: boolean;
  /** Lines of dnsperf's input file; every name in them exists. */
  listQuestions(turn: number): readonly string[];
}

export async function measureResolvers(workplace: Workplace, load: ResolverLoad): Promise<Report> {
  const { measurement, rate, names } = load;
  const about = names === undefined ? '' : `${names}: `;
  const upstream = await startUpstream(workplace);
  const contestants: Contestant[] = [];
  try {
    const start = load.start ?? startResolvers;
    await start(workplace, upstream.port, load.goals, contestants);
    const turns = new ResolverTurns(workplace, load);
    for (const contestant of contestants) await turns.warmUp(contestant);
    const turnsAt = (limit: number | undefined) =>
      takeTurns(contestants, workplace.rounds, (server) => turns.measure(server, limit), workplace.say);
    const fastest = await turnsAt(undefined);
    const paced = await turnsAt(rate);
    return {
      measurement,
      tables: [
        printCosts(`${about}as fast as the server answers`, fastest),
        printCosts(`${about}at ${rate} queries a second`, paced),
      ],
      goals: [
        ...judgeCosts(fastest, names && `, ${names}`),
        ...judgeCosts(withGoals(paced, load), `, ${about}at ${rate} a second`),
      ],
      data: { fastest: listCosts(fastest), paced: listCosts(paced) },
    };
  } finally {
    await Promise.all([...contestants, upstream].map((server) => server.process.stop()));
  }
}

/** The paced turns, with the goals for them. */
function withGoals(paced: CostTurns, { goals, pacedGoals = goals }: ResolverLoad): CostTurns {
  const goalsByName = new Map(Object.entries(pacedGoals));
  return paced.map(({ subject, results }) => {
    const goal = goalsByName.get(subject.name.toLowerCase());
    const { goal: _, ...others } = subject;
    return { subject: goal === undefined ? others : { ...others, goal }, results };
  });
}

/** Gives each turn its own questions, and makes sure that no server is fast by not answering them. */
class ResolverTurns {
  readonly #workplace: Workplace;
  readonly #load: ResolverLoad;
  #turn = 0;

  constructor(workplace: Workplace, load: ResolverLoad) {
    this.#workplace = workplace;
    this.#load = load;
  }

  async warmUp({ name, port }: Contestant): Promise<void> {
    const load = { port, seconds: SECONDS_AT_FIRST, outstanding: OUTSTANDING_AT_FIRST };
    await this.#ask(name, (questions) => putLoad({ ...load, questions }));
  }

  measure(server: Contestant, rate: number | undefined): Promise<Cost> {
    return this.#ask(server.name, (questions) =>
      measureTurn(this.#workplace, server, questions, rate, this.#load.outstanding),
    );
  }

  async #ask<Seen extends Pick<Cost, 'completed' | 'rcodes'>>(
    name: string,
    putQuestions: (questions: string) => Promise<Seen>,
  ): Promise<Seen> {
    const { measurement, mayRepeat } = this.#load;
    const lines = this.#load.listQuestions(this.#turn++);
    const questions = await saveLines(this.#workplace, measurement, lines);
    const seen = await putQuestions(questions);
    await rm(questions);
    if (!mayRepeat && seen.completed >= lines.length)
      throw new Error(`${name} was asked for names twice: ${lines.length} names were too few`);
    if ((seen.rcodes['NOERROR'] ?? 0) < MIN_PERCENT_ANSWERED)
      throw new Error(
        `${name} answers wrongly: ${JSON.stringify(seen.rcodes)} in percent, all NOERROR expected`,
      );
    return seen;
  }
}

/**
 * A command run again and again, and what its last result says of health.
 *
 * As the original judges: healthy from the start, until a command fails or the last result is too old. The next run begins a
 * period after the last one began, and never before that one has ended.
 */
import type { CheckPlan, HealthzPlan } from '../../config/healthz/plan.ts';
import type { Clock, Timer } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import type { CommandEnd, RunningCommand } from './shell-command.ts';

export type Verdict = { readonly kind: 'well' | 'ill'; readonly text: string };

/** @param timeout milliseconds after which it is killed */
export type RunCommand = (command: string, timeout: number) => RunningCommand;

export interface CheckSurroundings {
  readonly run: RunCommand;
  readonly clock: Clock;
  readonly log: Log;
}

interface Result extends CommandEnd {
  readonly at: number;
  readonly shownAt: number;
}

export class Check {
  readonly plan: CheckPlan;
  readonly #terms: HealthzPlan;
  readonly #surroundings: CheckSurroundings;
  #result: Result;
  #running: RunningCommand | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(plan: CheckPlan, terms: HealthzPlan, surroundings: CheckSurroundings) {
    this.plan = plan;
    this.#terms = terms;
    this.#surroundings = surroundings;
    this.#result = this.#resultOf({ output: '', error: undefined });
  }

  /** The first run begins after a period. */
  start(): void {
    this.#runAfter(this.#terms.period);
  }

  /** Kills what runs. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#running?.kill();
  }

  /** What the last result says, and whether it is recent enough to say anything. */
  judge(): Verdict {
    const { output, error, at } = this.#result;
    const { latency, showsOutput } = this.#terms;
    if (error !== undefined)
      return { kind: 'ill', text: `Healthz probe on ${this.plan.path} error: ${this.#describe()}\n` };
    if (this.#surroundings.clock.monotonic() - at > latency)
      return { kind: 'ill', text: `Latest result too old to be useful: ${this.#describe()}.\n` };
    return { kind: 'well', text: showsOutput ? output : 'ok' };
  }

  #describe(): string {
    const { output, error, shownAt } = this.#result;
    return `Result of last exec: ${output}, at ${new Date(shownAt).toISOString()}, error ${error ?? 'None'}`;
  }

  #runAfter(milliseconds: number): void {
    this.#timer = this.#surroundings.clock.after(milliseconds, () => void this.#run());
  }

  async #run(): Promise<void> {
    const { run, clock, log } = this.#surroundings;
    const { command, path } = this.plan;
    const begun = clock.monotonic();
    log.debug('command run', { path, command });
    this.#running = run(command, this.#terms.timeout);
    const end = await this.#running.ended;
    this.#running = undefined;
    if (this.#isStopped) return;
    this.#note(end);
    this.#runAfter(Math.max(0, begun + this.#terms.period - clock.monotonic()));
  }

  #note(end: CommandEnd): void {
    const before = this.#result.error;
    this.#result = this.#resultOf(end);
    const { log } = this.#surroundings;
    const { path } = this.plan;
    if (end.error === undefined && before !== undefined) log.info('command succeeds again', { path });
    if (end.error !== undefined && before === undefined)
      log.warn('command failed', { path, reason: end.error, output: end.output });
  }

  #resultOf(end: CommandEnd): Result {
    const { clock } = this.#surroundings;
    return { ...end, at: clock.monotonic(), shownAt: clock.now() };
  }
}

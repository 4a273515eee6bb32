/**
 * Runs a command periodically and derives the health from its last result.
 *
 * As in the original: healthy from the start, until a command fails or the last result is too old. The next run begins a
 * period after the start of the last one, but never before its end.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { HealthzCheck, HealthzPlan } from './settings/healthz-plan.ts';
import type { CommandEnd, RunningCommand } from './shell-command.ts';

export type ProbeVerdict = { readonly kind: 'healthy' | 'unhealthy'; readonly text: string };

/** @param timeout milliseconds after which it is killed */
export type StartCommand = (command: string, timeout: number) => RunningCommand;

export interface CheckDependencies {
  readonly run: StartCommand;
  readonly clock: Clock;
  readonly log: Log;
}

interface Result extends CommandEnd {
  readonly at: number;
  readonly shownAt: number;
}

export class ProbeCommand {
  readonly plan: HealthzCheck;
  readonly #settings: HealthzPlan;
  readonly #dependencies: CheckDependencies;
  #result: Result;
  #running: RunningCommand | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(plan: HealthzCheck, settings: HealthzPlan, dependencies: CheckDependencies) {
    this.plan = plan;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#result = this.#toResult({ output: '', error: undefined });
  }

  /** The first run begins after a period. */
  start(): void {
    this.#runAfter(this.#settings.period);
  }

  /** Kills the running command. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#running?.kill();
  }

  /** The health by the last result and its age. */
  judge(): ProbeVerdict {
    const { output, error, at } = this.#result;
    const { latency, showsOutput } = this.#settings;
    if (error !== undefined)
      return { kind: 'unhealthy', text: `Healthz probe on ${this.plan.path} error: ${this.#describe()}\n` };
    if (this.#dependencies.clock.monotonic() - at > latency)
      return { kind: 'unhealthy', text: `Latest result too old to be useful: ${this.#describe()}.\n` };
    return { kind: 'healthy', text: showsOutput ? output : 'ok' };
  }

  #describe(): string {
    const { output, error, shownAt } = this.#result;
    return `Result of last exec: ${output}, at ${new Date(shownAt).toISOString()}, error ${error ?? 'None'}`;
  }

  #runAfter(milliseconds: number): void {
    this.#timer = this.#dependencies.clock.after(milliseconds, () => void this.#run());
  }

  async #run(): Promise<void> {
    const { run, clock, log } = this.#dependencies;
    const { command, path } = this.plan;
    const started = clock.monotonic();
    log.debug('command run', { path, command });
    this.#running = run(command, this.#settings.timeout);
    const end = await this.#running.ended;
    this.#running = undefined;
    if (this.#isStopped) return;
    this.#note(end);
    this.#runAfter(Math.max(0, started + this.#settings.period - clock.monotonic()));
  }

  #note(end: CommandEnd): void {
    const before = this.#result.error;
    this.#result = this.#toResult(end);
    const { log } = this.#dependencies;
    const { path } = this.plan;
    if (end.error === undefined && before !== undefined) log.info('command succeeds again', { path });
    if (end.error !== undefined && before === undefined)
      log.warn('command failed', { path, reason: end.error, output: end.output });
  }

  #toResult(end: CommandEnd): Result {
    const { clock } = this.#dependencies;
    return { ...end, at: clock.monotonic(), shownAt: clock.now() };
  }
}

/**
 * Queries a server periodically for the same question: healthy while its answer has at least one record.
 *
 * As in the original: the RCODE is ignored, and one failure is enough. The next probe begins an interval after the start of the
 * last one, but never before its end.
 */
import { CLASS, type Question } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { ProbePlan } from '@portolan/server/settings/sidecar/sidecar-plan.ts';
import { Latencies } from './latencies.ts';
import type { ServerReply } from './server-question.ts';

export type ProbeState =
  | { readonly kind: 'waiting' }
  /** `latency` in milliseconds. */
  | { readonly kind: 'healthy'; readonly latency: number }
  | { readonly kind: 'unhealthy'; readonly reason: string };

/** Asks a server. Ends by itself, and never rejects. */
export type AskQuestion = (question: Question) => Promise<ServerReply>;

export interface ProbeDependencies {
  readonly ask: AskQuestion;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns numbers from 0 to below 1. */
  readonly random: () => number;
}

export class Probe {
  readonly plan: ProbePlan;
  readonly latencies = new Latencies();
  readonly #dependencies: ProbeDependencies;
  #state: ProbeState = { kind: 'waiting' };
  #errors = 0;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(plan: ProbePlan, dependencies: ProbeDependencies) {
    this.plan = plan;
    this.#dependencies = dependencies;
  }

  get state(): ProbeState {
    return this.#state;
  }

  /** Probes that failed. */
  get errors(): number {
    return this.#errors;
  }

  /** The first probe is sent at a random time in the first interval, so that probes do not coincide. */
  start(): void {
    this.#runAfter(this.#dependencies.random() * this.plan.interval);
  }

  /** The result of an in-flight query is ignored. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #runAfter(milliseconds: number): void {
    this.#timer = this.#dependencies.clock.after(milliseconds, () => void this.#run());
  }

  async #run(): Promise<void> {
    const { ask, clock } = this.#dependencies;
    const { name, type, interval } = this.plan;
    const started = clock.monotonic();
    const reply = await ask({ name, type, class: CLASS.IN });
    if (this.#isStopped) return;
    this.#note(stateAfter(reply, name));
    this.#runAfter(Math.max(0, started + interval - clock.monotonic()));
  }

  #note(state: ProbeState): void {
    const before = this.#state;
    this.#state = state;
    const { log } = this.#dependencies;
    const { label } = this.plan;
    if (state.kind === 'healthy') {
      this.latencies.add(state.latency);
      if (before.kind !== 'healthy') log.info('probe answered', { label });
    } else if (state.kind === 'unhealthy') {
      this.#errors += 1;
      if (before.kind !== 'unhealthy') log.warn('probe failed', { label, reason: state.reason });
      else log.debug('probe failed again', { label, reason: state.reason });
    }
  }
}

function stateAfter(reply: ServerReply, name: string): ProbeState {
  if (reply.kind === 'failed') return { kind: 'unhealthy', reason: reply.reason };
  if (reply.message.answers.length > 0) return { kind: 'healthy', latency: reply.latency };
  return { kind: 'unhealthy', reason: `no RRs for domain ${JSON.stringify(name)}` };
}

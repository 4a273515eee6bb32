/**
 * A server asked the same question again and again: healthy while it answers with at least one record.
 *
 * As the original judges: the response code is not looked at, and one failure is enough. The next probe begins an interval
 * after the last one began, and never before that one has ended.
 */
import type { ProbePlan } from '../../config/sidecar/plan.ts';
import type { Clock, Timer } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { CLASS, type Question } from '../../wire/types.ts';
import { Latencies } from './latencies.ts';
import type { ServerReply } from './server-question.ts';

export type ProbeState =
  | { readonly kind: 'waiting' }
  /** `latency` in milliseconds. */
  | { readonly kind: 'healthy'; readonly latency: number }
  | { readonly kind: 'unhealthy'; readonly reason: string };

/** Asks a server. Ends by itself, and never rejects. */
export type AskQuestion = (question: Question) => Promise<ServerReply>;

export interface ProbeSurroundings {
  readonly ask: AskQuestion;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export class Probe {
  readonly plan: ProbePlan;
  readonly latencies = new Latencies();
  readonly #surroundings: ProbeSurroundings;
  #state: ProbeState = { kind: 'waiting' };
  #errors = 0;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(plan: ProbePlan, surroundings: ProbeSurroundings) {
    this.plan = plan;
    this.#surroundings = surroundings;
  }

  get state(): ProbeState {
    return this.#state;
  }

  /** Probes that failed. */
  get errors(): number {
    return this.#errors;
  }

  /** The first probe comes somewhere in the first interval, so that not all of them are sent at once. */
  start(): void {
    this.#runAfter(this.#surroundings.random() * this.plan.interval);
  }

  /** What is under way changes nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #runAfter(milliseconds: number): void {
    this.#timer = this.#surroundings.clock.after(milliseconds, () => void this.#run());
  }

  async #run(): Promise<void> {
    const { ask, clock } = this.#surroundings;
    const { name, type, interval } = this.plan;
    const begun = clock.monotonic();
    const reply = await ask({ name, type, class: CLASS.IN });
    if (this.#isStopped) return;
    this.#note(stateAfter(reply, name));
    this.#runAfter(Math.max(0, begun + interval - clock.monotonic()));
  }

  #note(state: ProbeState): void {
    const before = this.#state;
    this.#state = state;
    const { log } = this.#surroundings;
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

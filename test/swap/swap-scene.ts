/**
 * A cluster for swaps: the API server double, a controller that writes the status of rollouts, and a DNS that answers or not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, TYPE } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { RestClient } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { PLAIN } from '@portolan/ops/compare/asked-question.ts';
import type { QueryResponder, QueryResponderReply } from '@portolan/ops/compare/query-responder.ts';
import { planFromSwapFlags, type SwapFlags } from '@portolan/ops/swap/settings/swap-flags.ts';
import { Swap, type SwapOutcome } from '@portolan/ops/swap/swap.ts';
import type { ApiServerDouble } from '../api-server/api-server.ts';

/** What the controller does with a change of the spec. */
export type Behaviour = 'rolls out' | 'never progresses' | 'is slow';

/** Writes the status of Deployments and DaemonSets as their controllers would. Former images are always rolled out. */
export class RolloutController {
  /** For our images. */
  behaviour: Behaviour = 'rolls out';
  /** The status of a healthy object, by its key. */
  readonly #healthy = new Map<string, object>();
  readonly #double: ApiServerDouble;
  readonly #ends: readonly (() => void)[];

  constructor(double: ApiServerDouble) {
    this.#double = double;
    this.#ends = ['deployments', 'daemonsets'].map((plural) =>
      double.store.subscribe(plural, ({ object }) => {
        const { kind, metadata } = object.object;
        // After the answer to the change.
        setImmediate(() => this.#observe(kind, plural, `${metadata.namespace}/${metadata.name}`));
      }),
    );
  }

  stop(): void {
    for (const end of this.#ends) end();
  }

  #observe(kind: string, plural: string, key: string): void {
    const object = this.#double.store.get(plural, key)?.object;
    if (object === undefined) return;
    const generation = Number(object.metadata['generation'] ?? 1);
    const status = (object['status'] ?? {}) as Record<string, unknown>;
    const healthy = this.#healthy.get(key) ?? status;
    this.#healthy.set(key, healthy);
    const isOurs = JSON.stringify(object['spec']).includes('portolan-');
    const behaviour = isOurs ? this.behaviour : 'rolls out';
    if (status['observedGeneration'] === generation || behaviour === 'is slow') return;
    this.#double.put({ ...object, kind, status: makeStatus(healthy, behaviour, generation) });
  }
}

function makeStatus(healthy: object, behaviour: Behaviour, observedGeneration: number): object {
  if (behaviour === 'rolls out') return { ...healthy, observedGeneration };
  const message = 'ReplicaSet "coredns-x" has timed out progressing.';
  const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message }];
  return { ...healthy, observedGeneration, updatedReplicas: 1, conditions };
}

/** Answers each question, or refuses by `fails`. */
export class StubDns implements QueryResponder {
  fails: (asked: number) => boolean = () => false;
  asked = 0;

  async ask(): Promise<QueryResponderReply> {
    this.asked += 1;
    if (this.fails(this.asked)) return { kind: 'failed', reason: 'no reply' };
    return { kind: 'replied', message: ANSWER, milliseconds: 1 };
  }

  close(): void {}
}

const QUESTION = {
  ...PLAIN,
  name: parseName('kubernetes.default.svc.cluster.local'),
  type: TYPE.A,
  class: CLASS.IN,
};
const ANSWER: Message = {
  header: {
    id: 1,
    response: true,
    opcode: 0,
    authoritative: true,
    truncated: false,
    recursionDesired: true,
    recursionAvailable: true,
    authenticData: false,
    checkingDisabled: false,
    rcode: 0,
  },
  questions: [QUESTION],
  answers: [{ name: QUESTION.name, class: CLASS.IN, ttl: 5, data: { kind: 'A', address: '10.96.0.1' } }],
  authorities: [],
  additionals: [],
  edns: undefined,
};

export interface Scene {
  readonly connection: Connection;
  readonly dns: QueryResponder;
  readonly signal?: AbortSignal;
}

export interface SwapRun {
  readonly outcome: SwapOutcome;
  readonly lines: readonly string[];
  /** Milliseconds of the swap's own clock. */
  readonly elapsed: number;
}

/** Runs one swap to its end, in a time of its own. */
export async function runSwap({ connection, dns, signal }: Scene, flags: SwapFlags): Promise<SwapRun> {
  const checked = planFromSwapFlags(flags);
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  const { value: plan } = checked;
  const clock = new ManualClock();
  const lines: string[] = [];
  const swap = new Swap(plan, {
    rest: new RestClient(connection, systemClock),
    dns,
    question: QUESTION,
    clock,
    say: (line) => lines.push(line),
    signal: signal ?? new AbortController().signal,
  });
  let isOver = false;
  const running = plan.image === undefined ? swap.back() : swap.forward(plan.image);
  const ended = running.finally(() => {
    isOver = true;
  });
  // Time passes only while the swap waits for it.
  const time = (async () => {
    while (!isOver) {
      if (clock.pending > 0) clock.advance(1_000);
      await sleep(0);
    }
  })();
  const [outcome] = await Promise.all([ended, time]);
  return { outcome, lines, elapsed: clock.monotonic() };
}

/**
 * Replaces the images of the original with those of Portolan, watches the rollout, and restores the former images if it fails.
 *
 * Only images and one annotation of one object are changed, by server-side apply. Nothing is created, and nothing is deleted.
 */
import { RCODE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { formatDuration } from '@portolan/kernel/base/duration.ts';
import { type RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { asRecords, type JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import type { AskedQuestion } from '../compare/asked-question.ts';
import type { QueryResponder } from '../compare/query-responder.ts';
import { workloadPath } from '../preflight/read-running.ts';
import { readPodTroubles } from './pod-troubles.ts';
import { countReady, type Rollout, readRollout } from './rollout.ts';
import type { SwapPlan } from './settings/swap-flags.ts';
import {
  type Images,
  imagesLike,
  listImages,
  makePatch,
  readSwapped,
  SwapError,
  type SwappedImages,
  sameImages,
} from './swapped-images.ts';

export interface SwapDependencies {
  readonly rest: RestClient;
  /** Asks the DNS of the cluster, through its Service. */
  readonly dns: QueryResponder;
  readonly question: AskedQuestion;
  readonly clock: Clock;
  /** Prints a line. */
  readonly say: (line: string) => void;
  /** Ends the watch as a failure does. */
  readonly signal: AbortSignal;
}

/** The field manager: the server notes it as the owner of the images. */
const MANAGER = 'portolan-swap';
/** Milliseconds between two looks. */
const INTERVAL = 1_000;
/** Looks in a row that must fail: a lost packet, or an API server that restarts, is no reason to go back. */
const MAX_FAILURES = 3;
/** Milliseconds that the rollout of the former images may take. */
const BACK_WITHIN = 600_000;

/** `failed`: nothing is rolled back, or not wholly. */
export type SwapOutcome = 'checked' | 'swapped' | 'rolled back' | 'back' | 'failed';

export class Swap {
  readonly #plan: SwapPlan;
  readonly #needs: SwapDependencies;

  constructor(plan: SwapPlan, needs: SwapDependencies) {
    this.#plan = plan;
    this.#needs = needs;
  }

  /** @throws SwapError before anything is changed; RestError if the server refuses the change */
  async forward(image: string): Promise<SwapOutcome> {
    const { say } = this.#needs;
    const workload = await this.#read();
    const former = listImages(workload, this.#plan.original);
    const earlier = readSwapped(workload);
    // Undone by kubectl, which leaves the annotation.
    if (earlier !== undefined && !sameImages(earlier.former, former))
      throw new SwapError('it is swapped already. Go back first: portolan swap --back --apply.');
    const current = imagesLike(this.#plan.original, image);
    this.#sayChange(former, current);
    const kept = { former, current };
    if (!this.#plan.isApplied) {
      await this.#apply(workload, current, kept);
      say('Checked by the server, not changed. Repeat it with --apply.');
      return 'checked';
    }
    await this.#expectAnswers();
    await this.#apply(workload, current, kept);
    say('Applied.');
    const failure = await this.#watch(this.#plan.watch, true);
    if (failure === undefined) {
      say(`Swapped: rolled out, and answered for ${formatDuration(this.#plan.watch)}.`);
      return 'swapped';
    }
    say(`Failed: ${failure}. Rolling back.`);
    for (const trouble of await this.#findTroubles(current)) say(`  ${trouble}`);
    return (await this.#restore()) ? 'rolled back' : 'failed';
  }

  /** @throws SwapError if there is nothing to go back to */
  async back(): Promise<SwapOutcome> {
    const workload = await this.#read();
    const swapped = this.#swapped(workload);
    this.#sayChange(listImages(workload, this.#plan.original), swapped.former);
    if (!this.#plan.isApplied) {
      await this.#apply(workload, swapped.former, undefined);
      this.#needs.say('Checked by the server, not changed. Repeat it with --apply.');
      return 'checked';
    }
    return (await this.#restore()) ? 'back' : 'failed';
  }

  /** Repeats it until the server takes it: the object may change at any time, and its API server may restart. */
  async #restore(): Promise<boolean> {
    const { clock, say } = this.#needs;
    const end = clock.monotonic() + BACK_WITHIN;
    for (;;) {
      try {
        const workload = await this.#read();
        if (readSwapped(workload) !== undefined)
          await this.#apply(workload, this.#swapped(workload).former, undefined);
        break;
      } catch (error) {
        if (!(error instanceof RestError) || isFinal(error)) throw error;
        say(`The former images are not set yet: ${error.message}`);
        if (clock.monotonic() >= end) return false;
        await this.#pause();
      }
    }
    say('The former images are set.');
    const failure = await this.#watch(BACK_WITHIN, false);
    say(
      failure === undefined
        ? 'Back: everything is as it was before the swap.'
        : `Not rolled out: ${failure}.`,
    );
    return failure === undefined;
  }

  #swapped(workload: JsonRecord): SwappedImages {
    const swapped = readSwapped(workload);
    if (swapped === undefined)
      throw new SwapError('nothing to go back to: it was not swapped, or it is back already.');
    const now = listImages(workload, this.#plan.original);
    if (!sameImages(swapped.current, now) && !sameImages(swapped.former, now))
      throw new SwapError(
        `the images were changed after the swap: ${formatImages(now)}. Set them by kubectl set image; before it they were ${formatImages(swapped.former)}.`,
      );
    return swapped;
  }

  /**
   * @param whole whether to watch for the whole time, and not only until it is rolled out
   * @returns why it failed
   */
  async #watch(milliseconds: number, whole: boolean): Promise<string | undefined> {
    const { clock, say, signal } = this.#needs;
    const end = clock.monotonic() + milliseconds;
    const failures = new FailuresInARow();
    let last = '';
    for (;;) {
      const rollout = await this.#lookAtRollout(failures);
      if (rollout !== undefined && rollout.words !== last) say(`  ${rollout.words}`);
      last = rollout?.words ?? last;
      if (rollout?.kind === 'failed') return rollout.words;
      if (rollout?.kind === 'done' && !whole) return undefined;
      failures.add('DNS', await this.#lookAtAnswer());
      if (whole && failures.worst !== undefined) return failures.worst;
      if (whole && signal.aborted) return 'interrupted';
      if (clock.monotonic() >= end)
        return rollout?.kind === 'done'
          ? undefined
          : `not rolled out within ${formatDuration(milliseconds)}: ${last}`;
      await this.#pause();
    }
  }

  /** An API server that does not answer says nothing about DNS, so that is not a failure of the swap. */
  async #lookAtRollout(failures: FailuresInARow): Promise<Rollout | undefined> {
    const { original, namespace } = this.#plan;
    const query = new URLSearchParams({ labelSelector: `kubernetes.io/service-name=${original.service}` });
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices?${query}`;
    try {
      const rollout = readRollout(await this.#read());
      const ready = countReady(asRecords((await this.#needs.rest.get(slices))['items']));
      failures.add('endpoints', ready > 0 ? undefined : `Service ${original.service} has no ready endpoint`);
      return rollout;
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      this.#needs.say(`  the API server cannot be asked: ${error.message}`);
      return undefined;
    }
  }

  /** @returns why there is no usable answer; undefined: there is one */
  async #lookAtAnswer(): Promise<string | undefined> {
    const { dns, question } = this.#needs;
    const reply = await dns.ask(question, false);
    const what = this.#plan.question;
    if (reply.kind === 'failed') return `the DNS of the cluster did not answer ${what}: ${reply.reason}`;
    const { header, answers } = reply.message;
    if (header.rcode !== RCODE.NOERROR || answers.length === 0)
      return `the DNS of the cluster answered ${what} with rcode ${header.rcode} and ${answers.length} records`;
    return undefined;
  }

  /** Why new pods are not ready. The way back does not depend on it. */
  async #findTroubles(images: Images): Promise<readonly string[]> {
    const { rest, say } = this.#needs;
    try {
      return await readPodTroubles(rest, this.#plan.namespace, await this.#read(), new Set(images.values()));
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      say(`  the new pods cannot be looked at: ${error.message}`);
      return [];
    }
  }

  async #expectAnswers(): Promise<void> {
    const failure = await this.#lookAtAnswer();
    if (failure === undefined) return;
    throw new SwapError(
      `${failure}, before anything was changed. Give an address that answers here with --server, or another name with --question.`,
    );
  }

  #sayChange(from: Images, to: Images): void {
    for (const [name, image] of to) this.#needs.say(`  ${name}: ${from.get(name) ?? 'none'} -> ${image}`);
  }

  #read(): Promise<JsonRecord> {
    return this.#needs.rest.get(workloadPath(this.#plan));
  }

  async #apply(workload: JsonRecord, images: Images, kept: SwappedImages | undefined): Promise<void> {
    const patch = makePatch(this.#plan, workload, images, kept);
    const options = { manager: MANAGER, isDryRun: !this.#plan.isApplied };
    await this.#needs.rest.apply(workloadPath(this.#plan), patch, options);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#needs.clock.after(INTERVAL, resolve);
    });
  }
}

/** Refused for good: not because the object changed meanwhile, or because the server is busy. */
function isFinal({ status = 500 }: RestError): boolean {
  return status < 500 && status !== 409 && status !== 429;
}

/** Counts failures of the same witness in a row. */
class FailuresInARow {
  /** The failure that came too often. */
  worst: string | undefined;
  readonly #counts = new Map<string, number>();

  add(witness: string, failure: string | undefined): void {
    const count = failure === undefined ? 0 : (this.#counts.get(witness) ?? 0) + 1;
    this.#counts.set(witness, count);
    if (count >= MAX_FAILURES) this.worst = failure;
  }
}

function formatImages(images: Images): string {
  return [...images].map(([name, image]) => `${name}=${image}`).join(' ');
}

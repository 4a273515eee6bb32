/**
 * Which of several ways to a kind of object is gone now: the best that the server has and allows.
 */
import type { WatchedObject } from '../objects.ts';
import type { Failure, WaitingKind } from './failure.ts';
import type { Resource, Ways } from './resource.ts';

export type Refusal = Failure & { readonly kind: WaitingKind };

export class WayChoice<Kind extends WatchedObject> {
  readonly #ways: Ways<Kind>;
  #current: Resource<Kind>;
  /** Of the refusals since the best way was tried, the one to act on. */
  #refusal: Refusal | undefined;

  constructor(ways: Ways<Kind>) {
    this.#ways = ways;
    this.#current = ways[0];
  }

  get current(): Resource<Kind> {
    return this.#current;
  }

  /** The paths of better ways than the one that is gone. */
  get betterPaths(): readonly string[] {
    return this.#ways.slice(0, this.#ways.indexOf(this.#current)).map((way) => way.path);
  }

  /** The current way works. */
  settle(): void {
    this.#refusal = undefined;
  }

  /** Goes over to a way that was found to have opened. */
  choose(path: string): void {
    this.#current = this.#ways.find((way) => way.path === path) ?? this.#current;
  }

  /**
   * The current way is lacking or forbidden.
   * @returns what to say when no way is left; the next round begins with the best again
   */
  refuse(refusal: Refusal): Refusal | undefined {
    // A permission that lacks can be given, a kind that lacks cannot.
    const worst = this.#refusal?.kind === 'permission' ? this.#refusal : refusal;
    const next = this.#ways[this.#ways.indexOf(this.#current) + 1];
    this.#current = next ?? this.#ways[0];
    this.#refusal = next === undefined ? undefined : worst;
    return next === undefined ? worst : undefined;
  }
}

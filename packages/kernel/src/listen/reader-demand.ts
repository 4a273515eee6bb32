/**
 * Decides how many readers are enough, by the share of their time that they are busy. It adds a reader when they are
 * busy for most of some seconds. It removes readers soon after fewer would do, since several readers wake up for
 * packets that one would receive together. If that was too early, the next attempt waits longer.
 */

/** Adds a reader when the others are busy for a larger share of their time, for this long. */
const BUSY_SHARE = 0.7;
export const BUSY_MILLISECONDS = 5000;
/** Removes readers when the rest would be busy for a smaller share. */
const CALM_SHARE = 0.5;
export const FIRST_PAUSE_MILLISECONDS = 500;
const MAX_PAUSE_MILLISECONDS = 64_000;
/** If fewer readers lasted less than this, they were tried too early. */
const SETTLED_MILLISECONDS = 10_000;

export class ReaderDemand {
  /** How long the readers in use have been busy, and how long fewer would have been enough. */
  #busyFor = 0;
  #calmFor = 0;
  /** The most readers that were needed in the latter time. */
  #needed = 1;
  #pause = FIRST_PAUSE_MILLISECONDS;
  /** Time since readers were removed; undefined: more were used again. */
  #fewerFor: number | undefined;

  /**
   * Judges what readers did since the last call.
   *
   * @param inUse readers that got packets
   * @param work how many readers were busy on average
   * @param milliseconds the length of that time
   * @returns how many readers to use: one more, as many, or fewer
   */
  judge(inUse: number, work: number, milliseconds: number): number {
    if (this.#fewerFor !== undefined) this.#fewerFor += milliseconds;
    this.#busyFor = work > inUse * BUSY_SHARE ? this.#busyFor + milliseconds : 0;
    if (this.#busyFor >= BUSY_MILLISECONDS) return this.#oneMore(inUse);
    // Fewer readers have larger batches, so they take no more time for the same packets.
    const needed = Math.floor(work / CALM_SHARE) + 1;
    if (needed >= inUse) {
      this.#forgetCalm();
      return inUse;
    }
    this.#calmFor += milliseconds;
    this.#needed = Math.max(this.#needed, needed);
    return this.#calmFor < this.#pause ? inUse : this.#fewer(this.#needed);
  }

  /** Call it when the readers in use have more packets than they can answer. @returns how many to use */
  overloaded(inUse: number): number {
    return this.#oneMore(inUse);
  }

  #oneMore(inUse: number): number {
    this.#busyFor = 0;
    this.#forgetCalm();
    if (this.#fewerFor !== undefined)
      this.#pause =
        this.#fewerFor < SETTLED_MILLISECONDS
          ? Math.min(this.#pause * 2, MAX_PAUSE_MILLISECONDS)
          : FIRST_PAUSE_MILLISECONDS;
    this.#fewerFor = undefined;
    return inUse + 1;
  }

  #fewer(needed: number): number {
    this.#busyFor = 0;
    this.#forgetCalm();
    this.#fewerFor = 0;
    return needed;
  }

  #forgetCalm(): void {
    this.#calmFor = 0;
    this.#needed = 1;
  }
}

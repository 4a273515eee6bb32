/**
 * The versions of a zone as its source replaces them: a file, or a primary server. Names that a version loses in a sudden loss are answered
 * on, beside those of the version, until they are back or removed.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Losses, LossGuard, LossMark, LossSource } from '@portolan/kernel/base/losses.ts';
import { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import { ZoneNames } from './zone-names.ts';

export class ZoneVersions {
  readonly #guard: LossGuard | undefined;
  /** Names that the current version lacks and that are answered on. */
  readonly #stale = new Map<NameKey, LossMark>();
  #current: ZoneNames | undefined;
  #served: ZoneNames | undefined;
  /** Called when stale names are removed. */
  changed: () => void = () => {};

  /** @param losses judges what a version lacks; undefined: it goes at once */
  constructor(losses: Losses | undefined, source: LossSource) {
    this.#guard = losses?.guard(source, {
      count: () => this.#stale.size,
      remove: (mark) => this.#remove(mark),
    });
  }

  /** As the source has it; undefined: there is no version yet. */
  get current(): ZoneNames | undefined {
    return this.#current;
  }

  /** With the stale names. */
  get served(): ZoneNames | undefined {
    return this.#served;
  }

  /** Names with records, those that are stale included. The apex counts as one. */
  get names(): number {
    return this.#served === undefined ? 0 : listOwners(this.#served).length + 1;
  }

  /** Whether the answer for a name is from a version that is replaced. */
  isStale(name: NameKey): boolean {
    return this.#stale.has(name);
  }

  replace(next: ZoneNames): void {
    const before = this.#served;
    for (const name of this.#stale.keys()) if (hasRecords(next, name)) this.#stale.delete(name);
    this.#lose(next);
    this.#current = next;
    this.#show(before);
    this.#guard?.settle();
  }

  stop(): void {
    this.#guard?.stop();
  }

  #lose(next: ZoneNames): void {
    const current = this.#current;
    if (current === undefined || this.#guard === undefined) return;
    const owners = listOwners(current);
    const lost = owners.filter((name) => !hasRecords(next, name));
    const mark = this.#guard.judge(lost.length, () => owners.length);
    if (mark !== 0) for (const name of lost) this.#stale.set(name, mark);
  }

  #remove(mark: LossMark): void {
    for (const [name, own] of this.#stale) if (own === mark) this.#stale.delete(name);
    this.#show(this.#served);
    this.changed();
  }

  /** @param before has the records of the stale names */
  #show(before: ZoneNames | undefined): void {
    const current = this.#current;
    this.#served = current;
    if (current === undefined || current.soa === undefined || this.#stale.size === 0) return;
    const stale = [...this.#stale.keys()].flatMap((name) => [...(before?.find(name)?.all() ?? [])]);
    this.#served = new ZoneNames(current.origin, [current.soa, ...current.records(), ...stale]);
  }
}

/** Versions that plugins of several plans go on with, one after the other. */
export function shareVersions(losses: Losses | undefined, source: LossSource): RefCounted<ZoneVersions> {
  return new RefCounted(new ZoneVersions(losses, source), (versions) => versions.stop());
}

function hasRecords(zone: ZoneNames, name: NameKey): boolean {
  return zone.find(name)?.hasRecords === true;
}

/** The names with records, but the apex: a version always has it. */
function listOwners(zone: ZoneNames): readonly NameKey[] {
  return [...zone].flatMap(({ name, hasRecords: isOwner }) => (isOwner && name !== zone.origin ? name : []));
}

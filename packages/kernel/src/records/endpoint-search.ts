/**
 * Finds the ready endpoints of a service that have a label or an address, by its index if it has one.
 */
import type { TableViews } from '../table/memory.ts';
import { SECTION } from './layout.ts';
import type { SectionWalk } from './record-finder.ts';

/** Whether an endpoint is one that is sought. */
export interface EndpointMatcher {
  matches(section: number, endpoint: number): boolean;
}

export class EndpointSearch {
  readonly #atoms: Int32Array;
  readonly #walk: SectionWalk;
  readonly #matcher: EndpointMatcher;
  /** The endpoints of the current section that are left. */
  #next = 0;
  #end = 0;
  /** Where the endpoint is that was found. */
  section = 0;
  endpoint = 0;

  constructor(views: TableViews, walk: SectionWalk, matcher: EndpointMatcher) {
    this.#atoms = views.atoms;
    this.#walk = walk;
    this.#matcher = matcher;
  }

  /** @param service the octet of its entry; @param hash of what is sought, of `INDEXED` */
  begin(service: number, hash: number): void {
    this.#walk.beginIndexed(service, hash);
    this.#next = 0;
    this.#end = 0;
  }

  /** Moves on to the next endpoint. @returns whether there is one */
  next(): boolean {
    const walk = this.#walk;
    for (;;) {
      while (this.#next < this.#end) {
        const endpoint = this.#next++;
        if (!this.#matcher.matches(this.section, endpoint)) continue;
        this.endpoint = endpoint;
        return true;
      }
      if (!walk.next()) return false;
      if (walk.hint >= 0 && this.#followHint(walk.hint)) return true;
      this.section = walk.section;
      this.#next = 0;
      this.#end = this.#ready(walk.section);
    }
  }

  /** Looks only at the endpoint that the index names. @returns whether it is the one: then the slice has no other */
  #followHint(hint: number): boolean {
    const walk = this.#walk;
    let { section } = walk;
    let endpoint = hint;
    let left = walk.sectionsLeft;
    for (let ready = this.#ready(section); endpoint >= ready; ready = this.#ready(section)) {
      if (left === 0) return false;
      left--;
      endpoint -= ready;
      section += this.#atoms[(section + SECTION.SIZE) >> 2] ?? 0;
    }
    if (!this.#matcher.matches(section, endpoint)) return false;
    this.section = section;
    this.endpoint = endpoint;
    walk.leaveSlice();
    return true;
  }

  #ready(section: number): number {
    return (this.#atoms[(section + SECTION.COUNTS) >> 2] ?? 0) & 0xffff;
  }
}

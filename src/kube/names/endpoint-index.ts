/**
 * The endpoints of a service with many objects, merged and sorted. A change of one object costs the processing of that object, and
 * one pass over all endpoints.
 */
import { PIECES_PER_STEP, type Steps } from '../../base/steps.ts';
import type { ObjectLine } from '../objects/object-line.ts';
import { type Endpoint, haveSamePorts, keyOfEndpoint, mergeTwo } from './endpoints.ts';
import { type LabelGroup, LabelGroups } from './label-groups.ts';
import { replaceInOrder } from './ordered-list.ts';

export class EndpointIndex {
  readonly #lists = new Map<ObjectLine, readonly Endpoint[]>();
  readonly #merged = new Map<string, Endpoint>();
  /** The parts of endpoints that are in several lists. */
  readonly #shared = new Map<string, readonly Endpoint[]>();
  /** By key, the endpoints that may have changed since `#ordered` was made, as they are in it. */
  readonly #touched = new Map<string, Endpoint | undefined>();
  readonly #groups: LabelGroups;
  /** The ports of the last endpoint read. */
  #ports: Endpoint['ports'] | undefined;
  #ordered: readonly Endpoint[] = [];

  /** @param labelOf the label of an endpoint below its service; depends only on its address and hostname */
  constructor(labelOf: (endpoint: Endpoint) => string) {
    this.#groups = new LabelGroups(labelOf);
  }

  /** In order. An unchanged endpoint is the same value. */
  get endpoints(): readonly Endpoint[] {
    return this.#ordered;
  }

  /** In the order of their first endpoints. An unchanged group is the same value. */
  get groups(): readonly LabelGroup[] {
    return this.#groups.ordered;
  }

  /**
   * Takes in all objects; at its end it includes changes made while it ran.
   *
   * @param current the lines of all objects
   * @param read the endpoints of an object
   */
  *update(
    current: () => readonly ObjectLine[],
    read: (line: ObjectLine) => readonly Endpoint[],
  ): Steps<void> {
    for (;;) {
      const lines = new Set(current());
      const gone = [...this.#lists.keys()].filter((line) => !lines.has(line));
      const come = [...lines].filter((line) => !this.#lists.has(line));
      if (gone.length === 0 && come.length === 0) break;
      for (const line of gone) {
        this.#remove(line);
        yield;
      }
      for (const line of come) {
        this.#add(line, read);
        if (this.#touched.size >= PIECES_PER_STEP) this.#arrange();
        yield;
      }
    }
    this.#arrange();
  }

  #remove(line: ObjectLine): void {
    const list = this.#lists.get(line) ?? [];
    this.#lists.delete(line);
    for (const endpoint of list) {
      const key = this.#touch(endpoint);
      const left = this.#shared.get(key)?.filter((other) => other !== endpoint) ?? [];
      this.#setSources(key, left);
    }
  }

  #add(line: ObjectLine, read: (line: ObjectLine) => readonly Endpoint[]): void {
    if (this.#lists.has(line)) return;
    const list = read(line).map((given) => {
      const endpoint = this.#sharePorts(given);
      const key = this.#touch(endpoint);
      const merged = this.#merged.get(key);
      const others = this.#shared.get(key) ?? (merged === undefined ? [] : [merged]);
      const before = this.#touched.get(key);
      const isSame = before !== undefined && haveSamePorts(before, endpoint) && !others.includes(before);
      const kept = isSame ? before : endpoint;
      this.#setSources(key, [...others, kept]);
      return kept;
    });
    this.#lists.set(line, list);
  }

  /** Nearly all endpoints of a service have the same ports, but each object has its own copy: share one. */
  #sharePorts(endpoint: Endpoint): Endpoint {
    if (this.#ports === undefined || !haveSamePorts(endpoint, { ports: this.#ports })) {
      this.#ports = endpoint.ports;
      return endpoint;
    }
    return { ...endpoint, ports: this.#ports };
  }

  /** @returns the key of the endpoint */
  #touch(endpoint: Endpoint): string {
    const key = keyOfEndpoint(endpoint);
    if (!this.#touched.has(key)) this.#touched.set(key, this.#merged.get(key));
    return key;
  }

  #setSources(key: string, sources: readonly Endpoint[]): void {
    const [first, ...others] = sources;
    if (others.length > 0) this.#shared.set(key, sources);
    else this.#shared.delete(key);
    if (first === undefined) this.#merged.delete(key);
    else this.#merged.set(key, others.reduce(mergeTwo, first));
  }

  /** Updates the ordered list from the merged endpoints. */
  #arrange(): void {
    const changes = new Map<string, Endpoint | undefined>();
    const removed: Endpoint[] = [];
    for (const [key, before] of this.#touched) {
      const now = this.#merged.get(key);
      if (now === before) continue;
      changes.set(key, now);
      if (before !== undefined) removed.push(before);
    }
    this.#touched.clear();
    if (changes.size === 0) return;
    this.#ordered = replaceInOrder(this.#ordered, keyOfEndpoint, changes);
    const added = [...changes.values()].filter((endpoint) => endpoint !== undefined);
    this.#groups.replace(removed, added);
  }
}

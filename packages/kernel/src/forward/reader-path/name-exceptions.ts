/**
 * Names that others answer, with all names below them: found by the suffixes of a question's name, at a cost
 * independent of their number.
 */
import type { WireName } from '@portolan/dns/types.ts';
import { countLabels } from '../../table/hash.ts';
import type { QuestionReader } from '../../table/question.ts';

export class NameExceptions {
  readonly #byHash = new Map<number, WireName[]>();
  readonly #minLabels: number;
  readonly #maxLabels: number;

  /**
   * @param names in lower case
   * @param hashWireName the same hash as `QuestionReader.hashWithout`
   */
  constructor(names: readonly WireName[], hashWireName: (name: Uint8Array) => number) {
    for (const name of names) {
      const hash = hashWireName(name);
      const known = this.#byHash.get(hash);
      if (known === undefined) this.#byHash.set(hash, [name]);
      else known.push(name);
    }
    const labels = names.map(countLabels);
    this.#minLabels = labels.reduce((min, each) => Math.min(min, each), Number.POSITIVE_INFINITY);
    this.#maxLabels = labels.reduce((max, each) => Math.max(max, each), 0);
  }

  includes(question: QuestionReader): boolean {
    for (let kept = Math.min(question.labels, this.#maxLabels); kept >= this.#minLabels; kept--) {
      const skipped = question.labels - kept;
      const names = this.#byHash.get(question.hashWithout(skipped));
      if (names?.some((name) => isSuffix(name, question, question.labelStarts[skipped] ?? 0)) === true)
        return true;
    }
    return false;
  }
}

function isSuffix(name: WireName, question: QuestionReader, from: number): boolean {
  if (question.nameLength - from !== name.length) return false;
  for (let at = 0; at < name.length; at++) if (name[at] !== question.name[from + at]) return false;
  return true;
}

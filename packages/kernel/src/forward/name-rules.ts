/**
 * Finds the rule of a name: the longest match wins.
 *
 * A walk up the name finds rules for domains, so their number does not matter. The rare rules by ending are tried one
 * after the other, longest first.
 */
import { countLabels, ROOT, toParent } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { ForwardRule, RuleMatch } from './forward-plan.ts';

export class NameRules<Target> {
  readonly #domains = new Map<NameKey, Target>();
  readonly #endings: { readonly text: string; readonly target: Target }[] = [];
  readonly #unqualified: Target | undefined;
  /** Whether a rule for all names is the only one. */
  readonly #isOne: boolean;

  /** @param pairs if two match the same, the last one wins */
  constructor(pairs: Iterable<readonly [RuleMatch, Target]>) {
    let unqualified: Target | undefined;
    for (const [match, target] of pairs) {
      if (match.kind === 'domain') this.#domains.set(match.name, target);
      else if (match.kind === 'unqualified') unqualified = target;
      else this.#endings.push({ text: match.text, target });
    }
    this.#unqualified = unqualified;
    const { size } = this.#domains;
    this.#isOne =
      size === 1 && this.#domains.has(ROOT) && unqualified === undefined && this.#endings.length === 0;
    this.#endings.reverse().sort((one, other) => other.text.length - one.text.length);
  }

  /** The target of the longest match. */
  find(name: NameKey): Target | undefined {
    if (this.#isOne) return this.#domains.get(ROOT);
    if (this.#unqualified !== undefined && countLabels(name) === 1 && !this.#domains.has(name))
      return this.#unqualified;
    let domain: NameKey | undefined = name;
    while (domain !== undefined && !this.#domains.has(domain)) domain = toParent(domain);
    const ending = this.#endings.find(({ text }) => name.endsWith(text));
    const length = domain === undefined || domain === ROOT ? 0 : domain.length;
    if (ending !== undefined && ending.text.length > length) return ending.target;
    return domain === undefined ? undefined : this.#domains.get(domain);
  }
}

/** The rules as pairs, one per match. */
export function* listMatchPairs<Target>(
  rules: readonly ForwardRule[],
  compile: (rule: ForwardRule) => Target,
): Iterable<readonly [RuleMatch, Target]> {
  for (const rule of rules) {
    const target = compile(rule);
    for (const match of rule.names) yield [match, target];
  }
}

/**
 * Finds the rules for a name, the longest scope first: rules for domains, for the ends of names, for plain names, for all.
 *
 * It finds domains by walking up the name, so a list of a hundred thousand domains does not slow it down.
 */
import { countLabels, ROOT, toParent } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';

export type NameScope =
  | { readonly kind: 'all' }
  /** Names of one label (`//` in an option of dnsmasq). */
  | { readonly kind: 'plain-names' }
  /** The name and all below it. */
  | { readonly kind: 'domain'; readonly name: NameKey }
  /** Names that end in these characters, in lower case and without the final dot (`/*example.com/`). */
  | { readonly kind: 'suffix'; readonly text: string };

export class NameScopes<Route extends { readonly scope: NameScope }, Rule> {
  readonly #domains = new Map<NameKey, Rule[]>();
  readonly #suffixes: { readonly text: string; readonly rules: Rule[] }[] = [];
  readonly #plain: Rule[] = [];
  readonly #all: Rule[] = [];

  /**
   * @param routes the rules of a scope are kept in the order given
   * @param toRule the rule of a route
   */
  constructor(routes: Iterable<Route>, toRule: (route: Route) => Rule) {
    // In long lists, all domains have the same rule: share one array for it.
    const alone = new Map<Rule, Rule[]>();
    for (const route of routes) {
      const rule = toRule(route);
      if (route.scope.kind === 'domain') this.#addToDomain(route.scope.name, rule, alone);
      else this.#getOrCreateRules(route.scope).push(rule);
    }
    this.#suffixes.sort((one, other) => other.text.length - one.text.length);
  }

  /** The rules of each scope that a name is in, from the longest scope to the shortest. */
  *find(name: NameKey): Iterable<readonly Rule[]> {
    yield* this.#findNarrow(name);
    yield this.#domains.get(ROOT) ?? [];
    yield this.#all;
  }

  /**
   * Whether a scope of the name has such a rule.
   *
   * @param which scopes count; `narrow`: only those that do not contain every name
   */
  some(name: NameKey, isWanted: (rule: Rule) => boolean, which: 'all' | 'narrow' = 'all'): boolean {
    for (const rules of which === 'all' ? this.find(name) : this.#findNarrow(name))
      if (rules.some(isWanted)) return true;
    return false;
  }

  *#findNarrow(name: NameKey): Iterable<readonly Rule[]> {
    const text = name.slice(0, -1);
    const suffixes = this.#suffixes.filter((suffix) => text.endsWith(suffix.text));
    for (let at: NameKey | undefined = name; at !== undefined && at !== ROOT; at = toParent(at)) {
      while ((suffixes[0]?.text.length ?? 0) > at.length - 1) yield suffixes.shift()?.rules ?? [];
      const rules = this.#domains.get(at);
      if (rules !== undefined) yield rules;
    }
    for (const { rules } of suffixes) yield rules;
    if (countLabels(name) === 1 && this.#plain.length > 0) yield this.#plain;
  }

  #addToDomain(name: NameKey, rule: Rule, alone: Map<Rule, Rule[]>): void {
    const before = this.#domains.get(name);
    if (before === undefined) {
      const only = alone.get(rule) ?? [rule];
      alone.set(rule, only);
      this.#domains.set(name, only);
    } else if (before.length > 1) before.push(rule);
    else this.#domains.set(name, [...before, rule]);
  }

  #getOrCreateRules(scope: Exclude<NameScope, { kind: 'domain' }>): Rule[] {
    switch (scope.kind) {
      case 'all':
        return this.#all;
      case 'plain-names':
        return this.#plain;
      case 'suffix':
        return this.#suffixRules(scope.text);
    }
  }

  #suffixRules(text: string): Rule[] {
    const known = this.#suffixes.find((suffix) => suffix.text === text);
    if (known !== undefined) return known.rules;
    const rules: Rule[] = [];
    this.#suffixes.push({ text, rules });
    return rules;
  }
}

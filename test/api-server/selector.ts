/**
 * Label selectors: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, separated by commas.
 */
const REQUIREMENT =
  /\s*(?:(?<not>!)\s*(?<absent>[\w./-]+)|(?<key>[\w./-]+)\s*(?:(?<operator>==?|!=)\s*(?<value>[\w.-]*)|(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*(?:,|$)/y;

/** @returns undefined for what is no selector */
function parseSelector(
  selector: string,
): readonly Readonly<Record<string, string | undefined>>[] | undefined {
  const requirements: Record<string, string | undefined>[] = [];
  REQUIREMENT.lastIndex = 0;
  while (REQUIREMENT.lastIndex < selector.length) {
    const { groups } = REQUIREMENT.exec(selector) ?? {};
    if (groups === undefined) return undefined;
    requirements.push(groups);
  }
  return requirements;
}

export function isSelector(selector: string): boolean {
  return parseSelector(selector) !== undefined;
}

/** An empty selector matches all labels; a malformed one matches nothing. */
export function matchesLabels(selector: string, labels: Readonly<Record<string, string>>): boolean {
  return (
    parseSelector(selector)?.every(({ absent, key = '', operator, value, set, values = '' }) => {
      if (absent !== undefined) return !Object.hasOwn(labels, absent);
      const has = labels[key];
      if (set !== undefined) {
        const isListed = values.split(',').some((each) => each.trim() === has);
        return isListed === (set === 'in');
      }
      if (operator === undefined) return has !== undefined;
      return (has === value) === (operator !== '!=');
    }) ?? false
  );
}

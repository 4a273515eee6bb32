/**
 * Checks the syntax of label selectors: `app=nginx,tier in (a, b),!old`.
 */

const KEY = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const TOKEN = /\s*(==|!=|[=<>!(),]|[^\s=<>!(),]+)/gy;

/** Whether a text may be the key of a label: `team`, `example.com/team`. */
export function isLabelKey(text: string): boolean {
  return KEY.test(text);
}

/** @returns the fault in the words of the API's library; undefined if the selector is valid */
export function findSelectorFault(selector: string): string | undefined {
  const tokens = [...selector.trim().matchAll(TOKEN)].map((match) => match[1] ?? '');
  let rest: readonly string[] = tokens;
  while (rest.length > 0) {
    const taken = takeRequirement(rest);
    if (typeof taken === 'string')
      return `couldn't parse the selector string ${JSON.stringify(selector)}: ${taken}`;
    rest = taken;
  }
  return undefined;
}

/** @returns the tokens after the first requirement and its comma, or the fault */
function takeRequirement(tokens: readonly string[]): readonly string[] | string {
  const isNegated = tokens[0] === '!';
  const [key = '', operator = '', ...rest] = isNegated ? tokens.slice(1) : tokens;
  if (!KEY.test(key))
    return `unable to parse requirement: found '${key}', expected: !, identifier, or 'end of string'`;
  if (operator === '' || operator === ',') return afterComma(operator === '' ? [] : [operator, ...rest]);
  if (isNegated) return `found '${operator}', expected: ',' or 'end of string'`;
  if (operator === 'in' || operator === 'notin') return takeValues(rest);
  if (!['=', '==', '!=', '>', '<', 'gt', 'lt'].includes(operator))
    return `unable to parse requirement: found '${operator}', expected: in, notin, =, ==, !=, gt, lt`;
  // An empty value is valid: "key=" selects objects whose label is empty.
  const [value = ''] = rest;
  const hasValue = value !== '' && value !== ',';
  return afterComma(hasValue ? rest.slice(1) : rest);
}

function takeValues(tokens: readonly string[]): readonly string[] | string {
  const [open = '', ...rest] = tokens;
  if (open !== '(') return `unable to parse requirement: found '${open}', expected: '('`;
  for (const [index, token] of rest.entries()) {
    if (token === ')') return afterComma(rest.slice(index + 1));
    if (/^(?:==|!=|[=<>!(])$/.test(token))
      return `unable to parse requirement: found '${token}', expected: ',', or identifier`;
  }
  return "unable to parse requirement: found '', expected: ',', ')' or identifier";
}

function afterComma(tokens: readonly string[]): readonly string[] | string {
  const [comma, ...rest] = tokens;
  if (comma === undefined) return [];
  if (comma !== ',') return `found '${comma}', expected: ',' or 'end of string'`;
  return rest.length === 0 ? "found '', expected: identifier after ','" : rest;
}

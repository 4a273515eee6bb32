/**
 * The rules of `alternate`.
 */
import { fault, type NameKey, toKey, type Use, type Word } from '@portolan/plugin';

/** What is asked after some response codes. */
export interface AlternateRule {
  readonly rcodes: readonly number[];
  /** Names below it are asked for; lower case, absolute. */
  readonly from: NameKey;
  readonly servers: readonly string[];
}

const RCODES: ReadonlyMap<string, number> = new Map([
  ['NOERROR', 0] as const,
  ['FORMERR', 1] as const,
  ['SERVFAIL', 2] as const,
  ['NXDOMAIN', 3] as const,
  ['NOTIMP', 4] as const,
  ['REFUSED', 5] as const,
  ['YXDOMAIN', 6] as const,
  ['YXRRSET', 7] as const,
  ['NXRRSET', 8] as const,
  ['NOTAUTH', 9] as const,
  ['NOTZONE', 10] as const,
]);

/** @throws a fault */
export function readRules(uses: readonly Use[]): readonly AlternateRule[] {
  const seen = new Set<number>();
  return uses.map((use) => {
    const rule = readRule(use);
    for (const rcode of rule.rcodes) {
      const name = [...RCODES].find(([, code]) => code === rcode)?.[0] ?? '';
      if (seen.has(rcode))
        throw fault(
          `rcode '${name}' is specified more than once`,
          use.head,
          'Name each response code in one rule.',
        );
      seen.add(rcode);
    }
    return rule;
  });
}

function readRule({ head: name, args, lines }: Use): AlternateRule {
  // `original` asks with the query as it came here. Plugins behind change only what they pass on, so it always is that.
  const [codes, from, ...servers] = args[0]?.text === 'original' ? args.slice(1) : args;
  if (codes === undefined || from === undefined || servers.length === 0)
    throw fault(
      `Wrong argument count or unexpected line ending after '${args.at(-1)?.text ?? name.text}'`,
      args.at(-1) ?? name,
      'Give response codes, a zone and servers, as in alternate NXDOMAIN . 192.0.2.1.',
    );
  const [[property] = []] = lines;
  if (property !== undefined)
    throw fault(
      `additional parameters not allowed: ${property.text}`,
      property,
      'Take the block out: alternate has no properties.',
    );
  return {
    rcodes: [...new Set(codes.text.split(',').map((code) => readCode(code, codes)))],
    from: toKey(from.text),
    servers: servers.map(({ text }) => text.replace(/^dns:\/\//, '')),
  };
}

function readCode(text: string, word: Word): number {
  const rcode = RCODES.get(text.toUpperCase());
  if (rcode !== undefined) return rcode;
  throw fault(`${text} is not a valid rcode`, word, `Give some of ${[...RCODES.keys()].join(', ')}.`);
}

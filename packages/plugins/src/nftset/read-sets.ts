/**
 * The value of dnsmasq's `--nftset`, which all roles share: `/DOMAIN[/DOMAIN…]/[4#|6#][FAMILY#]TABLE#SET[,…]`.
 */
import { ROOT, tryParseKey } from '@portolan/dns/name.ts';
import { NFT_FAMILIES, type NftSet, type NftsetRule } from './options.ts';

/** The parts of a value. */
export interface NftsetParts {
  /** As written; empty and `#`: all names. */
  readonly domains: readonly string[];
  readonly sets: readonly NftSet[];
}

export interface NftsetFault {
  readonly fault: string;
  readonly value: string;
  readonly remedy: string;
}

const EXAMPLE = 'as in /example.com/inet#filter#allowed';
/** NFT_NAME_MAXLEN, without the final zero. */
const MAX_NAME = 255;
const VERSIONS: ReadonlyMap<string, NftSet['only']> = new Map([
  ['4', 'ipv4'],
  ['6', 'ipv6'],
]);

/** @returns the rule, or what is wrong with it */
export function readNftsetRule(text: string, isClosed: boolean): NftsetRule | NftsetFault {
  const parts = readNftset(text);
  if ('fault' in parts) return parts;
  const domains = parts.domains.map((domain) =>
    domain === '' ? ROOT : tryParseKey(domain.endsWith('.') ? domain : `${domain}.`),
  );
  const place = domains.indexOf(undefined);
  if (place < 0) return { domains: domains.flatMap((domain) => domain ?? []), sets: parts.sets, isClosed };
  return {
    fault: 'not a domain name',
    value: parts.domains[place] ?? '',
    remedy: `Write domains, ${EXAMPLE}.`,
  };
}

/** @param text without a domain, it is for all names */
export function readNftset(text: string): NftsetParts | NftsetFault {
  const pieces = text.startsWith('/') ? text.slice(1).split('/') : ['', text];
  const domains = pieces.slice(0, -1).map((domain) => (domain === '#' ? '' : domain.replace(/^\.+/, '')));
  if (domains.length === 0)
    return {
      fault: 'no set',
      value: text,
      remedy: `Write a slash behind the domains, and sets, ${EXAMPLE}.`,
    };
  const sets: NftSet[] = [];
  for (const word of (pieces.at(-1) ?? '').split(',')) {
    const set = readSet(word.trim());
    if (set === undefined)
      return {
        fault: 'not a set',
        value: word,
        remedy: `Write table and set, with the family before them, ${EXAMPLE}. Families: ${NFT_FAMILIES.join(', ')}.`,
      };
    sets.push(set);
  }
  return { domains, sets };
}

function readSet(word: string): NftSet | undefined {
  const pieces = word.split('#');
  const only = VERSIONS.get(pieces[0] ?? '');
  if (only !== undefined) pieces.shift();
  const [name, table, familyWord = 'ip', ...others] = pieces.toReversed();
  const family = NFT_FAMILIES.find((each) => each === familyWord);
  const isNamed = [name, table].every((text) => text !== undefined && isIdentifier(text));
  if (name === undefined || table === undefined || family === undefined || others.length > 0 || !isNamed)
    return undefined;
  return { family, table, name, only };
}

/** nft reads letters, digits, and some marks behind the first letter. */
function isIdentifier(text: string): boolean {
  return text.length <= MAX_NAME && /^[A-Za-z_][\w/\\.-]*$/.test(text);
}

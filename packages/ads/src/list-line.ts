/**
 * Lines of lists: hosts files, names one by one, `*.example.com`, and the rules of ad blockers that concern whole names.
 */
import { domainToASCII } from 'node:url';

export interface ListEntry {
  readonly name: string;
  readonly withNamesBelow: boolean;
  /** `@@`: it is an exception. */
  readonly isPermitted: boolean;
}

const COMMENT = /^\s*[!#[]|\s#.*$/;
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]*:[\da-f:.]*(?:%\w+)?)$/i;
/** `||example.com^`, with modifiers that change nothing for a DNS server. */
const RULE =
  /^(?<permit>@@)?\|\|(?<name>[^/^$|*]+)\^?(?:\$(?:important|all|document|doc)(?:,(?:important|all|document|doc))*)?$/i;
const WILDCARD = /^\*\.(?<name>[^*]+)$/;
const NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/;

/** The names of a line: none in comments, and in rules that are about parts of pages. */
export function readListLine(line: string): readonly ListEntry[] {
  const [first = '', ...others] = COMMENT.test(line)
    ? splitWords(line.replace(/(?:^|\s)[#!].*$/, ''))
    : splitWords(line);
  if (first === '' || first.startsWith('[')) return [];
  if (ADDRESS.test(first)) return others.flatMap((word) => parseEntry(word, false, false));
  if (others.length > 0) return [];
  const rule = RULE.exec(first)?.groups;
  if (rule !== undefined) return parseEntry(rule['name'] ?? '', true, rule['permit'] !== undefined);
  const wildcard = WILDCARD.exec(first)?.groups;
  return wildcard === undefined
    ? parseEntry(first, false, false)
    : parseEntry(wildcard['name'] ?? '', true, false);
}

/** The name in the form of a question; undefined: the text is no name. */
export function parseListName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (NAME.test(name)) return name;
  // Only names with other letters are changed: `domainToASCII` makes an address of `1.2`.
  return /[^ -~]/.test(name) ? nameOfAscii(domainToASCII(name)) : undefined;
}

function nameOfAscii(name: string): string | undefined {
  return NAME.test(name) ? name : undefined;
}

function parseEntry(text: string, withNamesBelow: boolean, isPermitted: boolean): readonly ListEntry[] {
  const name = parseListName(text);
  // Hosts files name this machine and its networks, too.
  if (name === undefined || ADDRESS.test(name) || name === 'localhost.localdomain') return [];
  return [{ name, withNamesBelow, isPermitted }];
}

function splitWords(line: string): readonly string[] {
  const text = line.trim();
  return text === '' ? [] : text.split(/\s+/);
}

/**
 * Rules of `rewrite` for EDNS options.
 */
import type { DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseUnsigned } from '@portolan/corefile/directive/go-values.ts';
import type { RewriteEdns, RewriteEdnsAction, RewriteEdnsValue } from './options.ts';

const ACTIONS: readonly RewriteEdnsAction[] = ['set', 'append', 'replace', 'unset'];
const VARIABLES = [
  'qname',
  'qtype',
  'client_ip',
  'client_port',
  'protocol',
  'server_ip',
  'server_port',
] as const;
const REMEDY =
  'Write: edns0 local set|append|replace CODE VALUE [revert], edns0 nsid set, edns0 subnet set IPV4BITS IPV6BITS, or unset in their place.';

/** @throws DirectiveError */
export function readEdnsRule(words: readonly string[], cursor: DirectiveCursor): RewriteEdns {
  const fault = (message: string): DirectiveError => cursor.bareError(message, REMEDY);
  const [optionText = '', actionText] = words;
  if (actionText === undefined) throw fault('too few arguments for an EDNS0 rule');
  const action = ACTIONS.find((known) => known === actionText.toLowerCase());
  if (action === undefined) throw fault(`invalid action: ${JSON.stringify(actionText.toLowerCase())}`);
  const option = optionText.toLowerCase();
  const reverts = action !== 'unset' && words.at(-1) === 'revert';
  const rest = words.slice(2, reverts ? -1 : undefined);
  if (option !== 'local' && option !== 'nsid' && option !== 'subnet')
    throw fault(`invalid rule type ${JSON.stringify(option)}`);
  requireCount(option, action, rest.length, fault);
  const rule = { field: 'edns0', action } as const;
  if (option === 'nsid') return { ...rule, option, reverts };
  const [first = '', second = ''] = rest;
  if (option === 'local')
    return {
      ...rule,
      option,
      code: cursor.bare(parseUnsigned(first, 0, 16), 'Give the code of the option, as in 0xffee.'),
      value: readValue(second, cursor),
      reverts,
    };
  const [ipv4Prefix, ipv6Prefix] =
    action === 'unset'
      ? [0, 0]
      : [readBits(first, 'IPv4', 32, cursor), readBits(second, 'IPv6', 128, cursor)];
  return { ...rule, option, ipv4Prefix, ipv6Prefix, reverts };
}

function requireCount(
  option: 'local' | 'nsid' | 'subnet',
  action: RewriteEdnsAction,
  count: number,
  fault: (message: string) => DirectiveError,
): void {
  if (action === 'unset') {
    const want = option === 'local' ? 1 : 0;
    const shown = option === 'local' ? 'exactly two arguments' : 'exactly one argument';
    if (count !== want) throw fault(`${option} unset action requires ${shown}`);
  } else if (option === 'nsid') {
    if (count !== 0) throw fault('EDNS0 NSID rules can accept no more than one arg');
  } else if (count !== 2) throw fault(`EDNS0 ${option} rules require three or four args`);
}

/** A label of metadata: at least one character before and behind its first slash. */
const LABEL = /^\{([^/]+\/.+)\}$/s;

function readValue(text: string, cursor: DirectiveCursor): RewriteEdnsValue {
  if (text.startsWith('{') && text.endsWith('}')) {
    const name = VARIABLES.find((known) => `{${known}}` === text);
    if (name !== undefined) return { kind: 'variable', name };
    const [, label] = LABEL.exec(text) ?? [];
    if (label !== undefined) return { kind: 'metadata', label };
    throw cursor.bareError(
      `unsupported variable name ${JSON.stringify(text)}`,
      `Known are ${VARIABLES.map((known) => `{${known}}`).join(', ')}, and labels of metadata as in {view/name}.`,
    );
  }
  return {
    kind: 'octets',
    octets: text.startsWith('0x') ? readHexadecimal(text.slice(2), cursor) : Buffer.from(text),
  };
}

function readHexadecimal(digits: string, cursor: DirectiveCursor): Uint8Array {
  const wrong = /[^0-9a-fA-F]/u.exec(digits)?.[0];
  const remedy = 'Give pairs of hexadecimal digits behind 0x.';
  if (wrong !== undefined) {
    const code = (wrong.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    throw cursor.bareError(`encoding/hex: invalid byte: U+${code} '${wrong}'`, remedy);
  }
  if (digits.length % 2 === 1) throw cursor.bareError('encoding/hex: odd length hex string', remedy);
  return Buffer.from(digits, 'hex');
}

function readBits(text: string, family: 'IPv4' | 'IPv6', max: number, cursor: DirectiveCursor): number {
  const remedy = `Give a number of bits from 0 to ${max}.`;
  const bits = cursor.bare(parseUnsigned(text, 0, 16), remedy);
  if (bits > max) throw cursor.bareError(`invalid ${family} bit mask length ${bits}`, remedy);
  return bits;
}

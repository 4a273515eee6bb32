/**
 * Names of types, classes and response codes in CoreDNS's form: upper case, no numbers.
 */
import { parseClass, parseRcode, parseType } from '@portolan/dns/mnemonics.ts';
import { RCODE } from '@portolan/dns/types.ts';

const CAPITALS = /^[A-Z][A-Z0-9-]*$/;
const NUMBERED = /^(?:TYPE|CLASS|RCODE)\d+$/;

function isName(text: string): boolean {
  return CAPITALS.test(text) && !NUMBERED.test(text);
}

export function parseExactType(text: string): number | undefined {
  return isName(text) ? parseType(text) : undefined;
}

export function parseExactClass(text: string): number | undefined {
  return isName(text) ? parseClass(text) : undefined;
}

/** Code 16 has two names; CoreDNS uses that of TSIG. */
export function parseExactRcode(text: string): number | undefined {
  if (text === 'BADSIG') return RCODE.BADVERS;
  return isName(text) && text !== 'BADVERS' ? parseRcode(text) : undefined;
}

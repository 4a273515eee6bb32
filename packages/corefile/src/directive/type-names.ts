/**
 * Names of types, classes and response codes in CoreDNS's form: upper case, no numbers.
 */
import { classOf, rcodeOf, typeOf } from '@portolan/dns/mnemonics.ts';
import { RCODE } from '@portolan/dns/types.ts';

const CAPITALS = /^[A-Z][A-Z0-9-]*$/;
const NUMBERED = /^(?:TYPE|CLASS|RCODE)\d+$/;

function isName(text: string): boolean {
  return CAPITALS.test(text) && !NUMBERED.test(text);
}

export function exactTypeOf(text: string): number | undefined {
  return isName(text) ? typeOf(text) : undefined;
}

export function exactClassOf(text: string): number | undefined {
  return isName(text) ? classOf(text) : undefined;
}

/** Code 16 has two names; CoreDNS uses that of TSIG. */
export function exactRcodeOf(text: string): number | undefined {
  if (text === 'BADSIG') return RCODE.BADVERS;
  return isName(text) && text !== 'BADVERS' ? rcodeOf(text) : undefined;
}

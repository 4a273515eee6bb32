/**
 * Names as Go's DNS library writes them, for lines that are compared with those of CoreDNS.
 */
import type { AbsoluteName } from './types.ts';

/** Characters escaped with a backslash rather than as a number. */
const QUOTED = ` '@;()"\\.`;

/** A space is `\\ `, not `\\032`. */
export function presentNameAsGo(name: AbsoluteName): string {
  // An escaped backslash may be before digits.
  return name.replace(/\\(?:(\d{3})|\D)/g, (whole, digits: string | undefined) => {
    if (digits === undefined) return whole;
    const character = String.fromCharCode(Number(digits));
    return QUOTED.includes(character) ? `\\${character}` : whole;
  });
}

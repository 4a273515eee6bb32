/**
 * Reads the file that a command checks or changes.
 */
import { readFileSync } from 'node:fs';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { ExitError } from '../grammar/exit.ts';

export const STANDARD_INPUT = '-';

/** @param file `-` is standard input @throws ExitError with 1, in the words of CoreDNS */
export function readCorefileText(file: string): string {
  try {
    return readFileSync(file === STANDARD_INPUT ? 0 : file, 'utf8');
  } catch (error) {
    const reason = describeSystemError(error);
    process.stderr.write(
      `loading Caddyfile via flag: open ${file}: ${reason}\n  Name a Corefile that can be read.\n`,
    );
    throw new ExitError(1);
  }
}

/**
 * The recorded rules of the original node-cache.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param title of a part of the recordings @returns rules as `Node.iptables` says them */
export function recordedRules(title: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, 'recordings/rules.txt'), 'utf8');
  const [, section = ''] = text.split(`\n${title}\n`);
  const [, ...lines] = (section.split(/\n(?:after SIGTERM|\n====)/)[0] ?? '').split('\n');
  return lines.flatMap((line) => /^ip6?tables (.*)$/.exec(line)?.[1] ?? []);
}

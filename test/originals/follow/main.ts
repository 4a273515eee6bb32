/**
 * `npm run originals`: what the originals have by now that our tables do not, one line for each.
 */
import { parseArgs } from 'node:util';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { Checkout } from './checkout.ts';
import { compareManifests, FOLLOWED } from './compare-manifests.ts';
import { compareAutoscaler, compareCoreDns, compareKubeDns, compareNodeCache } from './compare-sources.ts';
import { type Difference, toDifferenceKey } from './difference.ts';
import { KNOWN_DIFFERENCES } from './known-differences.ts';
import { type OurTables, readOurTables } from './ours.ts';

type Compare = (checkout: Checkout, ours: OurTables) => readonly Difference[];

/** By the flag that names the checkout. */
const COMPARISONS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['coredns', compareCoreDns],
  ['kube-dns', compareKubeDns],
  ['node-cache', compareNodeCache],
  ['autoscaler', compareAutoscaler],
  ...[...FOLLOWED.keys()].map(
    (flag) => [flag, (checkout: Checkout) => compareManifests(flag, checkout)] as const,
  ),
]);

const USAGE = `Usage: npm run originals -- ${[...COMPARISONS.keys()].map((flag) => `[--${flag} DIR]`).join(' ')} [--all]

DIR is a checkout of the original. --all prints the known differences too, with their reasons.
Exit code 0: nothing new. 1: a new difference. 2: wrong flags or folders.`;

/** @returns the exit code */
export function main(words: readonly string[], root: string, print: (line: string) => void): number {
  try {
    const { checkouts, all } = readWords(words);
    if (checkouts.length === 0) throw new Error('no checkout is named');
    const ours = readOurTables(root);
    const found = checkouts.flatMap(
      ([flag, folder]) => COMPARISONS.get(flag)?.(new Checkout(folder), ours) ?? [],
    );
    return report(new Map(found.map((difference) => [toDifferenceKey(difference), difference])), all, print);
  } catch (error) {
    print(`originals: ${describeError(error)}\n${USAGE}`);
    return 2;
  }
}

function readWords(words: readonly string[]) {
  const folders = Object.fromEntries(
    [...COMPARISONS.keys()].map((flag) => [flag, { type: 'string' as const }]),
  );
  const { values } = parseArgs({ args: [...words], options: { ...folders, all: { type: 'boolean' } } });
  const checkouts = Object.entries(values).flatMap(([flag, value]) =>
    typeof value === 'string' ? [[flag, value] as const] : [],
  );
  return { checkouts, all: values.all === true };
}

function report(found: ReadonlyMap<string, Difference>, all: boolean, print: (line: string) => void): number {
  const known = [...found].filter(([key]) => KNOWN_DIFFERENCES.has(key));
  const unknown = [...found].filter(([key]) => !KNOWN_DIFFERENCES.has(key));
  for (const [, { original, text }] of unknown) print(`${original}: ${text}`);
  if (all)
    for (const [key, { original, text }] of known)
      print(`${original}: ${text} (known: ${KNOWN_DIFFERENCES.get(key)})`);
  print(`${unknown.length} new, ${known.length} known`);
  return unknown.length === 0 ? 0 : 1;
}

/**
 * `loadbalance`: the order of addresses in an answer.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveContext } from '@portolan/corefile/directive/directive.ts';
import { type DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseCidr, parseGoDuration } from '@portolan/corefile/directive/go-values.ts';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';
import { FollowedWeights, OPEN_FAULT } from './followed-weights.ts';
import { createLoadbalanceHandler } from './loadbalance.ts';
import type { LoadbalanceOptions, WeightsFile } from './options.ts';
import { Weights, WeightsError } from './weights.ts';

/**
 * `loadbalance [round_robin | weighted FILE { reload DURATION }] { prefer CIDR… }`. Source: plugin/loadbalance of CoreDNS 1.14.7.
 */
export const loadbalance = definePlugin({
  name: 'loadbalance',
  syntax: ['loadbalance [round_robin | weighted FILE] {', '    reload DURATION', '    prefer CIDR…', '}'],
  read(cursor, context): LoadbalanceOptions {
    let weighted: WeightsFile | undefined;
    const preferred: AddressRange[] = [];
    cursor.eachUse(() => {
      const words = cursor.remainingArguments();
      const [policy = 'round_robin'] = words;
      weighted = undefined;
      if (policy === 'weighted') {
        weighted = readWeighted(cursor, words, context, preferred);
        return;
      }
      if (policy !== 'round_robin')
        throw cursor.bareError(
          `unknown policy: ${policy}`,
          'The policy is round_robin, which needs not be written, or weighted FILE.',
        );
      if (words.length > 1)
        throw cursor.error(`unknown property for ${policy}`, 'Take what stands behind round_robin out.');
      cursor.properties({ prefer: () => void preferred.push(...readPrefer(cursor)) });
    });
    return { weighted, preferred };
  },
  create({ weighted, preferred }, context) {
    if (weighted === undefined) return { handler: createLoadbalanceHandler({ preferred }) };
    const followed = new FollowedWeights(weighted, context);
    return {
      handler: createLoadbalanceHandler({ preferred }, { weights: () => followed.weights }),
      start: () => followed.start(),
      stop: () => followed.stop(),
    };
  },
});

const DEFAULT_RELOAD = 30_000;

function readWeighted(
  cursor: DirectiveCursor,
  words: readonly string[],
  context: DirectiveContext,
  preferred: AddressRange[],
): WeightsFile {
  const remedy = 'Write weighted FILE.';
  const place = cursor.bareError(
    '',
    'Write a line with a name, then lines with an address and its weight, 1 to 255.',
  );
  if (words.length < 2) throw cursor.error('missing weight file argument', remedy);
  if (words.length > 2) throw cursor.error('unexpected argument(s)', remedy);
  const path = context.resolve(words[1] ?? '');
  let reload = DEFAULT_RELOAD;
  cursor.properties({
    reload: () => {
      reload = readReload(cursor);
    },
    prefer: () => void preferred.push(...readPrefer(cursor)),
  });
  const fault = findFault(path, context);
  if (fault === OPEN_FAULT && reload !== 0)
    cursor.warn(
      'Addresses have equal weights until the file is there.',
      `Failed to open weight file:${fault}. Will try again in ${formatGoDuration(reload)}`,
    );
  else if (fault !== undefined) throw new DirectiveError(fault, place.position, place.remedy);
  return { path, reload };
}

/** @returns undefined for a file without faults */
function findFault(path: string, { files }: DirectiveContext): string | undefined {
  if (files.findKind(path) !== 'file') return OPEN_FAULT;
  let text = '';
  try {
    text = files.read(path);
  } catch {
    return OPEN_FAULT;
  }
  try {
    Weights.parse(text, path);
  } catch (error) {
    if (error instanceof WeightsError) return error.message;
    throw error;
  }
  return undefined;
}

/** @returns milliseconds */
function readReload(cursor: DirectiveCursor): number {
  const words = cursor.remainingArguments();
  const [text] = words;
  const remedy = 'Give one duration such as 30s.';
  if (text === undefined) throw cursor.error('reload duration value is missing', remedy);
  if (words.length > 1) throw cursor.error('unexpected argument', remedy);
  const duration = parseGoDuration(text);
  if (duration.kind === 'bad') throw cursor.error(`invalid reload duration '${text}'`, remedy);
  if (duration.value < 0) throw cursor.error(`invalid reload duration '${text}'`, remedy);
  return duration.value;
}

function readPrefer(cursor: DirectiveCursor): readonly AddressRange[] {
  return cursor.remainingArguments().map((word) => {
    const range = parseCidr(word);
    if (range.kind === 'bad')
      throw cursor.error(
        `invalid CIDR ${JSON.stringify(word)}: ${range.fault}`,
        'Write ranges as in 10.0.0.0/8.',
      );
    return range.value;
  });
}

/**
 * Functions of strings: those of Go's package strings.
 */
import { isSpace, readRunes, toOctets } from '../text/octets.ts';
import { BOOL, functionType, INT, LIST, STRING, STRINGS } from '../types/go-type.ts';
import { type Budget, EvaluationError } from '../values/budget.ts';
import { isSlice } from '../values/describe-value.ts';
import { needInteger } from '../values/numbers.ts';
import { type EvaluationContext, type ExpressionValue, GoSlice } from '../values/value.ts';
import { type BuiltIn, type BuiltIns, needText } from './built-in.ts';

const OF_TEXT = functionType([STRING], STRING);
const OF_TEXTS = functionType([STRING, STRING], STRING);

export const TEXT_FUNCTIONS: BuiltIns = new Map(
  Object.entries<BuiltIn>({
    trim: {
      signatures: [OF_TEXT, OF_TEXTS],
      call: ([text, characters], { budget }) => {
        budget.takeSteps(
          needText(text).length + (characters === undefined ? 0 : needText(characters).length),
        );
        if (characters === undefined) return trimRunes(needText(text), (rune) => isSpace(rune));
        const set = new Set(
          Array.from(readRunes(needText(characters)), ({ point }) => String.fromCodePoint(point)),
        );
        return trimRunes(needText(text), (rune) => set.has(rune));
      },
    },
    trimPrefix: trimmer((text, part) => (text.startsWith(part) ? text.slice(part.length) : text)),
    trimSuffix: trimmer((text, part) =>
      text.endsWith(part) ? text.slice(0, text.length - part.length) : text,
    ),
    upper: {
      signatures: [OF_TEXT],
      call: ([text], { budget }) => mapRunes(needText(text), (rune) => rune.toUpperCase(), budget),
    },
    lower: {
      signatures: [OF_TEXT],
      call: ([text], { budget }) => mapRunes(needText(text), lowerRune, budget),
    },
    split: splitter(0),
    splitAfter: splitter(1),
    replace: {
      signatures: [
        functionType([STRING, STRING, STRING, INT], STRING),
        functionType([STRING, STRING, STRING], STRING),
      ],
      call: replace,
    },
    repeat: { signatures: [functionType([STRING, INT], STRING)], call: repeat },
    join: {
      signatures: [
        functionType([STRINGS, STRING], STRING),
        functionType([LIST, STRING], STRING),
        functionType([LIST], STRING),
        functionType([STRINGS, STRING], STRING),
        functionType([STRINGS], STRING),
      ],
      call: join,
    },
    indexOf: ofTexts((text, part) => BigInt(text.indexOf(part))),
    lastIndexOf: ofTexts((text, part) => BigInt(text.lastIndexOf(part))),
    hasPrefix: {
      ...ofTexts((text, part) => text.startsWith(part)),
      signatures: [functionType([STRING, STRING], BOOL)],
    },
    hasSuffix: {
      ...ofTexts((text, part) => text.endsWith(part)),
      signatures: [functionType([STRING, STRING], BOOL)],
    },
  }),
);

function ofTexts(call: (text: string, part: string) => ExpressionValue): BuiltIn {
  return {
    signatures: [functionType([STRING, STRING], INT)],
    call: ([text, part], { budget }) => {
      budget.takeScan(needText(text).length);
      return call(needText(text), needText(part));
    },
  };
}

function trimmer(trim: (text: string, part: string) => string): BuiltIn {
  return {
    signatures: [OF_TEXTS, OF_TEXT],
    call: ([text, part = ' '], { budget }) => {
      budget.takeScan(needText(part).length);
      return trim(needText(text), needText(part));
    },
  };
}

function trimRunes(text: string, isTrimmed: (rune: string) => boolean): string {
  const runes = [...readRunes(text)];
  const stays = runes.map(({ point }) => !isTrimmed(String.fromCodePoint(point)));
  const from = stays.indexOf(true);
  if (from < 0) return '';
  return runes
    .slice(from, stays.lastIndexOf(true) + 1)
    .map(({ octets }) => octets)
    .join('');
}

/** To JavaScript, the small letter of the dotted I is two. */
function lowerRune(rune: string): string {
  return rune === '\u0130' ? 'i' : rune.toLowerCase();
}

/** One rune becomes one rune. */
function mapRunes(text: string, map: (rune: string) => string, budget: Budget): string {
  budget.takeSteps(text.length);
  return toOctets(
    Array.from(readRunes(text), ({ point }) => {
      const rune = String.fromCodePoint(point);
      const mapped = map(rune);
      return [...mapped].length === 1 ? mapped : rune;
    }).join(''),
  );
}

/** @param kept octets of the separator stay: 0 or all of them */
function splitter(kept: 0 | 1): BuiltIn {
  return {
    signatures: [functionType([STRING, STRING], STRINGS), functionType([STRING, STRING, INT], STRINGS)],
    call: ([text, separator, count], { budget }) => {
      const max = count === undefined ? -1 : Number(needInteger(count));
      budget.takeScan(needText(text).length);
      if (max === 0) return new GoSlice([], '[]string', true);
      const parts = split(needText(text), needText(separator), max, kept === 1);
      budget.takeSteps(parts.length);
      return new GoSlice(parts, '[]string');
    },
  };
}

/** @param max of parts; below 0: any number */
function split(text: string, separator: string, max: number, keepsSeparator: boolean): string[] {
  if (separator === '') return limitParts(splitRunes(text), max);
  const parts: string[] = [];
  let from = 0;
  while (max < 0 || parts.length < max - 1) {
    const at = text.indexOf(separator, from);
    if (at < 0) break;
    parts.push(text.slice(from, keepsSeparator ? at + separator.length : at));
    from = at + separator.length;
  }
  return [...parts, text.slice(from)];
}

function splitRunes(text: string): string[] {
  return Array.from(readRunes(text), ({ octets }) => octets);
}

/** The last one is all that is left. @param max of them; below 0: any number */
function limitParts(parts: string[], max: number): string[] {
  if (max < 0 || parts.length <= max) return parts;
  return [...parts.slice(0, max - 1), parts.slice(max - 1).join('')];
}

function replace(args: readonly ExpressionValue[], { budget }: EvaluationContext): string {
  const [text = '', old = '', replacement = ''] = args.slice(0, 3).map(needText);
  const max = args[3] === undefined ? -1 : Number(needInteger(args[3]));
  budget.takeScan(text.length);
  if (max === 0 || old === replacement) return text;
  const maxParts = max < 0 ? -1 : max + 1;
  // Nothing is before each rune, and at the end.
  const parts =
    old === '' ? limitParts(['', ...splitRunes(text), ''], maxParts) : split(text, old, maxParts, false);
  budget.takeSteps(parts.length);
  budget.takeOctets(text.length + parts.length * replacement.length);
  return parts.join(replacement);
}

const MAX_REPETITIONS = 1_000_000n;

function repeat([text, times = null]: readonly ExpressionValue[], { budget }: EvaluationContext): string {
  const part = needText(text);
  const count = needInteger(times);
  if (count < 0n)
    throw new EvaluationError(`invalid argument for repeat (expected positive integer, got ${count})`);
  if (count > MAX_REPETITIONS) throw new EvaluationError('memory budget exceeded');
  budget.takeElements(part.length * Number(count));
  return part.repeat(Number(count));
}

function join([list = null, glue = '']: readonly ExpressionValue[], { budget }: EvaluationContext): string {
  const between = needText(glue);
  if (
    !isSlice(list) ||
    list.type.startsWith('[2]') ||
    list.type === '[][2]interface {}' ||
    list.type === '[]int'
  )
    throw new EvaluationError('invalid argument for join');
  const texts = list.items.map((item) => needText(item));
  budget.takeSteps(texts.length);
  budget.takeOctets(texts.reduce((sum, text) => sum + text.length + between.length, 0));
  return texts.join(between);
}

/**
 * `$GENERATE START-STOP[/STEP] LEFT [TTL] [CLASS] TYPE RIGHT`: one record for each number, as in BIND.
 *
 * `$` is the number, `${OFFSET,WIDTH,BASE}` the number in another form, `$$` and `\$` a dollar sign.
 */
import { ZoneFileFault, type ZoneWord } from './entries.ts';

export interface GenerateRange {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
}

/** Records that one directive may make. */
const MAX_RECORDS = 65_536;
const MAX_NUMBER = 2 ** 31 - 1;

/** @throws ZoneFileFault */
export function readRange(word: ZoneWord): GenerateRange {
  const [, first = '', last = '', each = '1'] =
    /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(word.text) ?? [];
  const start = Number(first);
  const stop = Number(last);
  const step = Number(each);
  const isRange = first !== '' && start <= stop && stop <= MAX_NUMBER && step > 0;
  if (!isRange) throw new ZoneFileFault('not a range such as 1-10 or 0-255/2', word);
  if ((stop - start) / step >= MAX_RECORDS)
    throw new ZoneFileFault(`a range of more than ${MAX_RECORDS} numbers`, word);
  return { start, stop, step };
}

export function listNumbers({ start, stop, step }: GenerateRange): readonly number[] {
  return Array.from({ length: Math.floor((stop - start) / step) + 1 }, (_, index) => start + index * step);
}

/** The word with the number instead of its dollar signs. @throws ZoneFileFault for an invalid form */
export function fillInNumber(word: ZoneWord, number: number): ZoneWord {
  if (!word.text.includes('$')) return word;
  const text = word.text.replace(/\$\$|\\\$|\$(?:\{([^}]*\}?))?/g, (match, form: string | undefined) =>
    match === '$$' || match === '\\$' ? '$' : formatNumber(number, form, word),
  );
  return { ...word, text };
}

const MAX_WIDTH = 255;

/** @param form what follows `${`, with its brace */
function formatNumber(number: number, form: string | undefined, word: ZoneWord): string {
  const [, offset = '0', width = '0', base = 'd'] =
    /^([+-]?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?\}$/.exec(form ?? '0}') ?? [];
  const value = number + Number(offset);
  const isForm = form === undefined || /^[+-]?\d{1,10}(?:,\d{1,3}(?:,[doxXnN])?)?\}$/.test(form);
  if (!isForm || value < 0 || value > MAX_NUMBER || Number(width) > MAX_WIDTH)
    throw new ZoneFileFault(`not a form of a number such as \${0,3,d}`, word);
  if (base === 'n' || base === 'N') return nibbles(value, Number(width), base === 'N');
  const digits = value.toString(base === 'd' ? 10 : base === 'o' ? 8 : 16);
  return (base === 'X' ? digits.toUpperCase() : digits).padStart(Number(width), '0');
}

/** Hexadecimal digits from the last to the first with dots between them, as names below ip6.arpa have them. */
function nibbles(value: number, width: number, isUpperCase: boolean): string {
  const digits = value.toString(16).padStart(Math.ceil(width / 2), '0');
  const reversed = [...digits].reverse().join('.');
  return isUpperCase ? reversed.toUpperCase() : reversed;
}

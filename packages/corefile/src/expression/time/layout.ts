/**
 * Layouts of Go's time package: the parts of `Mon Jan 2 15:04:05 MST 2006` stand for those of a time.
 */
export type LayoutPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'field'; readonly field: LayoutField }
  /** `.000` has all digits, and `.999` no zeros at its end. */
  | {
      readonly kind: 'fraction';
      readonly digits: number;
      readonly isExact: boolean;
      readonly separator: string;
    };

export type LayoutField = (typeof FIELDS)[number];

/** Longer ones first. */
const FIELDS = [
  'January',
  'Jan',
  'Monday',
  'Mon',
  'MST',
  '002',
  '01',
  '02',
  '03',
  '04',
  '05',
  '06',
  '15',
  '1',
  '2006',
  '2',
  '__2',
  '_2',
  '3',
  '4',
  '5',
  'PM',
  'pm',
  '-070000',
  '-07:00:00',
  '-0700',
  '-07:00',
  '-07',
  'Z070000',
  'Z07:00:00',
  'Z0700',
  'Z07:00',
  'Z07',
] as const;

const FIELD = new RegExp(
  `^(?:${FIELDS.map((field) => {
    // More letters behind it make another word: `Month`.
    if (field === 'Jan' || field === 'Mon') return `${field}(?![a-z])`;
    // `_2006` is a line and a year.
    return field === '_2' ? '_2(?!006)' : field;
  }).join('|')})`,
);
const FRACTION = /^([.,])(0+|9+)(?!\d)/;

export function parseLayout(layout: string): readonly LayoutPart[] {
  const parts: LayoutPart[] = [];
  let literal = '';
  for (let at = 0; at < layout.length; ) {
    const { part, length } = readPart(layout.slice(at));
    if (part === undefined) literal += layout.slice(at, at + length);
    else {
      if (literal !== '') parts.push({ kind: 'literal', text: literal });
      literal = '';
      parts.push(part);
    }
    at += length;
  }
  return literal === '' ? parts : [...parts, { kind: 'literal', text: literal }];
}

function readPart(rest: string): { readonly part?: LayoutPart; readonly length: number } {
  const [field] = FIELD.exec(rest) ?? [];
  if (field !== undefined) {
    const known = FIELDS.find((each) => each === field);
    if (known !== undefined) return { part: { kind: 'field', field: known }, length: field.length };
  }
  const [fraction, separator = '.', digits = ''] = FRACTION.exec(rest) ?? [];
  if (fraction === undefined) return { length: 1 };
  const isExact = digits.startsWith('0');
  return { part: { kind: 'fraction', digits: digits.length, isExact, separator }, length: fraction.length };
}

export const MONTHS =
  'January February March April May June July August September October November December'.split(' ');
export const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

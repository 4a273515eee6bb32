import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { readExpression } from './expression.ts';
import { ExpressionError } from './syntax/expression-error.ts';
import { randomExpression } from './testing/random-expressions.ts';
import { SAMPLE_TYPES, SAMPLE_VALUES } from './testing/sample-environment.ts';
import { showValue } from './testing/show-value.ts';
import { declaredType, type GoType, POINTER_TO_ANY } from './types/go-type.ts';
import { EvaluationError } from './values/budget.ts';
import { describeType } from './values/describe-value.ts';
import type { ExpressionValue } from './values/value.ts';

const now = () => Date.UTC(2026, 10, 29, 12);
const evaluate = (text: string): ExpressionValue =>
  readExpression(text, SAMPLE_TYPES).evaluate(SAMPLE_VALUES, now);
const show = (text: string): string => showValue(evaluate(text));

describe('an expression', () => {
  it.each([
    ["client_ip() in ['10.1.2.3'] && type() == 'A'", 'bool true'],
    ["name() not endsWith '.test.' and not (do() && size() > 512)", 'bool true'],
    ["split(name(), '.') | filter(# != '') | map(upper(#)) | join('-')", 'string "A-B-EXAMPLE"'],
    ["let labels = split(name(), '.'); labels[0] + labels[-2]", 'string "aexample"'],
    ["any(['10.0.0.0/8', '192.168.0.0/16'], incidr(client_ip(), #))", 'bool true'],
    ["fromJSON(metadata('a/j')).k[1] ?? 0", 'float64 2.5'],
    ['if size() > 100 { 1 } else if size() > 20 { 2 } else { 3 }', 'int 2'],
    ['0x7fff_ffff_ffff_ffff + 1', 'int -9223372036854775808'],
    ['7 / 2', 'float64 3.5'],
    ['-7 % 3', 'int -1'],
    ['2 ** 3 ** 2', 'float64 512'],
    ['1 < size() <= 40', 'bool true'],
    ['reduce(1..5, #acc * #)', 'int 120'],
    ['groupBy(1..4, # % 2)[1]', '[]interface {} [int 1, int 3]'],
    ['{"a": {"b": 1}}?.a?.c?.d', 'nil'],
    ['"\\u00e4"[0:1]', 'string "\\xc3"'],
    ['len("\\u00e4\\u20ac")', 'int 2'],
    ['now().Year()', 'int 2026'],
    ['now().Weekday().String()', 'string "Sunday"'],
    ['(date("2026-03-01") - date("2026-02-01")).Hours()', 'float64 672'],
    ['date("2026-07-01 12:00:00", "2006-01-02 15:04:05", "Europe/Zurich").Unix()', 'int64 1782900000'],
  ])('%s', (text, value) => {
    expect(show(text)).toBe(value);
  });

  it.each([
    ['', 'unexpected token EOF'],
    ['size() ==', 'unexpected token EOF (1:9)\n | size() ==\n | ........^'],
    ['size()\n== nosuch', 'unknown name nosuch (2:4)\n | == nosuch\n | ...^'],
    ["size() == 'a'", 'invalid operation: == (mismatched types int and string) (1:8)'],
    ['metadata(1)', 'cannot use int as argument (type string) to call metadata  (1:10)'],
    ["name() matches '('", 'error parsing regexp: missing closing ): `(` (1:8)'],
    ['"a', 'literal not terminated (1:3)'],
    ['5 % 0', 'integer divide by zero (1:3)'],
    ['all([1], # + 1)', 'predicate should return boolean (got int) (1:10)'],
    ['name().foo', 'type string has no field foo (1:8)'],
  ])('%j is refused with its place', (text, message) => {
    expect(() => readExpression(text, SAMPLE_TYPES)).toThrow(ExpressionError);
    expect(() => readExpression(text, SAMPLE_TYPES)).toThrow(message);
  });

  it.each([
    ["int('x')"],
    ['[1][7]'],
    ["fromJSON('{')"],
    ["duration('1x')"],
    ['size() % (size() - 40)'],
    ['filter(1..3, # > 7)[0]'],
  ])('%s has no value', (text) => {
    expect(() => evaluate(text)).toThrow(EvaluationError);
  });

  it('knows what a variable may be of which nothing is known', () => {
    const types = new Map<string, GoType>([...SAMPLE_TYPES, ['v', POINTER_TO_ANY]]);
    expect(readExpression('v == 1 && v in [1]', types).type.name).toBe('bool');
    expect(() => readExpression('lower(v)', types)).toThrow(
      'cannot use *interface {} as argument (type string) to call lower ',
    );
  });
});

describe('an expression takes no more than its bounds', () => {
  it.each([
    ['a loop in a loop', 'all(1..900, all(1..900, all(1..900, true)))', 'steps'],
    ['a range', 'len(1..id() * 100000)', 'memory budget exceeded'],
    ['lists of lists', 'let a = 1..1000; let b = map(a, a); len(flatten(map(a, b)))', 'steps'],
    ['a text', 'repeat(name(), 1000000)', 'memory budget exceeded'],
    ['a text that grows', `let t = repeat(name(), 10000); reduce(1..100, #acc + t, "")`, 'octets'],
    ['texts that are searched', 'let t = repeat("a", 90000); all(1..90000, not (t contains "b"))', 'steps'],
    ['texts that are compared', 'let t = repeat("a", 90000); len(uniq(map(1..9000, t[#:])))', 'steps'],
    ['a pattern that is computed', 'name() matches repeat("(a|b)*", 1000)', 'longer than'],
    ['a text as JSON', 'let t = "[" + repeat("[],", 300000) + "1]"; [fromJSON(t), fromJSON(t)]', 'steps'],
  ])('%s', (_name, text, message) => {
    expect(() => evaluate(text)).toThrow(EvaluationError);
    expect(() => evaluate(text)).toThrow(message);
  });

  it.each([
    ['brackets', `${'('.repeat(5000)}1${')'.repeat(5000)}`, 'the expression is too deep'],
    ['a long chain', `1${' + 1'.repeat(4000)}`, 'the expression is too deep'],
    ['many nodes', `[${'1,'.repeat(10_001)}]`, 'expression exceeds maximum allowed nodes'],
    [
      'parts that stand for two',
      Array.from({ length: 60 }).reduce<string>((text) => `(${text} ?: true)`, 'do()'),
      'the expression is too large',
    ],
    [
      'conditions in conditions',
      `${'if true { '.repeat(1000)}1${' } else { 2 }'.repeat(1000)}`,
      'the expression is too deep',
    ],
    ['negations', `${'!'.repeat(5000)}true`, 'the expression is too deep'],
  ])('where it is written: %s', (_name, text, message) => {
    expect(() => readExpression(text, SAMPLE_TYPES)).toThrow(message);
  });
});

describe('each part is checked once, however many signatures it may be an argument of', () => {
  /** Types that count how often one of them is looked up. */
  class CountedTypes extends Map<string, GoType> {
    lookups = 0;

    override get(name: string): GoType | undefined {
      this.lookups++;
      // Unless parts are checked once, the count has as many digits as the expression has calls.
      if (this.lookups > 1000) throw new Error('more than 1000 lookups');
      return super.get(name);
    }
  }

  it.each([
    ['pipes', `name()${" | replace('a', 'b')".repeat(60)}`, 'string "b.b.exbmple."'],
    ['calls in calls', `${'trimPrefix('.repeat(60)}name()${')'.repeat(60)}`, 'string "a.b.example."'],
    ['lists and texts', `name()${" | split('.') | sort() | join()".repeat(20)}`, 'string "abexample"'],
  ])('%s', (_name, text, value) => {
    const types = new CountedTypes(SAMPLE_TYPES);
    const { evaluate: compute } = readExpression(text, types);
    expect(types.lookups).toBe(1);
    expect(showValue(compute(SAMPLE_VALUES, now))).toBe(value);
  });
});

describe('formatters of ICU, which take long to make, are made', () => {
  /** The options of all that an evaluation makes. */
  function recordFormatters(text: string): readonly (Intl.DateTimeFormatOptions | undefined)[] {
    const made: (Intl.DateTimeFormatOptions | undefined)[] = [];
    const { DateTimeFormat } = Intl;
    const spy = vi.spyOn(Intl, 'DateTimeFormat').mockImplementation(function make(locales, options) {
      made.push(options);
      return new DateTimeFormat(locales, options);
    });
    try {
      evaluate(text);
    } finally {
      spy.mockRestore();
    }
    return made;
  }

  it.each(['now().Hour()', "date('2026-01-02').Year()", "now().In(timezone('Europe/Berlin')).Format('MST')"])(
    'once for all evaluations of %s',
    (text) => {
      evaluate(text);
      expect(recordFormatters(text)).toEqual([]);
    },
  );

  it('for the abbreviations of a zone when one is read', () => {
    const inLima = "now().In(timezone('America/Lima'))";
    const named = (text: string) => recordFormatters(text).filter((options) => options?.timeZoneName);
    expect(named(`${inLima}.Hour()`)).toEqual([]);
    expect(named(`${inLima}.Format('MST')`)).not.toEqual([]);
  });
});

/** Whether a value may be of a type that was inferred. */
function isOfType(value: ExpressionValue, type: GoType): boolean {
  const declared = declaredType(type);
  // An element or a search that is not there is nil, whatever its type.
  if (value === null || declared.kind === 'unknown' || declared.kind === 'nil') return true;
  const actual = describeType(value);
  if (declared.kind === 'slice' || declared.kind === 'map')
    return actual.startsWith(declared.kind === 'map' ? 'map[' : '[');
  // Numbers of functions that take several are of the type of one of them.
  if (declared.name === 'int' || declared.name === 'float64') return /^(?:u?int\d*|float64)$/.test(actual);
  // A float times a duration is a float, whatever expr-lang infers.
  if (declared.name === 'time.Duration' && actual === 'float64') return true;
  // Operators take a pointer for what it points to, as in expr-lang, and `??` gives it on.
  if (declared.name === 'time.Location' && actual === '*time.Location') return true;
  return declared.kind === 'func' || actual === declared.name;
}

it('has a value of the type that was inferred, or an error with a name, whatever it is', () => {
  let values = 0;
  fc.assert(
    fc.property(randomExpression, (text) => {
      try {
        const { type, evaluate: compute } = readExpression(text, SAMPLE_TYPES);
        const value = compute(SAMPLE_VALUES, now);
        values++;
        expect([describeType(value), isOfType(value, type)]).toEqual([describeType(value), true]);
      } catch (error) {
        if (!(error instanceof ExpressionError || error instanceof EvaluationError)) throw error;
      }
    }),
    { numRuns: 3000, examples: [['nil ?? timezone("UTC")']] },
  );
  expect(values).toBeGreaterThan(500);
});

it('is read or refused, whatever its characters are', () => {
  const words = fc.constantFrom(
    ...'let if else not in matches # . .. ?. ?? :: ( ) [ ] { } " \' ` \\ 0x 1e b" // /* | , ; : ? ! ä 😀 nil x'.split(
      ' ',
    ),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string({ maxLength: 3 })), { maxLength: 20 }), (parts) => {
      try {
        readExpression(parts.join(''), SAMPLE_TYPES);
        readExpression(parts.join(' '), SAMPLE_TYPES);
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
      }
    }),
    { numRuns: 3000 },
  );
});

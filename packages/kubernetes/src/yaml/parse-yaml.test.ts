import { describe, expect, it } from 'vitest';
import { MAX_YAML_LEVELS, parseYaml, parseYamlDocument } from './parse-yaml.ts';

const DEEP = 20_000;
const nestings: Readonly<Record<string, (levels: number) => string>> = {
  'flow sequences': (levels) => `${'['.repeat(levels)}1${']'.repeat(levels)}`,
  'flow sequences without an end': (levels) => '['.repeat(levels),
  'flow mappings': (levels) => `${'{a: '.repeat(levels)}1${'}'.repeat(levels)}`,
  'block sequences': (levels) => `${'- '.repeat(levels)}1`,
  'flow sequences that the end of a document cuts': (levels) => `${'[{a: '.repeat(levels)}1\n---\n`,
  'keys that are mappings': (levels) => `${'? '.repeat(levels)}1`,
};

describe('nesting', () => {
  for (const [name, nest] of Object.entries(nestings)) {
    it(`${name} that are too deep are an error`, () => {
      for (const levels of [MAX_YAML_LEVELS + 1, DEEP]) {
        const messages = parseYamlDocument(`\n${nest(levels)}`).errors.map(({ message }) => message);
        const expected = expect.stringMatching(/^more than 100 levels of nesting at line 2, column \d+$/);
        expect(messages).toContainEqual(expected);
      }
    });
  }

  it('of keys up to the bound is read at once', () => {
    const document = parseYamlDocument(`${'? '.repeat(MAX_YAML_LEVELS)}1`, { logLevel: 'error' });
    expect(document.errors).toEqual([]);
    expect(() => document.toJS() as unknown).not.toThrow();
  });

  it('leaves other documents of the text alone', () => {
    const documents = parseYaml(`a: 1\n---\n${'['.repeat(DEEP)}\n---\nb: 2\n`);
    expect(documents.map((document) => document.toJS() as unknown)).toEqual([{ a: 1 }, { b: 2 }]);
    expect(documents.flatMap(({ errors }) => errors)).toHaveLength(1);
  });
});

describe('a text', () => {
  it('without content is a document without content', () => {
    expect(parseYaml('').map(({ contents }) => contents)).toEqual([null]);
  });

  it('has the line and the column in its errors', () => {
    expect(parseYamlDocument('a: 1\nb: [1\n').errors[0]?.message).toMatch(/ at line 3, column 1$/);
  });

  it('that must be one document has an error if another follows', () => {
    const { errors } = parseYamlDocument('a: 1\n---\nb: 2\n');
    expect(errors.map(({ code, linePos }) => ({ code, line: linePos?.[0].line }))).toEqual([
      { code: 'MULTIPLE_DOCS', line: 2 },
    ]);
  });
});

/**
 * Parses YAML that people write, with a bound on its nesting.
 *
 * The `yaml` library composes documents by functions that call themselves for each level: deep nesting in a small file would overflow the
 * stack, or keep the processor for minutes where keys of mappings are mappings.
 */
import {
  Composer,
  type CST,
  type Document,
  type DocumentOptions,
  LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  YAMLParseError,
} from 'yaml';

/** Lists and mappings in one another. Objects of Kubernetes have about 20 levels. */
export const MAX_YAML_LEVELS = 100;

export type YamlOptions = ParseOptions & DocumentOptions & SchemaOptions;

/**
 * @returns at least one document; its `errors` end with the line and the column
 * @param lines that the caller wants to know of
 */
export function parseYaml(
  text: string,
  options: YamlOptions = {},
  lines: LineCounter = new LineCounter(),
): readonly Document.Parsed[] {
  const tokens = new Parser(lines.addNewLine).parse(text);
  const documents = [...new Composer(options).compose(refuseDeepTokens(tokens, lines), true, text.length)];
  for (const { errors } of documents) for (const error of errors) addPlace(error, lines);
  return documents;
}

/** @returns the document, with an error if others follow it */
export function parseYamlDocument(text: string, options: YamlOptions = {}): Document.Parsed {
  const lines = new LineCounter();
  const [document, next] = parseYaml(text, options, lines) as readonly [Document.Parsed, Document.Parsed?];
  if (next !== undefined) {
    const error = new YAMLParseError(
      [next.range[0], next.range[1]],
      'MULTIPLE_DOCS',
      'more than one document',
    );
    addPlace(error, lines);
    document.errors.push(error);
  }
  return document;
}

/** Puts an error in the place of a document that is nested too deeply. */
function* refuseDeepTokens(tokens: Iterable<CST.Token>, lines: LineCounter): Generator<CST.Token> {
  try {
    for (const token of tokens) {
      const offset = findTooDeep(token);
      yield offset === undefined ? token : tooDeep(offset);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The parser ends several levels by functions that call themselves, too: here its stack is full.
    yield tooDeep(lines.lineStarts.at(-1) ?? 0);
  }
}

const tooDeep = (offset: number): CST.Token => ({
  type: 'error',
  offset,
  source: '',
  message: `more than ${MAX_YAML_LEVELS} levels of nesting`,
});

/** @returns the offset of a list or mapping that is nested too deeply */
function findTooDeep(document: CST.Token): number | undefined {
  let level: readonly CST.Token[] = [document];
  for (let levels = 0; level.length > 0; levels += 1) {
    if (levels > MAX_YAML_LEVELS) return level[0]?.offset;
    level = level.flatMap(listInnerTokens).filter((token) => 'items' in token);
  }
  return undefined;
}

function listInnerTokens(token: CST.Token): readonly CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  const inner = 'items' in token ? token.items.flatMap(({ key, value }) => [key, value]) : [];
  return inner.filter((each) => each !== undefined && each !== null);
}

function addPlace(error: YAMLParseError, lines: LineCounter): void {
  const start = lines.linePos(error.pos[0]);
  error.linePos = [start];
  error.message += ` at line ${start.line}, column ${start.col}`;
}

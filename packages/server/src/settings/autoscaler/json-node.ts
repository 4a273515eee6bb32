/**
 * JSON with what `JSON.parse` drops and replicas depend on: the digits of numbers, so that 2.0 is no integer, and every field of
 * an object in its order, even if names repeat.
 */
import { describeError } from '@portolan/kernel/base/describe-error.ts';

export type JsonNode =
  | { readonly kind: 'object'; readonly fields: readonly (readonly [name: string, value: JsonNode])[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'null' };

/** The text is not JSON, or a value has a wrong type. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** Deeper than any real parameters, and far from a stack overflow. */
const MAX_DEPTH = 1000;

/** The strings and the numbers of valid JSON; group 1 is the colon behind the name of a field. */
const TOKENS = /"(?:[^"\\]+|\\.)*"(\s*:)?|-?\d[\d.eE+-]*/g;

/** @throws JsonError */
export function parseJson(text: string): JsonNode {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new JsonError(`not JSON: ${describeError(error)}`);
  }
  return toNode(JSON.parse(tagTokens(text)), 0);
}

/** Makes numbers strings that begin with `n`, begins other strings with `s`, and names with a number, so that no two are equal. */
function tagTokens(text: string): string {
  let fields = 0;
  return text.replaceAll(TOKENS, (token: string, colon: string | undefined) => {
    if (!token.startsWith('"')) return `"n${token}"`;
    if (colon === undefined) return `"s${token.slice(1)}`;
    fields += 1;
    return `"${fields}:${token.slice(1)}`;
  });
}

function toNode(value: unknown, depth: number): JsonNode {
  if (typeof value === 'string')
    return value.startsWith('n')
      ? { kind: 'number', text: value.slice(1) }
      : { kind: 'string', value: value.slice(1) };
  if (typeof value === 'boolean') return { kind: 'bool', value };
  if (typeof value !== 'object' || value === null) return { kind: 'null' };
  if (depth === MAX_DEPTH) throw new JsonError(`nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) return { kind: 'array', items: value.map((item) => toNode(item, depth + 1)) };
  const fields = Object.entries(value).map(
    ([name, field]) => [name.slice(name.indexOf(':') + 1), toNode(field, depth + 1)] as const,
  );
  return { kind: 'object', fields };
}

/**
 * Writes a node as the original writes it into a ConfigMap: without blanks, names sorted, the last of equal ones, numbers as
 * 64-bit floats, and `<`, `>` and `&` escaped.
 *
 * @throws JsonError for a number beyond the range of a 64-bit float
 */
export function writeJson(node: JsonNode): string {
  switch (node.kind) {
    case 'object': {
      const fields = [...new Map(node.fields)].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return `{${fields.map(([name, value]) => `${writeString(name)}:${writeJson(value)}`).join()}}`;
    }
    case 'array':
      return `[${node.items.map(writeJson).join()}]`;
    case 'string':
      return writeString(node.value);
    case 'number':
      return writeNumber(node.text);
    case 'bool':
      return String(node.value);
    case 'null':
      return 'null';
  }
}

function writeNumber(text: string): string {
  const value = Number(text);
  if (!Number.isFinite(value))
    throw new JsonError(`beyond the range of 64-bit floats: ${showJson({ kind: 'number', text })}`);
  return Object.is(value, -0) ? '-0' : String(value);
}

function writeString(value: string): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Longer values are cut in messages. */
const MAX_SHOWN_LENGTH = 60;

/** Shows a value in a message: a scalar as written, an object or a list by its kind. */
export function showJson(node: JsonNode): string {
  if (node.kind === 'object') return 'an object';
  if (node.kind === 'array') return 'a list';
  const shown = node.kind === 'number' ? node.text : writeJson(node);
  return shown.length > MAX_SHOWN_LENGTH ? `${shown.slice(0, MAX_SHOWN_LENGTH)}…` : shown;
}

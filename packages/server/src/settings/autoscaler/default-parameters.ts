/**
 * The initial data of a missing ConfigMap: a JSON object of modes and their parameters.
 */
import { JsonError, parseJson, writeJson } from './json-node.ts';
import { ParametersError, readParameters } from './parameters.ts';

/** @throws JsonError unless the text is a JSON object or null */
export function readDefaultParameters(text: string): ReadonlyMap<string, string> {
  const node = parseJson(text);
  if (node.kind === 'null') return new Map();
  if (node.kind !== 'object') throw new JsonError('not an object of JSON');
  return new Map(node.fields.map(([key, value]) => [key, writeJson(value)]));
}

/** @returns the fault of the parameters; undefined if they are usable */
export function findParametersFault(data: ReadonlyMap<string, string>): string | undefined {
  try {
    readParameters(data);
    return undefined;
  } catch (error) {
    if (error instanceof ParametersError) return error.message;
    throw error;
  }
}

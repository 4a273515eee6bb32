/**
 * The data that a missing ConfigMap is created with: a JSON object of modes and their parameters.
 */
import { GoJsonError, parseGoJson, writeGoJson } from './go-json.ts';
import { ParametersError, readParameters } from './parameters.ts';

/** @throws GoJsonError for what is not an object, or null */
export function readDefaultParameters(text: string): ReadonlyMap<string, string> {
  const node = parseGoJson(text);
  if (node.kind === 'null') return new Map();
  if (node.kind !== 'object')
    throw new GoJsonError(
      `json: cannot unmarshal ${node.kind} into Go value of type map[string]interface {}`,
    );
  return new Map(node.fields.map(([key, value]) => [key, writeGoJson(value)]));
}

/** @returns what is wrong with parameters; nothing if they can be used */
export function findParametersFault(data: ReadonlyMap<string, string>): string | undefined {
  try {
    readParameters(data);
    return undefined;
  } catch (error) {
    if (error instanceof ParametersError) return error.message;
    throw error;
  }
}

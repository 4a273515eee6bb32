/**
 * Parameters in a file: a ConfigMap in YAML or JSON, or the JSON of `--default-params`.
 */
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { asRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import { readDefaultParameters } from './default-parameters.ts';

/** The file is neither a ConfigMap nor JSON of `--default-params`. */
export class ParametersFileError extends Error {
  override readonly name = 'ParametersFileError';

  constructor(file: string, fault: string) {
    super(
      `cannot use parameters: ${file}: ${fault}. Give a ConfigMap, or modes with parameters as in {"linear":{"nodesPerReplica":16}}.`,
    );
  }
}

/**
 * @param file its name, for messages
 * @returns the data of the ConfigMap
 * @throws ParametersFileError
 */
export async function readParametersFile(file: string, text: string): Promise<ReadonlyMap<string, string>> {
  // Loaded late: the autoscaler itself does not need the memory of a YAML parser.
  const { parseYamlDocument } = await import('@portolan/kubernetes/yaml/parse-yaml.ts');
  const document = parseYamlDocument(text);
  const [fault] = document.errors;
  if (fault !== undefined) throw new ParametersFileError(file, describeError(fault));
  const object = asRecord(document.toJS());
  if (object === undefined) throw new ParametersFileError(file, 'no object');
  const isConfigMap = object['kind'] === 'ConfigMap';
  const data = isConfigMap ? (asRecord(object['data']) ?? {}) : object;
  // Values other than strings become JSON first; a string keeps its text, errors included.
  return new Map(
    Object.entries(data).flatMap(([key, value]) =>
      typeof value === 'string'
        ? [[key, value]]
        : [...readDefaultParameters(JSON.stringify({ [key]: value }))],
    ),
  );
}

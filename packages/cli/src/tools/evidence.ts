/**
 * Reads objects of Kubernetes as evidence: what `kubectl get -o json` prints, or a folder of manifests.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { parseYaml } from '@portolan/kubernetes/yaml/parse-yaml.ts';

/** @param file a path; `-` is standard input @throws Error if it cannot be read or is not JSON or YAML */
export function readEvidence(file: string): readonly unknown[] {
  const text = readOrFail('file', file, () => readFileSync(file === '-' ? 0 : file, 'utf8'));
  return parseObjects(text, file);
}

/** @throws Error */
export function readManifestEvidence(folder: string): readonly unknown[] {
  const names = readOrFail('folder', folder, () => readdirSync(folder));
  const files = names.filter((name) => /\.(ya?ml|json)$/.test(name));
  return files.flatMap((name) => parseObjects(readFileSync(join(folder, name), 'utf8'), name));
}

/** @throws Error that names the path and what to give */
function readOrFail<Content>(what: 'file' | 'folder', path: string, read: () => Content): Content {
  try {
    return read();
  } catch (error) {
    const reason = describeSystemError(error);
    throw new Error(`cannot read ${what}: ${path}: ${reason}. Give a ${what} that exists and is readable.`, {
      cause: error,
    });
  }
}

/** Several documents are separated by lines of `---`. */
function parseObjects(text: string, file: string): readonly unknown[] {
  const documents = text.split(/^---[ \t]*$/m).filter((part) => part.trim() !== '');
  return documents.flatMap((part) => parseDocuments(part, file));
}

/** JSON is YAML too, but its own parser takes a hundredth of the time. */
function parseDocuments(text: string, file: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    const documents = parseYaml(text, { logLevel: 'silent' });
    const fault = documents.flatMap(({ errors }) => errors)[0];
    if (fault !== undefined) throw new Error(`evidence: ${file}: ${fault.message}`);
    return documents.map((document) => document.toJS() as unknown);
  }
}

/**
 * Reads the ConfigMap of kube-dns from a file or a folder and prints it as a Corefile.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { convertKubeDnsConfig } from '@portolan/frontends/coredns/settings/from-kube-dns.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { asRecord, toTextMap } from '@portolan/kubernetes/objects/trim/fields.ts';
import { parseYamlDocument } from '@portolan/kubernetes/yaml/parse-yaml.ts';
import type { Document } from 'yaml';
import { ExitError } from '../grammar/exit.ts';

/** @throws ExitError with 1 if the ConfigMap cannot be read */
export function printConvertedConfig(file: string): void {
  const { corefile, notices } = convertKubeDnsConfig(readConfigMap(file));
  for (const notice of notices) process.stderr.write(`[WARNING] ${notice}\n`);
  process.stdout.write(corefile);
}

function readConfigMap(file: string): ReadonlyMap<string, string> {
  try {
    if (file !== '-' && statSync(file).isDirectory()) return readFolder(file);
    return readManifest(readFileSync(file === '-' ? 0 : file, 'utf8'), file);
  } catch (error) {
    if (error instanceof ExitError) throw error;
    return fail(`cannot read ${file}: ${describeSystemError(error)}`);
  }
}

/** Reads a mounted ConfigMap: one file per key. Ignores the kubelet's folders and links, which begin with two dots. */
function readFolder(folder: string): ReadonlyMap<string, string> {
  const keys = readdirSync(folder).filter(
    (name) => !name.startsWith('..') && statSync(join(folder, name)).isFile(),
  );
  return new Map(keys.map((key) => [key, readFileSync(join(folder, key), 'utf8')]));
}

function readManifest(text: string, file: string): ReadonlyMap<string, string> {
  const document = parseYamlDocument(text);
  const [error] = document.errors;
  if (error !== undefined) fail(`not YAML: ${file}: ${error.message}`);
  const { kind, data } = asRecord(toValue(document, file)) ?? {};
  if (kind !== 'ConfigMap')
    fail(`not a ConfigMap: ${file}. Print it with kubectl -n kube-system get configmap kube-dns -o yaml`);
  return toTextMap(data);
}

/** YAML aliases may be unresolved, or expand a small file beyond bounds. */
function toValue(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return fail(`not YAML: ${file}: ${describeError(error)}`);
  }
}

function fail(message: string): never {
  process.stderr.write(`portolan corefile from-kube-dns: ${message}\n`);
  throw new ExitError(1);
}

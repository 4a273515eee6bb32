/**
 * Reads the files of a kustomization. Supports only the field of the shipped ones: `resources`, with files and other kustomizations.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { parseDocument } from 'yaml';

/** A shipped file is missing or invalid: the installation is broken. */
export class ManifestFileError extends Error {
  override readonly name = 'ManifestFileError';
  readonly path: string;

  constructor(path: string, fault: string) {
    super(
      `cannot use manifest: ${path}: ${fault}. Install Portolan again: its folder deploy/ is incomplete.`,
    );
    this.path = path;
  }
}

export interface ManifestFile {
  readonly path: string;
  readonly text: string;
}

/**
 * @param folder that holds a kustomization.yaml
 * @returns the files in the order of `resources`
 * @throws ManifestFileError
 */
export function readKustomization(folder: string): readonly ManifestFile[] {
  const { path, text } = readManifest(join(folder, 'kustomization.yaml'));
  return readResources(path, text).flatMap((resource) => {
    const target = join(folder, resource);
    return isFolder(target) ? readKustomization(target) : [readManifest(target)];
  });
}

/** @throws ManifestFileError */
export function readManifest(path: string): ManifestFile {
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new ManifestFileError(path, describeError(error));
  }
}

function readResources(path: string, text: string): readonly string[] {
  const resources: unknown = parseDocument(text).toJS()?.resources;
  if (Array.isArray(resources) && resources.every((each) => typeof each === 'string')) return resources;
  throw new ManifestFileError(path, 'no list of resources');
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

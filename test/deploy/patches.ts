/**
 * The part of kustomize that our overlays use: JSON patches that append to lists of the Deployment, and replacements of fields.
 */
import { expect } from 'vitest';
import { parse } from 'yaml';
import type { DeploymentManifest, Manifest } from './manifests.ts';

/** A kustomization or a component, as far as it is read here. */
export interface Kustomization {
  readonly kind: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly {
    readonly target: { readonly kind: string; readonly name?: string; readonly labelSelector?: string };
    readonly patch: string;
  }[];
  readonly replacements?: readonly {
    readonly source: { readonly kind: string; readonly fieldPath: string };
    readonly targets: readonly ReplacementTarget[];
  }[];
}

interface ReplacementTarget {
  readonly select: { readonly kind: string; readonly name?: string };
  readonly fieldPaths: readonly string[];
  /** Which part of the field is replaced; left out, all of it. */
  readonly options?: { readonly delimiter: string; readonly index: number };
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

/** @returns the Deployment with all patches in it; the one that is given stays as it is */
export function patchDeployment(
  deployment: DeploymentManifest,
  { patches = [] }: Kustomization,
): DeploymentManifest {
  const patched = structuredClone(deployment);
  for (const { target, patch } of patches) {
    expect(['Deployment', 'ConfigMap']).toContain(target.kind);
    if (target.kind === 'ConfigMap') continue;
    const { name, labels = {} } = deployment.metadata;
    const selectors = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
    expect([name, ...selectors]).toContain(target.name ?? target.labelSelector);
    // Of our own.
    for (const operation of parse(patch) as readonly Operation[]) append(patched, operation);
  }
  return patched;
}

function append(object: unknown, { op, path, value }: Operation): void {
  const [, ...steps] = path.split('/');
  expect([op, steps.pop()]).toEqual(['add', '-']);
  let place = object;
  // A step that leads nowhere ends in undefined, which is no list.
  for (const step of steps) place = (place as Readonly<Record<string, unknown>> | undefined)?.[step];
  if (!Array.isArray(place)) throw new Error(`no list to append to: ${path}`);
  place.push(value);
}

/** @returns the objects with all replacements made; those that are given stay as they are */
export function replaceFields(
  objects: readonly Manifest[],
  { replacements = [] }: Kustomization,
): readonly Manifest[] {
  const replaced = structuredClone(objects);
  for (const { source, targets } of replacements) {
    const sources = replaced.filter(({ kind }) => kind === source.kind);
    // Kustomize refuses a source that is not one object.
    expect(sources).toHaveLength(1);
    const value = String(findField(sources[0], source.fieldPath).read());
    for (const { select, fieldPaths, options } of targets) {
      const selected = replaced.filter(
        ({ kind, metadata }) => kind === select.kind && [metadata.name, undefined].includes(select.name),
      );
      expect(selected, JSON.stringify(select)).not.toEqual([]);
      for (const object of selected)
        for (const path of fieldPaths) {
          const field = findField(object, path);
          field.write(replacePart(String(field.read()), value, options));
        }
    }
  }
  return replaced;
}

interface Field {
  read(): unknown;
  write(value: string): void;
}

function replacePart(text: string, value: string, options: ReplacementTarget['options']): string {
  if (options === undefined) return value;
  return text.split(options.delimiter).with(options.index, value).join(options.delimiter);
}

/** @param path steps between dots: a field, a number in a list, or `[=text]`, the element of a list that is this text */
function findField(object: unknown, path: string): Field {
  const steps = path.match(/\[=[^\]]*\]|[^.]+/g) ?? [];
  const last = steps.pop() ?? '';
  let place = object as Record<string, unknown>;
  for (const step of steps) place = place[step] as Record<string, unknown>;
  const [, text] = /^\[=(.*)\]$/.exec(last) ?? [];
  const key = text === undefined ? last : String(Object.values(place).indexOf(text));
  if (!Object.hasOwn(place, key)) throw new Error(`no such field: ${path}`);
  return {
    read: () => place[key],
    write: (value) => {
      place[key] = value;
    },
  };
}
